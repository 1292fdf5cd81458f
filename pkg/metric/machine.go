package metric

var machine = family{title: "The machine"}

// How far the machine can be believed. Simulated trials have none of these.
var (
	Skew = machine.declare(Metric{
		Name: "skew", Unit: Fraction, Kind: Level,
		See: "explanation/validity.md#lateness",
		Details: "For the time with the largest share. Above 0.09 the trial is marked, above 0.33 it is " +
			"`invalid`. Empty in simulation.",
		Doc: "largest share of a reported time that is lateness of messages and timers",
	})
	BusyShare = machine.declare(Metric{
		Name: "busy_share", Words: "busy share of the machine", Unit: Fraction, Kind: Level,
		Details: "From the start of the nodes to the end. Empty in simulation.",
		Doc:     "share of the machine's processor time in use during the trial",
	})
	StealShare = machine.declare(Metric{
		Name: "steal_share", Words: "stolen share of the machine", Unit: Fraction, Kind: Level,
		See:     "explanation/validity.md#lateness",
		Details: "Above 0.05 the trial is marked. Empty in simulation.",
		Doc:     "share of the machine's processor time that a hypervisor gave to others",
	})
	Throttled = machine.declare(Metric{
		Name: "throttled_ms", Words: "throttled time",
		Unit: Milliseconds, Kind: Level, OneClock: true,
		See: "explanation/validity.md#lateness",
		Details: "The quota is that of the control group. Above 5 % of `duration_ms` the trial is " +
			"marked. Empty in simulation.",
		Doc: "time for which a quota kept processors from running, over all of them",
	})
	ClockError = machine.declare(Metric{
		Name: "clock_error_us", Unit: Microseconds, Kind: Level,
		See: "explanation/validity.md#clocks-of-several-hosts",
		Details: "Half of what a time between two of the hosts can be wrong by, at the instant and for the " +
			"two where that is most. Empty where all nodes have one clock.",
		Doc: "by how much an instant can be wrong, over several hosts",
	})
)
