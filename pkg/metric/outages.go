package metric

import "github.com/conclave-bench/conclave/pkg/algo"

// Outages are the metrics of one definition of when a service that rests on a leader is up.
type Outages struct {
	Service  algo.Service
	Downtime *Metric // from the loss of a leader to the end of the outage, in the mean
	Never    *Metric // how many outages never ended: one or none
	// Availability is a share of the time, or, where clients ask, of their requests.
	Availability    *Metric
	Longest, Number *Metric // of all outages, whatever began them
}

// declareOutages declares the metrics of a definition; it is up as long as there is what up names.
func declareOutages(s algo.Service, up, downtime, availability, down string) *Outages {
	of := s.String()
	see := "explanation/outages.md#" + of
	var from, to Instant // of the operations, which end with agreement
	definition := of
	if s == algo.Agreed {
		from, to, definition = Cause, End, ""
	}
	return &Outages{
		Service: s,
		Downtime: elections.declare(Metric{
			Name: "downtime_" + of + "_ms", Words: "downtime until " + up,
			Unit: Milliseconds, Kind: SinceCause,
			From: from, To: to, Definition: definition,
			More: Versus{asLong, longer}, Open: "never_recovered_" + of, See: see, Doc: downtime,
			Details: "Mean over the outages that such a loss began.",
		}),
		Never: elections.declare(Metric{
			Name: "never_recovered_" + of, Words: "outages without end of " + up, Unit: Times, Kind: Event,
			See:     "explanation/outages.md#never-again",
			Details: "1 if such an outage was open when the trial ended, else 0.",
			Doc:     "outages that count, and last at the end for longer than elections do",
		}),
		Availability: elections.declare(Metric{
			Name: "availability_" + of, Words: "availability of " + up, Unit: Fraction, Kind: Share,
			Exposure: ofTime, Better: Higher, See: see, Doc: availability,
		}),
		Longest: elections.declare(Metric{
			Name: "longest_outage_" + of + "_ms", Words: "longest outage of " + up,
			Unit: Milliseconds, Kind: InState, See: see,
			Details: "Whatever began the outage. One that lasts at the end counts up to there.",
			Doc:     "the longest time in which " + down,
		}),
		Number: elections.declare(Metric{
			Name: "outages_" + of, Words: "outages of " + up, Unit: Times, Kind: Event, See: see,
			Details: "Whatever began them.",
			Doc:     "times in which " + down,
		}),
	}
}

// The definitions. docs/explanation/outages.md says what each is blind to.
var (
	Agreed = declareOutages(algo.Agreed, "agreement",
		"from the loss of the leader to agreement of all live connected processes on a live one",
		"share of time in which all live connected processes name one live leader",
		"not all live connected processes named one live leader")
	Led = declareOutages(algo.Led, "a majority leader",
		"from the loss of the leader or of a majority to a leader that a majority of all processes follows",
		"share of time in which a leader reaches a majority of all processes that name it",
		"no leader reached a majority of all processes that named it")
	Served = declareOutages(algo.Served, "service",
		"from the loss of the leader or of a majority to the first request that would be answered",
		"share of the requests answered, one a millisecond beside each live process",
		"no client beside a live process would have been answered")
)

// Common is what means one thing for all algorithms in place of a metric that means for each what
// its Spec says: what a client sees. Nil: it means one thing itself.
func (m *Metric) Common() *Metric {
	switch m {
	case Downtime:
		return Served.Downtime
	case Availability:
		return Served.Availability
	}
	return nil
}

// NumbersOfOutages lists the counts of outages by all definitions.
func NumbersOfOutages() []*Metric { return []*Metric{Agreed.Number, Led.Number, Served.Number} }

// OutagesOf are the metrics of a definition.
func OutagesOf(s algo.Service) *Outages {
	for _, o := range []*Outages{Agreed, Led, Served} {
		if o.Service == s {
			return o
		}
	}
	return Agreed
}

// The metrics of elections without a cause.
var (
	UnneededElections = elections.declare(Metric{
		Name: "unneeded_elections_per_s", Unit: PerSecond, Kind: Rate, Exposure: ofTime,
		See: "explanation/outages.md#causes",
		Details: "Rows of `operations.csv` whose `cause` is `false-suspicion` or `unneeded`, `pending` " +
			"ones " +
			"too, ÷ duration.",
		Doc: "elections that began although the leader was live and in reach",
	})
	UnjustifiedDemotions = elections.declare(Metric{
		Name: "unjustified_demotions_per_s", Unit: PerSecond, Kind: Rate, Exposure: ofTime,
		See:     "explanation/outages.md#causes",
		Details: "They had reached it since a majority followed them, or all agreed on them.",
		Doc:     "leaders that gave up, or were replaced, while they reached a majority of all processes",
	})
)

// What happened to leaders, by a fault that looks for one.
var (
	LeaderWait = elections.declare(Metric{
		Name: "leader_wait_ms", Words: "wait for a leader", Unit: Milliseconds, Kind: InState,
		See:     "explanation/faults.md#faults",
		Details: "0 for a fault that did not wait.",
		Doc:     "from when a fault that happens to a leader is due until a process leads, in the mean",
	})
	SettledShare = elections.declare(Metric{
		Name: "settled_share", Words: "share of settled leaders", Unit: Fraction, Kind: Share, Better: Higher,
		See: "explanation/faults.md#faults",
		Doc: "share of the leaders that the scenario struck that had led for settle without a break",
	})
	HastenedShare = elections.declare(Metric{
		Name: "hastened_share", Words: "share of hastened elections", Unit: Fraction, Kind: Share,
		Exposure: []string{"operations"},
		See:      "explanation/outages.md#hastened-elections",
		Details: "Columns that measure how fast an algorithm recovers leave them out; availability, the " +
			"longest outage and the number of outages count them. Empty if no leader crashed or was " +
			"suspended.",
		Doc: "share of the elections after the loss of a leader that were under way before it: a process " +
			"had given it up, or had missed a message that was lost; times leave them out",
	})
)
