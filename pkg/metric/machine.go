package metric

var machine family

// How far the machine can be believed. Simulated trials have none of these.
var (
	Skew = machine.declare(Metric{
		Name: "skew", Unit: Fraction, Kind: Share,
		Doc: "largest share of a reported time that is lateness of messages and timers",
	})
	BusyShare = machine.declare(Metric{
		Name: "busy_share", Words: "busy share of the machine", Unit: Fraction, Kind: Share,
		Doc: "share of the machine's processor time in use during the trial",
	})
	StealShare = machine.declare(Metric{
		Name: "steal_share", Words: "stolen share of the machine", Unit: Fraction, Kind: Share,
		Doc: "share of the machine's processor time that a hypervisor gave to others",
	})
	Throttled = machine.declare(Metric{
		Name: "throttled_ms", Words: "throttled time",
		Unit: Milliseconds, Kind: Measured, OneClock: true,
		Doc: "time for which a quota kept processors from running, over all of them",
	})
	ClockError = machine.declare(Metric{
		Name: "clock_error_us", Unit: Microseconds, Kind: Measured,
		Doc: "by how much an instant can be wrong, over several hosts",
	})
)
