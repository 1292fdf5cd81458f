package metric

var series = family{}

// What the times of successive operations of a trial say about each other: the waiting
// times of entries, and the times from the cause to agreement of elections.
var (
	WarmupFound = series.declare(Metric{
		Name: "warmup_found", Words: "warm-up operations",
		Unit: Times, Kind: Serial, Better: Neither, AtLeast: true,
		Doc: "operations before their times are steady, by MSER-5; empty if they never are",
	})
	Autocorrelation = series.declare(Metric{
		Name: "autocorrelation", Words: "autocorrelation (lag 1)",
		Unit: Correlation, Kind: Serial, Better: Neither,
		Doc: "correlation of the times of successive measured operations, lag 1",
	})
	EffectiveOperations = series.declare(Metric{
		Name: "effective_operations", Unit: Times, Kind: Serial, Better: Neither,
		Doc: "as many independent operations say as much about the mean of their times",
	})
)
