package metric

var network = family{traffic: true}

// What was asked of the network, and what it did.
var (
	LatencyRequested = network.declare(Metric{
		Name: "latency_requested_ms", Words: "requested latency",
		Unit: Milliseconds, Kind: Measured, OneClock: true, Better: Neither,
		Doc: "mean of the distribution of the latency, over the messages sent",
	})
	LatencyDrawn = network.declare(Metric{
		Name: "latency_drawn_ms", Words: "drawn latency",
		Unit: Milliseconds, Kind: Measured, OneClock: true, Better: Neither,
		Doc: "mean latency that the network model drew for them",
	})
	OrderDelay = network.declare(Metric{
		Name: "order_delay_ms", Words: "delay by FIFO order",
		Unit: Milliseconds, Kind: Measured, OneClock: true, Better: Neither,
		Doc: "mean by which order: fifo made them due later than that",
	})
	LatencyAchieved = network.declare(Metric{
		Name: "latency_achieved_ms", Words: "achieved latency",
		Unit: Milliseconds, Kind: Measured, Better: Neither,
		Doc: "mean latency that messages had",
	})
	DelayErrorP50 = network.declare(Metric{
		Name: "delay_error_p50_ms", Words: "median delay error", Unit: Milliseconds, Kind: Measured,
		Doc: "how much later than due messages were handled, median",
	})
	DelayErrorP99 = network.declare(Metric{
		Name: "delay_error_p99_ms", Words: "99th percentile of the delay error",
		Unit: Milliseconds, Kind: Measured,
		Doc: "how much later than due messages were handled, 99th percentile",
	})
	LossAchieved = network.declare(Metric{
		Name: "loss_achieved", Words: "achieved message loss",
		Unit: Fraction, Kind: Share, Better: Neither,
		Doc: "share of messages that the network model lost",
	})
)
