package metric

var faults = family{title: "Faults and failure detectors"}

// What was done to processes, and how it was noticed.
var (
	Crashes = faults.declare(Metric{
		Name: "crashes", Unit: Times, Kind: Event, Better: Neither,
		Doc: "crashes that happened",
	})
	Pauses = faults.declare(Metric{
		Name: "pauses", Unit: Times, Kind: Event, Better: Neither,
		Doc: "pauses that happened",
	})
	CrashRateAchieved = faults.declare(Metric{
		Name: "crash_rate_achieved", Words: "achieved crash rate",
		Unit: PerProcessSecond, Kind: Rate, Better: Neither, Exposure: ofTime,
		Details: "`crash` records, whatever caused them, ÷ the time of all processes that were up while " +
			"fewer than `max_down` were not.",
		Doc: "crashes per live process and second, while the rate allowed one",
	})
	OutageRequested = faults.declare(Metric{
		Name: "outage_requested_ms", Words: "requested time from crash to return",
		Unit: Milliseconds, Kind: Level, OneClock: true, Better: Neither,
		Details: "Mean over the processes that came back; of one that was down at the start, from there.",
		Doc:     "from a crash to the return, as requested",
	})
	OutageAchieved = faults.declare(Metric{
		Name: "outage_achieved_ms", Words: "achieved time from crash to return",
		Unit: Milliseconds, Kind: Level, OneClock: true, Better: Neither,
		Details: "As `outage_requested_ms`.",
		Doc:     "from a crash to the return, as achieved",
	})
	Suspicion = faults.declare(Metric{
		Name: "suspicion_ms", Words: "time to suspicion",
		Unit: Milliseconds, Kind: SinceCause, Early: true,
		See:     "explanation/faults.md#failure-detectors",
		Details: "Before the process returns. Empty without a detector.",
		Doc:     "from a crash to the first suspicion by a live process",
	})
	FalseSuspicions = faults.declare(Metric{
		Name: "false_suspicions", Unit: Times, Kind: Event,
		Details: "By the detector, and not by a script.",
		Doc:     "suspicions of processes that are up and not paused",
	})
	MistakeDuration = faults.declare(Metric{
		Name: "mistake_duration_ms", Words: "duration of a false suspicion",
		Unit: Milliseconds, Kind: Level,
		Details: "Mean over those that ended; empty if none did.",
		Doc:     "from a false suspicion of one process by another to its end, in the mean",
	})
	MistakeRecurrence = faults.declare(Metric{
		Name: "mistake_recurrence_ms", Words: "time between false suspicions",
		Unit: Milliseconds, Kind: Level, Better: Higher,
		Details: "Time of all pairs of live processes ÷ false suspicions. Empty if there was none.",
		Doc:     "from a false suspicion to the next of the same process by the same other one, in the mean",
	})
	QueryAccuracy = faults.declare(Metric{
		Name: "query_accuracy", Unit: Fraction, Kind: Share, Better: Higher, Exposure: ofTime,
		Details: "Over all ordered pairs of processes, from the common start to the end of the trial. A " +
			"process that is not down at the start is live from then on, however late its node recorded " +
			"that it is `up`.",
		Doc: "share of time in which a live process does not suspect another live one",
	})
	FaultsSkipped = faults.declare(Metric{
		Name: "faults_skipped", Unit: Times, Kind: Event,
		Doc: "faults that were to happen and did not",
	})
)
