package metric

var processes family

// What a trial costs single processes.
var (
	Saves = processes.declare(Metric{
		Name: "saves", Words: "writes to stable storage", Unit: Times, Kind: Count, Traffic: true,
		Doc: "writes to stable storage, of all processes",
	})
	BusiestShare = processes.declare(Metric{
		Name: "busiest_share", Words: "share of the busiest process",
		Unit: Fraction, Kind: Share, Traffic: true,
		Doc: "share of all messages sent or handled that the busiest process sent or handled",
	})
	CPU = processes.declare(Metric{
		Name: "cpu_per_operation_ms", Words: "processor time per operation",
		Unit: Milliseconds, Kind: Measured, OneClock: true,
		Doc:        "processor time of a node per operation, mean over the nodes",
		OneProcess: true,
	})
	BusiestCPU = processes.declare(Metric{
		Name: "busiest_cpu_per_operation_ms", Words: "processor time of the busiest node per operation",
		Unit: Milliseconds, Kind: Measured, OneClock: true,
		Doc:        "processor time per operation of the node that used most",
		OneProcess: true,
	})
	Switches = processes.declare(Metric{
		Name: "context_switches_per_operation", Unit: Times, Kind: Count,
		Doc:        "context switches of a node per operation, mean over the nodes",
		OneProcess: true,
	})
	BusiestSwitches = processes.declare(Metric{
		Name:  "busiest_context_switches_per_operation",
		Words: "context switches of the busiest node per operation",
		Unit:  Times, Kind: Count,
		Doc:        "context switches per operation of the node that had most",
		OneProcess: true,
	})
	InvoluntarySwitches = processes.declare(Metric{
		Name: "involuntary_switches_per_operation", Words: "involuntary context switches per operation",
		Unit: Times, Kind: Count,
		Doc:        "times per operation that a node lost the processor to another, mean over the nodes",
		OneProcess: true,
	})
	Handling = processes.declare(Metric{
		Name: "handling_ms", Words: "processor time in the algorithm's handlers",
		Unit: Milliseconds, Kind: Measured, OneClock: true,
		Doc: "processor time that the algorithm took to handle its events, of all nodes; real nodes only",
	})
)
