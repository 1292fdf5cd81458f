package metric

import (
	"github.com/conclave-bench/conclave/pkg/algo"
)

var elections = family{problem: algo.Election}

// slowerToRecover is for downtimes by any definition.
const slowerToRecover = "recovers %s slower than"

// The metrics of elections.
var (
	Detection = elections.declare(Metric{
		Name: "detection_ms", Words: "detection time",
		Unit: Milliseconds, Kind: SinceCause, Early: true, From: Cause, To: Begin,
		Doc: "the cause to the first process that begins an election",
	})
	Election = elections.declare(Metric{
		Name: "election_ms", Words: "election time",
		Unit: Milliseconds, Kind: SinceCause, From: Begin, To: End,
		Tables: Main | Brief,
		Doc:    "the first process begins to the last live connected one names the same live leader",
	})
	Downtime = elections.declare(Metric{
		Name: "downtime_ms", Unit: Milliseconds, Kind: SinceCause, Definition: BySpec,
		Tables: Main | Brief | Lasting, Slower: slowerToRecover, Open: "never_recovered",
		Doc: "the loss of the leader to the end of the outage, as the algorithm's Spec defines one",
	})
	NeverRecovered = elections.declare(Metric{
		Name: "never_recovered", Words: "outages without end", Unit: Times, Kind: Count,
		Doc: "outages that count in downtime_ms, and last at the end for longer than elections do",
	})
	MessagesPerElection = elections.declare(Metric{
		Name: "messages_per_election", Traffic: true, Unit: OfMessages, Kind: Count, Tables: Main,
		Claim: "messages/election",
		Doc:   "algorithm messages sent between cause and quiet",
	})
	BytesPerElection = elections.declare(Metric{
		Name: "bytes_per_election", Traffic: true, Unit: Bytes, Kind: Count,
		Doc: "bytes of the algorithm messages sent between cause and quiet",
	})
	MessageDelays = elections.declare(Metric{
		Name: "message_delays", Traffic: true, Was: "rounds", Unit: Times, Kind: Count,
		Doc: "the longest chain of causally ordered messages",
	})
	LeaderChanges = elections.declare(Metric{
		Name: "leader_changes", Unit: Times, Kind: Count,
		Doc: "changes of leader seen",
	})
	SplitBrain = elections.declare(Metric{
		Name: "split_brain_ms", Words: "split-brain time",
		Unit: Milliseconds, Kind: InState, Tables: Main | Lasting,
		Doc: "time with two or more live self-declared leaders",
	})
	Availability = elections.declare(Metric{
		Name: "availability", Unit: Fraction, Kind: Share, Better: Higher, Tables: Main | Lasting,
		Doc: "share of time, or of requests, without an outage, as the algorithm's Spec defines one",
	})
	Heal = elections.declare(Metric{
		Name: "heal_ms", Words: "time to heal", Unit: Milliseconds, Kind: SinceCause,
		Doc: "no link is cut any more to agreement of all live processes",
	})
	TermsPerElection = elections.declare(Metric{
		Name: "terms_per_election", Unit: Times, Kind: Count,
		Doc: "terms in which a process stood, begun between cause and agreement",
	})
	SplitVoteShare = elections.declare(Metric{
		Name: "split_vote_share", Words: "share of split votes", Unit: Fraction, Kind: Share,
		Doc: "share of those terms in which nobody was elected",
	})
)
