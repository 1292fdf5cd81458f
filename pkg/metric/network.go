package metric

var network = family{title: "The network", traffic: true}

// What was asked of the network, and what it did.
var (
	LatencyRequested = network.declare(Metric{
		Name: "latency_requested_ms", Words: "requested latency",
		Unit: Milliseconds, Kind: Level, OneClock: true, Better: Neither,
		See:     "explanation/model.md#latency",
		Details: "Taken for the link of each message. Empty where a fault gives links another latency.",
		Doc:     "mean of the distribution of the latency, over the messages sent",
	})
	LatencyDrawn = network.declare(Metric{
		Name: "latency_drawn_ms", Words: "drawn latency",
		Unit: Milliseconds, Kind: Level, OneClock: true, Better: Neither,
		Details: "Lost messages and copies included.",
		Doc:     "mean latency that the network model drew for the messages sent",
	})
	OrderDelay = network.declare(Metric{
		Name: "order_delay_ms", Words: "delay by FIFO order",
		Unit: Milliseconds, Kind: Level, OneClock: true, Better: Neither,
		Details: "No message overtakes the one before it.",
		Doc:     "mean by which order: fifo made messages due later than their draw",
	})
	LatencyAchieved = network.declare(Metric{
		Name: "latency_achieved_ms", Words: "achieved latency",
		Unit: Milliseconds, Kind: Level, Better: Neither,
		See: "explanation/validity.md#time-in-handlers",
		Details: "Of the delivered messages, without those that `late_share` leaves out, and without the " +
			"time in which their receiver handled other events since they were due.",
		Doc: "mean latency that messages had",
	})
	DelayErrorP50 = network.declare(Metric{
		Name: "delay_error_p50_ms", Words: "median delay error", Unit: Milliseconds, Kind: Level,
		Details: "The messages are those of `latency_achieved_ms`. Of more than 65 536 in a trial every " +
			"second counts, of more than twice as many every fourth, and so on.",
		Doc: "how much later than due messages were handled, median",
	})
	DelayErrorP99 = network.declare(Metric{
		Name: "delay_error_p99_ms", Words: "99th percentile of the delay error",
		Unit: Milliseconds, Kind: Level,
		Details: "As `delay_error_p50_ms`.",
		Doc:     "how much later than due messages were handled, 99th percentile",
	})
	LossAchieved = network.declare(Metric{
		Name: "loss_achieved", Words: "achieved message loss",
		Unit: Fraction, Kind: Share, Better: Neither, Exposure: []string{"messages"},
		Details: "Of those, copies included, that it lost (`arg` 0 of `lose`), or that were delivered, " +
			"undeliverable or lost on a cut link by the end.",
		Doc: "share of messages that the network model lost",
	})
)
