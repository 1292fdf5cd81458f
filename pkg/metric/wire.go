package metric

var wire = family{title: "The wire", wire: true}

// What happened to the IP packets of a run with network.wire.
var (
	Packets = wire.declare(Metric{
		Name: "packets", Words: "packets per trial", Unit: OfPackets, Kind: Count, Better: Neither,
		See:     "explanation/model.md#a-wire",
		Details: "Those that open and acknowledge TCP connections are among them.",
		Doc:     "IP packets that the processes sent",
	})
	PacketsLost = wire.declare(Metric{
		Name: "packets_lost", Words: "packets lost by the model",
		Unit: OfPackets, Kind: Event, Better: Neither,
		Details: "Lost by a draw, or on a link that was cut. TCP sends them again.",
		Doc:     "packets, copies included, that the network model lost",
	})
	PacketsMissed = wire.declare(Metric{
		Name: "packets_missed", Words: "packets lost by the machine", Unit: OfPackets, Kind: Event,
		Details: "Above 0 the trial is `invalid`.",
		Doc:     "packets that the machine lost, which the network model did not ask for",
	})
	PacketDelayP50 = wire.declare(Metric{
		Name: "packet_delay_p50_us", Words: "median delay of packets by the machine",
		Unit: Microseconds, Kind: Level,
		Details: "Of the packets delivered: from the instant at which a packet was due until the system of " +
			"the receiver had it, and for how long it lay unread at its sender.",
		Doc: "how much later than the network model says packets arrived, median",
	})
	PacketDelayP99 = wire.declare(Metric{
		Name: "packet_delay_p99_us", Words: "99th percentile of the delay of packets by the machine",
		Unit: Microseconds, Kind: Level,
		See:     "explanation/operations.md#verdicts",
		Details: "As `packet_delay_p50_us`. Above 50 ms the trial is `invalid`.",
		Doc:     "how much later than the network model says packets arrived, 99th percentile",
	})
	PacketDelayMax = wire.declare(Metric{
		Name: "packet_delay_max_us", Words: "longest delay of a packet by the machine",
		Unit: Microseconds, Kind: Level,
		Details: "As `packet_delay_p50_us`.",
		Doc:     "how much later than the network model says packets arrived, the latest of them",
	})
)
