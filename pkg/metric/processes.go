package metric

var processes = family{title: "Processes"}

// What a trial costs single processes.
var (
	Saves = processes.declare(Metric{
		Name: "saves", Words: "writes to stable storage", Unit: Times, Kind: Count, Traffic: true,
		Details: "`save` records.",
		Doc:     "writes to stable storage, of all processes",
	})
	BusiestShare = processes.declare(Metric{
		Name: "busiest_share", Words: "share of the busiest process",
		Unit: Fraction, Kind: Level, Traffic: true,
		Details: "1/n if the load of n processes is even. Empty if there were no messages.",
		Doc:     "share of all messages sent or handled that the busiest process sent or handled",
	})
	CPU = processes.declare(Metric{
		Name: "cpu_per_operation_ms", Words: "processor time per operation",
		Unit: Milliseconds, Kind: Level, OneClock: true,
		See: "explanation/validity.md#processor-time",
		Details: "In user mode and in the system, ÷ `completed`. Empty in simulation, and if nothing " +
			"completed.",
		Doc:        "processor time of a node per operation, mean over the nodes",
		OneProcess: true,
	})
	BusiestCPU = processes.declare(Metric{
		Name: "busiest_cpu_per_operation_ms", Words: "processor time of the busiest node per operation",
		Unit: Milliseconds, Kind: Level, OneClock: true,
		Details:    "As `cpu_per_operation_ms`.",
		Doc:        "processor time per operation of the node that used most",
		OneProcess: true,
	})
	Switches = processes.declare(Metric{
		Name: "context_switches_per_operation", Unit: Times, Kind: Count,
		See:        "explanation/validity.md#processor-time",
		Details:    "Voluntary and involuntary, ÷ `completed`. Empty where `cpu_per_operation_ms` is.",
		Doc:        "context switches of a node per operation, mean over the nodes",
		OneProcess: true,
	})
	BusiestSwitches = processes.declare(Metric{
		Name:  "busiest_context_switches_per_operation",
		Words: "context switches of the busiest node per operation",
		Unit:  Times, Kind: Count,
		Details:    "As `context_switches_per_operation`.",
		Doc:        "context switches per operation of the node that had most",
		OneProcess: true,
	})
	InvoluntarySwitches = processes.declare(Metric{
		Name: "involuntary_switches_per_operation", Words: "involuntary context switches per operation",
		Unit: Times, Kind: Count,
		Details:    "As `context_switches_per_operation`.",
		Doc:        "times per operation that a node lost the processor to another, mean over the nodes",
		OneProcess: true,
	})
	Handling = processes.declare(Metric{
		Name: "handling_ms", Words: "processor time in the algorithm's handlers",
		Unit: Milliseconds, Kind: Level, OneClock: true,
		See: "explanation/validity.md#time-in-handlers",
		Details: "Empty in simulation. Of a program that `--plugin` names: the time that passed until it " +
			"had answered.",
		Doc: "processor time that the algorithm took to handle its events, of all nodes; real nodes only",
	})
)
