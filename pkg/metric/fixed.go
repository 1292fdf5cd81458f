package metric

// fixed are the columns of every trials.csv that hold figures. The journal, the tables and the
// exports have them in the order of these declarations.
var fixed = family{title: "Every trial", always: true}

// The fixed columns.
var (
	Operations = fixed.declare(Metric{
		Name: "operations", Unit: Times, Kind: Count, Better: Neither,
		Doc: "elections or entries that were caused",
	})
	Completed = fixed.declare(Metric{
		Name: "completed", Words: "completed operations", Unit: Times, Kind: Count, Better: Higher,
		Doc: "elections or entries that came to their end",
	})
	Duration = fixed.declare(Metric{
		Name: "duration_ms", Words: "duration of a trial",
		Unit: Milliseconds, Kind: SinceCause, Tables: Summary,
		Doc: "from the start of a trial to its end",
	})
	Messages = fixed.declare(Metric{
		Name: "messages", Words: "messages per trial", Traffic: true, Unit: OfMessages, Kind: Count,
		Tables:  Main | Brief | Lasting | Summary,
		Details: "Messages across cut links count, messages to oneself never do.",
		Doc:     "algorithm messages sent in a trial, also to crashed processes",
	})
	Delivered = fixed.declare(Metric{
		Name: "delivered", Words: "messages delivered",
		Traffic: true, Unit: OfMessages, Kind: Count, Better: Neither,
		Doc: "algorithm messages delivered",
	})
	Lost = fixed.declare(Metric{
		Name: "lost", Words: "messages lost",
		Traffic: true, Unit: OfMessages, Kind: Event, Better: Neither,
		Doc: "algorithm messages lost",
	})
	Duplicated = fixed.declare(Metric{
		Name: "duplicated", Words: "messages duplicated",
		Traffic: true, Unit: OfMessages, Kind: Event, Better: Neither,
		Doc: "copies that the network made",
	})
	Undeliverable = fixed.declare(Metric{
		Name: "undeliverable", Words: "undeliverable messages",
		Traffic: true, Unit: OfMessages, Kind: Event, Better: Neither,
		Doc: "algorithm messages whose receiver was down",
	})
	BytesSent = fixed.declare(Metric{
		Name: "bytes", Words: "bytes sent", Traffic: true, Unit: Bytes, Kind: Count,
		Details: "The contents of the algorithm alone: without acknowledgements, and what those need.",
		Doc:     "bytes of the algorithm messages sent, encoded",
	})
	DetectorMessages = fixed.declare(Metric{
		Name: "detector_messages", Traffic: true, Unit: OfMessages, Kind: Count,
		Details: "Acknowledgements are among them. No other column counts either.",
		Doc:     "messages of the failure detector",
	})
	LateShare = fixed.declare(Metric{
		Name: "late_share", Words: "share of late messages", Traffic: true, Unit: Fraction, Kind: Share,
		Exposure: []string{"messages"},
		See:      "explanation/validity.md#lateness",
		Details: "Of the messages delivered (`arg` of `deliver` above 0), without those that came while " +
			"their receiver was paused or slow, or were due before it last went on, or became or ceased " +
			"to be slow. Empty in simulation.",
		Doc: "share of messages delivered later than their latency",
	})
	SchedDelay = fixed.declare(Metric{
		Name: "sched_delay_p99_ms", Words: "99th percentile of the wake-up delay",
		Unit: Milliseconds, Kind: Level,
		See:     "explanation/operations.md#verdicts",
		Details: "Above 50 the trial is always `invalid`. Empty in simulation.",
		Doc:     "how late the system woke a waiting probe, 99th percentile",
	})
)
