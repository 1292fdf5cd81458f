package metric

var series = family{title: "Successive operations"}

// What the times of successive operations of a trial say about each other: the waiting
// times of entries, and the times from the cause to agreement of elections.
var (
	WarmupFound = series.declare(Metric{
		Name: "warmup_found", Words: "warm-up operations",
		Unit: Times, Kind: Serial, Better: Neither, AtLeast: true,
		See: "explanation/load.md#steady-state",
		Details: "In their order, those that are not measured anyhow among them: of entries " +
			"`waiting_ms`, of elections the time from the cause to agreement. A trial that was not " +
			"steady while it was watched counts as larger than all values. Empty in scenarios without a " +
			"steady state, and below 50 operations.",
		Doc: "operations before their times are steady, by MSER-5; empty if they never are",
	})
	Autocorrelation = series.declare(Metric{
		Name: "autocorrelation", Words: "autocorrelation (lag 1)",
		Unit: Correlation, Kind: Serial, Better: Neither,
		See:     "explanation/load.md#steady-state",
		Details: "Empty below 50 of them, or if all are equal.",
		Doc:     "correlation of the times of successive measured operations, lag 1",
	})
	EffectiveOperations = series.declare(Metric{
		Name: "effective_operations", Unit: Times, Kind: Serial, Better: Neither,
		See:     "explanation/load.md#steady-state",
		Details: "At most their number. Empty where `autocorrelation` is.",
		Doc:     "so many independent operations would say as much about the mean of their times",
	})
)
