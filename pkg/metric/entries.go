package metric

import (
	"github.com/conclave-bench/conclave/pkg/algo"
)

var entries = family{title: "Mutual exclusion", problem: algo.MutualExclusion}

// The metrics of entries into the critical section.
var (
	MessagesPerEntry = entries.declare(Metric{
		Name: "messages_per_entry", Traffic: true, Unit: OfMessages, Kind: Count,
		Tables: Main | Brief | Rising, Claim: "messages/entry",
		See:     "explanation/operations.md#messages-of-a-request",
		Details: "With a warm-up, those of the measured requests ÷ measured entries.",
		Doc:     "all algorithm messages per entry",
	})
	BytesPerEntry = entries.declare(Metric{
		Name: "bytes_per_entry", Traffic: true, Unit: Bytes, Kind: Count,
		Details: "As `messages_per_entry`.",
		Doc:     "bytes of all algorithm messages per entry",
	})
	Waiting = entries.declare(Metric{
		Name: "waiting_ms", Words: "waiting time",
		Unit: Milliseconds, Kind: SinceCause, OneClock: true, From: Cause, To: End,
		Tables: Main | Brief, More: Versus{"waits %s as long as", "waits %s longer than"},
		See: "explanation/operations.md#mutual-exclusion",
		Details: "Over the measured entries. Under open load a request is intended when it arrives, even " +
			"if its process is still inside.",
		Doc: "from the (intended) request to the grant",
	})
	WaitingP99 = entries.declare(Metric{
		Name: "waiting_p99_ms", Words: "99th percentile of the waiting time",
		Unit: Milliseconds, Kind: SinceCause, OneClock: true,
		Doc: "99th percentile of the waiting times of a trial",
	})
	Turnaround = entries.declare(Metric{
		Name: "turnaround_ms", Words: "turnaround time",
		Unit: Milliseconds, Kind: SinceCause, OneClock: true,
		Doc: "from the (intended) request to the release",
	})
	SyncDelay = entries.declare(Metric{
		Name: "sync_delay_ms", Words: "synchronization delay",
		Unit: Milliseconds, Kind: SinceCause, Tables: Main,
		Details: "Some process waits at the release, and one waits all the time until the grant.",
		Doc:     "from a release to the next grant, while a process waits",
	})
	Throughput = entries.declare(Metric{
		Name: "throughput_per_s", Unit: PerSecond, Kind: Level, Better: Higher, Tables: Main,
		Details: "With a warm-up, counted from the release of its last entry, or from its grant where " +
			"several are admitted. Empty without an entry.",
		Doc: "entries per second of the trial",
	})
	Fairness = entries.declare(Metric{
		Name: "fairness", Words: "fairness (Jain's index)",
		Unit: Index, Kind: Level, Better: Higher, Tables: Main,
		Details: "1/n if one of n processes has all entries.",
		Doc:     "Jain's index over entries per process; 1 is fair",
	})
	MaxBypass = entries.declare(Metric{
		Name: "max_bypass", Words: "maximum bypass", Unit: Times, Kind: Count,
		Details: "The largest number that a request waited through, of measured entries and of requests " +
			"that wait at the end. Later is by the order of the `request` records.",
		Doc: "most grants to others that were asked for later",
	})
	Violations = entries.declare(Metric{
		Name: "violations", Words: "violations of mutual exclusion",
		Unit: Times, Kind: Event, Tables: Main,
		Details: "Added up over all grants: where one process is admitted at a time, the pairs that were " +
			"inside at once.",
		Doc: "processes inside that should have kept another out when it entered",
	})
	NeverGranted = entries.declare(Metric{
		Name: "never_granted", Words: "requests never granted", Unit: Times, Kind: Event,
		Doc: "requests of live processes that wait at the end",
	})
	ArrivalRateRequested = entries.declare(Metric{
		Name: "arrival_rate_requested", Words: "requested load",
		Unit: PerSecond, Kind: Level, Better: Neither,
		Details: "Of a ramp, the mean over its steps.",
		Doc:     "requests per second that open load asks for",
	})
	ArrivalRateAchieved = entries.declare(Metric{
		Name: "arrival_rate_achieved", Words: "achieved load",
		Unit: PerSecond, Kind: Level, Better: Neither,
		See: "explanation/load.md#open-and-closed-load",
		Doc: "requests per second that open load made",
	})
	Knee = entries.declare(Metric{
		Name: "knee_per_s", Words: "load at the knee",
		Unit: PerSecond, Kind: Level, Better: Higher, AtLeast: true,
		Tables: Main | Rising,
		See:    "explanation/load.md#ramps",
		Details: "Empty for a trial whose ramp ended before it surely outran what is granted. Such a " +
			"trial with status `ok` counts as larger than all values (`censored`).",
		Doc: "ramp: requests per second that are granted at most; empty if the ramp kept below",
	})
	KeptUp = entries.declare(Metric{
		Name: "kept_up_per_s", Words: "load kept up with",
		Unit: PerSecond, Kind: Level, Better: Higher, Tables: Rising,
		See:     "explanation/load.md#ramps",
		Details: "Where the knee is not found, it is at least about that.",
		Doc:     "ramp: rate of the last step in which a request found no other waiting",
	})
	TokensLost = entries.declare(Metric{
		Name: "tokens_lost", Traffic: true, Unit: Times, Kind: Event,
		Doc: "tokens lost on the way or with their holder",
	})
	TokensDoubled = entries.declare(Metric{
		Name: "tokens_doubled", Words: "duplicate tokens", Traffic: true, Unit: Times, Kind: Event,
		Doc: "tokens made while there was another",
	})
	Recovery = entries.declare(Metric{
		Name: "recovery_ms", Words: "recovery time", Unit: Milliseconds, Kind: SinceCause,
		Details: "If no request waited then, to the first grant of the next request.",
		Doc:     "from a crash or the loss of the token to the last grant of the requests that waited then",
	})
	Concurrency = entries.declare(Metric{
		Name: "concurrency", Words: "mean number inside at once", Unit: Times, Kind: Count, Better: Higher,
		Several: true,
		See:     "explanation/operations.md#mutual-exclusion",
		Details: "A column of runs with an algorithm that admits several.",
		Doc:     "processes inside on average while one is, where several may be",
	})
	MostInside = entries.declare(Metric{
		Name: "most_inside", Words: "largest number inside at once", Unit: Times, Kind: Count, Better: Higher,
		Several: true,
		Details: "As `concurrency`.",
		Doc:     "the most processes inside at once, where several may be",
	})
	SessionSwitches = entries.declare(Metric{
		Name: "session_switches", Unit: Times, Kind: Event, Several: true,
		Details: "As `concurrency`.",
		Doc:     "grants of another session than the grant before, where requests name one",
	})
	Standstill = entries.declare(Metric{
		Name: "standstill_ms", Words: "longest standstill",
		Unit: Milliseconds, Kind: SinceCause, Tables: Main, Wire: true,
		See: "explanation/services.md#failover-of-a-lock",
		Details: "A column of runs with a wire. A standstill begins with an entry, or when a process waits " +
			"again, and ends with the next entry.",
		Doc: "the longest time in which processes waited and none entered",
	})
	SplitOwnership = entries.declare(Metric{
		Name: "split_ownership_ms", Words: "time with several owners",
		Unit: Milliseconds, Kind: InState, Tables: Main, Wire: true, Breach: true,
		See: "explanation/services.md#fencing",
		Details: "A column of runs with a wire. A process that is paused inside is there until it goes on " +
			"and leaves, or crashes. Trials with status `violation` count.",
		Doc: "time with processes inside that should have kept each other out",
	})
	WritesRefused = entries.declare(Metric{
		Name: "writes_refused", Words: "refused writes",
		Unit: Times, Kind: Event, Better: Neither, Wire: true, Breach: true,
		See: "explanation/services.md#fencing",
		Details: "A column of runs with a wire. Empty for what has no fencing tokens: nothing is refused " +
			"there, and nothing is written.",
		Doc: "writes of holders that were refused, since another process had been granted the lock",
	})
	WritesLate = entries.declare(Metric{
		Name: "writes_late", Words: "late writes", Unit: Times, Kind: Event, Wire: true, Breach: true,
		See:     "explanation/services.md#fencing",
		Details: "As `writes_refused`. Each is a violation of `fencing`.",
		Doc:     "writes of holders that were accepted although another process had entered since",
	})
)
