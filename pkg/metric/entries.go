package metric

import (
	"github.com/conclave-bench/conclave/pkg/algo"
)

var entries = family{problem: algo.MutualExclusion}

// The metrics of entries into the critical section.
var (
	MessagesPerEntry = entries.declare(Metric{
		Name: "messages_per_entry", Traffic: true, Unit: OfMessages, Kind: Count,
		Tables: Main | Brief | Rising, Claim: "messages/entry",
		Doc: "all algorithm messages per entry",
	})
	BytesPerEntry = entries.declare(Metric{
		Name: "bytes_per_entry", Traffic: true, Unit: Bytes, Kind: Count,
		Doc: "bytes of all algorithm messages per entry",
	})
	Waiting = entries.declare(Metric{
		Name: "waiting_ms", Words: "waiting time",
		Unit: Milliseconds, Kind: SinceCause, OneClock: true, From: Cause, To: End,
		Tables: Main | Brief, Slower: "waits %s longer than",
		Doc: "(intended) request to granted",
	})
	WaitingP99 = entries.declare(Metric{
		Name: "waiting_p99_ms", Words: "99th percentile of the waiting time",
		Unit: Milliseconds, Kind: SinceCause, OneClock: true,
		Doc: "99th percentile of the waiting times of a trial",
	})
	Turnaround = entries.declare(Metric{
		Name: "turnaround_ms", Words: "turnaround time",
		Unit: Milliseconds, Kind: SinceCause, OneClock: true,
		Doc: "request to release",
	})
	SyncDelay = entries.declare(Metric{
		Name: "sync_delay_ms", Words: "synchronization delay",
		Unit: Milliseconds, Kind: SinceCause, Tables: Main,
		Doc: "release to the next grant, while someone waits",
	})
	Throughput = entries.declare(Metric{
		Name: "throughput_per_s", Unit: PerSecond, Kind: Rate, Better: Higher, Tables: Main,
		Doc: "entries per second of the trial",
	})
	Fairness = entries.declare(Metric{
		Name: "fairness", Words: "fairness (Jain's index)",
		Unit: Index, Kind: Share, Better: Higher, Tables: Main,
		Doc: "Jain's index over entries per process; 1 is fair",
	})
	MaxBypass = entries.declare(Metric{
		Name: "max_bypass", Words: "maximum bypass", Unit: Times, Kind: Count,
		Doc: "most grants to others that were asked for later",
	})
	Violations = entries.declare(Metric{
		Name: "violations", Words: "violations of mutual exclusion",
		Unit: Times, Kind: Count, Tables: Main,
		Doc: "processes inside when another enters that they should keep out",
	})
	NeverGranted = entries.declare(Metric{
		Name: "never_granted", Words: "requests never granted", Unit: Times, Kind: Count,
		Doc: "requests of live processes that wait at the end",
	})
	ArrivalRateRequested = entries.declare(Metric{
		Name: "arrival_rate_requested", Words: "requested load",
		Unit: PerSecond, Kind: Rate, Better: Neither,
		Doc: "requests per second that open load asks for",
	})
	ArrivalRateAchieved = entries.declare(Metric{
		Name: "arrival_rate_achieved", Words: "achieved load",
		Unit: PerSecond, Kind: Rate, Better: Neither,
		Doc: "requests per second that open load made",
	})
	Knee = entries.declare(Metric{
		Name: "knee_per_s", Words: "load at the knee",
		Unit: PerSecond, Kind: Rate, Better: Higher, AtLeast: true,
		Tables: Main | Rising,
		Doc:    "ramp: requests per second that are granted at most; empty if the ramp kept below",
	})
	KeptUp = entries.declare(Metric{
		Name: "kept_up_per_s", Words: "load kept up with",
		Unit: PerSecond, Kind: Rate, Better: Higher, Tables: Rising,
		Doc: "ramp: rate of the last step in which a request found nobody waiting",
	})
	TokensLost = entries.declare(Metric{
		Name: "tokens_lost", Traffic: true, Unit: Times, Kind: Count,
		Doc: "tokens lost on the way or with their holder",
	})
	TokensDoubled = entries.declare(Metric{
		Name: "tokens_doubled", Words: "duplicate tokens", Traffic: true, Unit: Times, Kind: Count,
		Doc: "tokens made while there was another",
	})
	Recovery = entries.declare(Metric{
		Name: "recovery_ms", Words: "recovery time", Unit: Milliseconds, Kind: SinceCause,
		Doc: "a crash or the loss of the token until all that waited then were granted",
	})
	Concurrency = entries.declare(Metric{
		Name: "concurrency", Words: "mean number inside at once", Unit: Times, Kind: Count, Better: Higher,
		Several: true, Doc: "processes inside on average while anybody is, where several may be",
	})
	MostInside = entries.declare(Metric{
		Name: "most_inside", Words: "largest number inside at once", Unit: Times, Kind: Count, Better: Higher,
		Several: true, Doc: "the most processes inside at once, where several may be",
	})
	SessionSwitches = entries.declare(Metric{
		Name: "session_switches", Unit: Times, Kind: Count, Several: true,
		Doc: "grants of another session than the grant before, where requests name one",
	})
)
