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
			Slower: slowerToRecover, Open: "never_recovered_" + of, Doc: downtime,
		}),
		Never: elections.declare(Metric{
			Name: "never_recovered_" + of, Words: "outages without end of " + up, Unit: Times, Kind: Count,
			Doc: "outages that count, and last at the end for longer than elections do",
		}),
		Availability: elections.declare(Metric{
			Name: "availability_" + of, Words: "availability of " + up, Unit: Fraction, Kind: Share,
			Better: Higher, Doc: availability,
		}),
		Longest: elections.declare(Metric{
			Name: "longest_outage_" + of + "_ms", Words: "longest outage of " + up,
			Unit: Milliseconds, Kind: InState,
			Doc: "the longest time in which " + down,
		}),
		Number: elections.declare(Metric{
			Name: "outages_" + of, Words: "outages of " + up, Unit: Times, Kind: Count,
			Doc: "times in which " + down,
		}),
	}
}

// The definitions. docs/outages.md says what each is blind to.
var (
	Agreed = declareOutages(algo.Agreed, "agreement",
		"the loss of the leader to agreement of all live connected processes on a live one",
		"share of time in which all live connected processes name one live leader",
		"not all live connected processes named one live leader")
	Led = declareOutages(algo.Led, "a majority leader",
		"the loss of the leader or of a majority to a leader that a majority of all processes follows",
		"share of time in which a leader reaches a majority of all processes that name it",
		"no leader reached a majority of all processes that named it")
	Served = declareOutages(algo.Served, "service",
		"the loss of the leader or of a majority to the first request that would be answered",
		"share of the requests answered, one a millisecond beside each live process",
		"no client beside a live process would have been answered")
)

// Common is what means one thing for all algorithms in place of a metric that means for each what
// its Spec says; nil: it means one thing itself.
func (m *Metric) Common() *Metric {
	switch m {
	case Downtime:
		return Agreed.Downtime
	case Availability:
		return Agreed.Availability
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

// The metrics of elections that nothing called for.
var (
	UnneededElections = elections.declare(Metric{
		Name: "unneeded_elections_per_s", Unit: PerSecond, Kind: Rate,
		Doc: "elections that began although the leader was live and in reach",
	})
	UnjustifiedDemotions = elections.declare(Metric{
		Name: "unjustified_demotions_per_s", Unit: PerSecond, Kind: Rate,
		Doc: "leaders that gave up, or were replaced, while they reached a majority of all processes",
	})
)

// What happened to leaders, by a fault that looks for one.
var (
	LeaderWait = elections.declare(Metric{
		Name: "leader_wait_ms", Words: "wait for a leader", Unit: Milliseconds, Kind: SinceCause, Early: true,
		Doc: "a fault that happens to a leader comes due to a process that leads, in the mean",
	})
	SettledShare = elections.declare(Metric{
		Name: "settled_share", Words: "share of settled leaders", Unit: Fraction, Kind: Share, Better: Higher,
		Doc: "share of the leaders that the scenario struck that had led for settle without a break",
	})
	HastenedShare = elections.declare(Metric{
		Name: "hastened_share", Words: "share of hastened elections", Unit: Fraction, Kind: Share,
		Doc: "share of the elections after the loss of a leader that were under way before it: a process " +
			"had given it up, or had missed a message that was lost; times leave them out",
	})
)
