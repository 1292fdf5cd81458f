package trace

// Here is the name of the machine that has all nodes of a run, where no hosts are named.
const Here = "this machine"
