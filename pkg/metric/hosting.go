package metric

// HostingColumn is the column of a design that says what the processes of the algorithm ran as.
// A run without it ran each as RunAsProcess, or in simulation.
const HostingColumn = "hosting"

// ReplayColumn is the column of a design that says that no trial can be run again as it was. Only runs
// of transport bubble have it.
const ReplayColumn = "replay"

// What processes run as.
const (
	RunAsProcess   = "process"
	RunAsGoroutine = "goroutine"
	RunAsReused    = "reused-process"

	// Of algorithms whose code is not in the program that simulates or is a node:
	InProgram = "program" // a child process
	InModule  = "wasm"    // WebAssembly, in the process that simulates or is a node
	// InSimulation: a simulated algorithm beside those.
	InSimulation = "simulator"
)
