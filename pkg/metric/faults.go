package metric

var faults family

// What was done to processes, and how it was noticed.
var (
	Crashes = faults.declare(Metric{
		Name: "crashes", Unit: Times, Kind: Count, Better: Neither,
		Doc: "crashes that happened",
	})
	Pauses = faults.declare(Metric{
		Name: "pauses", Unit: Times, Kind: Count, Better: Neither,
		Doc: "pauses that happened",
	})
	CrashRateAchieved = faults.declare(Metric{
		Name: "crash_rate_achieved", Words: "achieved crash rate",
		Unit: PerProcessSecond, Kind: Rate, Better: Neither,
		Doc: "crashes per live process and second, while the rate allowed one",
	})
	OutageRequested = faults.declare(Metric{
		Name: "outage_requested_ms", Words: "requested time from crash to return",
		Unit: Milliseconds, Kind: Measured, OneClock: true, Better: Neither,
		Doc: "a crash to the return, as it was to be",
	})
	OutageAchieved = faults.declare(Metric{
		Name: "outage_achieved_ms", Words: "achieved time from crash to return",
		Unit: Milliseconds, Kind: Measured, OneClock: true, Better: Neither,
		Doc: "a crash to the return",
	})
	Suspicion = faults.declare(Metric{
		Name: "suspicion_ms", Words: "time to suspicion",
		Unit: Milliseconds, Kind: SinceCause, Early: true,
		Doc: "a crash to the first suspicion by a live process",
	})
	FalseSuspicions = faults.declare(Metric{
		Name: "false_suspicions", Unit: Times, Kind: Count,
		Doc: "suspicions of processes that are up and not paused",
	})
	MistakeDuration = faults.declare(Metric{
		Name: "mistake_duration_ms", Words: "duration of a false suspicion",
		Unit: Milliseconds, Kind: InState,
		Doc: "a false suspicion of one process by another to its end, in the mean",
	})
	MistakeRecurrence = faults.declare(Metric{
		Name: "mistake_recurrence_ms", Words: "time between false suspicions",
		Unit: Milliseconds, Kind: Measured, Better: Higher,
		Doc: "from a false suspicion to the next of the same process by the same other one, in the mean",
	})
	QueryAccuracy = faults.declare(Metric{
		Name: "query_accuracy", Unit: Fraction, Kind: Share, Better: Higher,
		Doc: "share of time in which a live process does not suspect another live one",
	})
	FaultsSkipped = faults.declare(Metric{
		Name: "faults_skipped", Unit: Times, Kind: Count,
		Doc: "faults that were to happen and did not",
	})
)
