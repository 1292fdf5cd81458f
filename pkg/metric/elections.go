package metric

import (
	"github.com/conclave-bench/conclave/pkg/algo"
)

var elections = family{title: "Elections", problem: algo.Election}

// ofTime is the exposure of what happens, or is so, at any time of a trial.
var ofTime = []string{"duration_ms"}

// The metrics of elections.
var (
	Detection = elections.declare(Metric{
		Name: "detection_ms", Words: "detection time",
		Unit: Milliseconds, Kind: SinceCause, Early: true, From: Cause, To: Begin,
		Doc: "from the cause to the first process that begins an election",
	})
	Election = elections.declare(Metric{
		Name: "election_ms", Words: "election time",
		Unit: Milliseconds, Kind: SinceCause, From: Begin, To: End,
		Tables: Main | Brief,
		Doc:    "from the first process that begins until all live connected ones name the same live leader",
	})
	Downtime = elections.declare(Metric{
		Name: "downtime_ms", Unit: Milliseconds, Kind: SinceCause, Definition: BySpec,
		Tables: Main | Brief | Lasting, More: Versus{asLong, longer}, Open: "never_recovered",
		See: "explanation/outages.md",
		Doc: "from the loss of the leader to the end of the outage, as the algorithm's Spec defines one",
	})
	NeverRecovered = elections.declare(Metric{
		Name: "never_recovered", Words: "outages without end", Unit: Times, Kind: Event,
		See:     "explanation/outages.md#never-again",
		Details: "1 if such an outage was open when the trial ended, else 0.",
		Doc:     "outages that count in downtime_ms, and last at the end for longer than elections do",
	})
	Takeover = elections.declare(Metric{
		Name: "takeover_ms", Words: "takeover time", Unit: Milliseconds, Kind: SinceCause, Bubble: true,
		More: Versus{asLong, longer}, See: "explanation/outages.md#takeovers",
		Details: "Mean over the crashes after which one did. Others may not know it yet. A column of runs " +
			"with `transport: bubble`.",
		Doc: "from the crash of the only process that considers itself leader until one does",
	})
	MessagesPerElection = elections.declare(Metric{
		Name: "messages_per_election", Traffic: true, Unit: OfMessages, Kind: Count, Tables: Main,
		Claim: "messages/election",
		See:   "explanation/operations.md#elections",
		Details: "Quiet is until the next election, counted or not, or the end of the trial; of " +
			"algorithms that never are quiet, until agreement. At one instant messages count from the " +
			"first record by which a process acts otherwise than on a message (`elect`, `do`, `suspect`, " +
			"`restore`, `timeout`).",
		Doc: "algorithm messages sent between cause and quiet",
	})
	BytesPerElection = elections.declare(Metric{
		Name: "bytes_per_election", Traffic: true, Unit: Bytes, Kind: Count,
		Details: "As `messages_per_election`.",
		Doc:     "bytes of the algorithm messages sent between cause and quiet",
	})
	MessageDelays = elections.declare(Metric{
		Name: "message_delays", Traffic: true, Was: "rounds", Unit: Times, Kind: Count,
		Details: "Each is sent between cause and agreement. An acknowledgement passes a chain on, and " +
			"does not make it longer.",
		Doc: "the longest chain of causally ordered messages",
	})
	LeaderChanges = elections.declare(Metric{
		Name: "leader_changes", Unit: Times, Kind: Event,
		Details: "After a cold start the first counts.",
		Doc:     "agreements on another leader than the one before",
	})
	SplitBrain = elections.declare(Metric{
		Name: "split_brain_ms", Words: "split-brain time",
		Unit: Milliseconds, Kind: InState, Tables: Main | Lasting,
		Details: "Processes that are paused do not count.",
		Doc:     "time with two or more live self-declared leaders",
	})
	Availability = elections.declare(Metric{
		Name: "availability", Unit: Fraction, Kind: Share, Better: Higher, Tables: Main | Lasting,
		Exposure: ofTime,
		See:      "explanation/outages.md",
		Doc:      "share of time, or of requests, without an outage, as the algorithm's Spec defines one",
	})
	Heal = elections.declare(Metric{
		Name: "heal_ms", Words: "time to heal", Unit: Milliseconds, Kind: SinceCause,
		Details: "0 if they never ceased to agree.",
		Doc:     "from when no link is cut any more to agreement of all live processes",
	})
	TermsPerElection = elections.declare(Metric{
		Name: "terms_per_election", Unit: Times, Kind: Count,
		See:     "explanation/operations.md#terms",
		Details: "Both ends are included. Only algorithms that promise one leader per term have it.",
		Doc:     "terms in which a process stood, begun between cause and agreement",
	})
	SplitVoteShare = elections.declare(Metric{
		Name: "split_vote_share", Words: "share of split votes", Unit: Fraction, Kind: Share,
		Exposure: []string{"terms_per_election", "completed"},
		See:      "explanation/operations.md#terms",
		Details:  "Terms do not count that a crash cut short, or in which no candidate reached a majority.",
		Doc:      "share of the terms of terms_per_election in which no process was elected",
	})
)
