package fault

import "time"

// Restart is the name of the fault by which a process comes back.
const Restart = "restart"

func init() {
	Register(Fault{
		Name: Restart, Doc: "restarts with what it saved; without who: all that are down",
		Takes: []string{"who"}, Who: []string{"all-crashed"}, Default: "all-crashed",
		Outside: func(x Executor, i *Instruction) { x.Restart(i.Node, i.At) },
		Breaks:  func(*Event, time.Duration) Assumption { return Recovery },
	})
}
