// Package ble is the ballot leader election of Omni-Paxos, by Ng, Haridi and Carbone (EuroSys 2023).
//
// In rounds each process asks all others for their ballots. A process that gets replies of a majority
// is quorum-connected, and says so in its own. Among the quorum-connected processes the one with the
// highest ballot leads. There are no votes, and a process may lead others that do not hear each
// other. A process that is quorum-connected and misses the ballot of its leader raises its own above
// it. So a single process with links to a majority is enough, whatever else the network has lost.
//
// Comments cite numbered rules: 1 to 5 are those of the artifact's source, 6 is the
// announcement, which in Omni-Paxos is the prepare phase of the log, and the letters are
// those of the later rule, happy, in the library of the same authors.
package ble

import (
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/timeout"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "ble",
		Summary: "rounds of heartbeats; the highest ballot of a process that reaches a majority leads",
		Paper: algo.Paper{
			Authors: "H. Ng, S. Haridi, P. Carbone",
			Title:   "Omni-Paxos: breaking the barriers of partial connectivity",
			Venue:   "EuroSys", Year: 2023,
			Deviations: "The election alone: there is no log. Rules and messages are those of the " +
				"authors' code; rule happy is that of their library. With announce a leader notifies the " +
				"processes that it reaches, as the prepare phase of the log would. Without it, a process " +
				"that reaches no majority keeps its old leader. A process that comes back begins with a " +
				"ballot below all others. From the end of its first round on it names the leader that it " +
				"followed before, unless it has found another or that leader was itself. Under rule " +
				"happy a process may choose a higher ballot as soon as no happy process follows one as " +
				"high: otherwise a process that alone heard a leader, which then crashed, would name it " +
				"forever. A leader that is settled from the start has a ballot with number 1, under rule " +
				"happy 2. A request for an election changes nothing: rounds continue.",
		},
		Messages: []algo.Message{Request{}, Reply{}, Prepare{}},
		Saves:    []algo.Message{Stable{}},
		Params: []algo.Param{
			{Name: "hb_delay", Type: algo.Duration, Min: time.Microsecond, Tunes: algo.Patience,
				Doc:     "T, how long a round waits for replies; default 3d + 20 ms, d the largest latency",
				Default: timeout.RoundTrip},
			{Name: "rule", Type: algo.Enum, Choices: []string{quorumRule, happyRule},
				Default: algo.Const(quorumRule),
				Doc: "which ballots count: those of all that reach a majority; or those of all, and a " +
					"process raises its own when no process is happy with its leader"},
			{Name: "announce", Type: algo.Bool, Default: algo.Const(false),
				Doc: "under rule quorum-connected: a leader notifies the processes that it reaches"},
			{Name: "priority", Type: algo.Int, Min: int64(0), Default: algo.Const(int64(0)),
				PerProcess: true, Doc: "of ballots with the same number the higher priority is above"},
		},
		Perpetual: true,
		Periods:   []algo.Period{{Param: "hb_delay", Timer: roundTimer}},
		Needs: algo.Needs{
			Synchrony: algo.PartiallySynchronous,
			Params: func(net algo.Network, p algo.Params) error {
				return timeout.Covers(net, p, "hb_delay")
			},
		},
		Survives: algo.Faults{
			Loss: true, Duplication: true, Partition: true, Recovery: true,
			Crashes: func(n int, _ algo.Params) int { return (n - 1) / 2 },
		},
		Promises: algo.Promises{Announced: true, Leadership: algo.PerTerm, Live: live},
		Service:  algo.Led,
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "best", Source: algo.Derived,
			Text: "(N-1)(4N-6) when the leader crashes before it has answered a round, and rounds " +
				"begin together",
			Bound: algo.Exactly(func(n int) float64 { return float64((n - 1) * (4*n - 6)) }),
		}, {
			Metric: "messages/election", Load: "worst", Source: algo.Derived,
			Text:  "(N-1)(5N-8) when it crashes right after that: it is missed a round later",
			Bound: algo.Exactly(func(n int) float64 { return float64((n - 1) * (5*n - 8)) }),
		}},
		Breaks: "Without a majority no process is elected, and the rest keep naming the old leader. In " +
			"rounds that are short for the delays no process is quorum-connected. Several may consider " +
			"themselves leader at once, with different ballots: a process that acts on leadership alone " +
			"is not protected. Without announce a process that reaches no majority never learns of a new " +
			"leader, not even from that leader; with announce it ignores leaders with a ballot below one " +
			"that it has followed. Under rule happy one process that reaches a majority is enough.",
	}, New)
}

const (
	quorumRule = "quorum-connected"
	happyRule  = "happy"
)

// live: two rounds until each process knows whether it reaches a majority and says so, one
// in which a process that misses its leader raises its ballot, and one at whose end the highest
// leads; rounds of different processes overlap, and messages of before may be late.
//
// With a leader that is settled and cuts at one instant, one process that reaches a majority is
// enough with announce, too. After any other history it is not: one that reaches no majority
// may have followed a ballot by which nobody came to lead, before it lost its links, and heeds
// no lower one. Under rule happy a leader that is not
// followed raises its ballot above such a one.
func live(_ int, p algo.Params) algo.Liveness {
	l := algo.Liveness{Under: algo.InParts, Timeouts: 100}
	if p.Enum("rule") == happyRule {
		l.Under = algo.QuorumConnected
	}
	return l
}

// roundTimer ends a round.
const roundTimer algo.Timer = "round"

type node struct {
	algo.Config
	round    uint64 // incarnation, then a count
	replies  []heard
	ballot   Ballot
	leader   Ballot // persistent: the highest that this process has followed
	named    bool   // it still does: it has not missed it, and not been down
	fit      bool   // quorum-connected, or happy
	majority int

	happy, announce bool
	delay           time.Duration
}

// heard is a reply of this round.
type heard struct {
	from algo.ID
	Reply
}

// New begins with the lowest ballot, and under rule happy, which makes each process begin
// as its own leader, with the one above it. A process that comes back begins with the
// lowest ballot, too, so that it does not still lead with one that others have abandoned.
func New(c algo.Config) algo.Elector {
	n := &node{
		Config: c, round: uint64(c.Incarnation) << 32, majority: len(c.Peers)/2 + 1, fit: true,
		ballot: Ballot{0, c.Params.Int("priority"), c.ID}, happy: c.Params.Enum("rule") == happyRule,
		announce: c.Params.Bool("announce"), delay: c.Params.Duration("hb_delay"),
	}
	if c.Incarnation > 0 {
		saved, _ := c.Saved.(Stable) // if it followed anybody
		n.leader = saved.Leader
		return n
	}
	if n.happy {
		n.ballot.N = 1
		n.leader = n.ballot
	}
	if c.Leader != algo.None {
		n.leader = Ballot{n.ballot.N + 1, c.Params.IntOf("priority", c.Leader), c.Leader}
		n.named = true
	}
	if c.Leader == c.ID {
		n.ballot = n.leader
	}
	return n
}

// Start begins the first round.
func (n *node) Start(env algo.Env) {
	if n.Incarnation == 0 && n.leader != (Ballot{}) {
		env.Save(Stable{n.leader})
	}
	if !n.named {
		env.Elected(algo.None, n.term(n.ballot))
	}
	if n.leader == n.ballot { // rule happy, or settled
		n.follow(env, n.ballot)
	}
	n.begin(env)
}

// Elect does nothing: whether there is to be another leader, the present round finds out.
func (n *node) Elect(algo.Env) {}

// begin is rule 1.
func (n *node) begin(env algo.Env) {
	n.round++
	n.replies = n.replies[:0]
	algo.Broadcast(env, n.ID, n.Peers, Request{n.round})
	env.SetTimer(roundTimer, n.delay)
}

// Receive is rules 2, 3 and 6.
func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Request:
		leader := n.leader
		if n.lacks() {
			leader = Ballot{}
		}
		env.Send(from, Reply{m.Round, n.ballot, leader, n.fit})
	case Reply:
		twice := func(h heard) bool { return h.from == from }
		if m.Round == n.round && !slices.ContainsFunc(n.replies, twice) {
			n.replies = append(n.replies, heard{from, m})
		}
	case Prepare:
		if !m.Ballot.less(n.leader) {
			n.follow(env, m.Ballot)
		}
	}
}

// Timeout is the end of a round.
func (n *node) Timeout(env algo.Env, _ algo.Timer) {
	if n.happy {
		n.judge(env)
	} else {
		n.count(env)
	}
	n.begin(env)
}

// count is rules 4 and 5. Without a majority the leader stays as it is: a process that lost its
// quorum for a round would otherwise demand another. A process that has come back names it from now on.
func (n *node) count(env algo.Env) {
	n.fit = len(n.replies)+1 >= n.majority
	if !n.fit {
		if !n.lacks() {
			n.follow(env, n.leader)
		}
		return
	}
	top := n.ballot
	for _, r := range n.replies {
		if r.Fit && top.less(r.Ballot) {
			top = r.Ballot
		}
	}
	if top.less(n.leader) {
		n.raise(env, n.leader)
		return
	}
	news := top != n.leader
	n.follow(env, top)
	if n.announce && top == n.ballot {
		n.tell(env, news)
	}
}

// lacks says whether this process has given up its leader for its own ballot, which is not
// elected yet.
func (n *node) lacks() bool { return !n.named && n.leader.less(n.ballot) }

// raise puts the own ballot above that of a leader that is missed.
func (n *node) raise(env algo.Env, leader Ballot) {
	n.ballot.N, n.named = leader.N+1, false
	env.Elected(algo.None, n.term(n.ballot))
}

// tell is rule 6: everybody at first, and later those who have not understood.
func (n *node) tell(env algo.Env, news bool) {
	if news {
		algo.Broadcast(env, n.ID, n.Peers, Prepare{n.ballot})
		return
	}
	for _, r := range n.replies {
		if r.Leader.less(n.ballot) {
			env.Send(r.from, Prepare{n.ballot})
		}
	}
}

// follow makes b the leader. A process that has come back does not lead by its ballot of
// before.
func (n *node) follow(env algo.Env, b Ballot) {
	if n.named && b == n.leader {
		return
	}
	if b != n.leader {
		n.leader = b
		env.Save(Stable{b})
	}
	if n.named = b.ID != n.ID || b == n.ballot; n.named {
		env.Elected(b.ID, n.term(b))
	}
}

// term numbers ballots in their order.
func (n *node) term(b Ballot) uint64 {
	rank := uint64(1)
	for _, p := range n.Peers {
		if (Ballot{b.N, n.Params.IntOf("priority", p), p}).less(b) {
			rank++
		}
	}
	return b.N*uint64(len(n.Peers)) + rank
}

// Invariant: no reply is of an earlier round or counted twice, and a process that leads does so by
// its ballot, and no process has a ballot below one that it has led by, unless it was down.
func (n *node) Invariant() error {
	leads := n.named && n.leader.ID == n.ID
	switch {
	case len(n.replies) >= len(n.Peers):
		return fmt.Errorf("%d replies", len(n.replies))
	case leads && n.leader != n.ballot:
		return fmt.Errorf("leads by %v with %v", n.leader, n.ballot)
	case n.Incarnation == 0 && n.leader.ID == n.ID && n.ballot.less(n.leader):
		return fmt.Errorf("has led by %v with %v", n.leader, n.ballot)
	}
	return nil
}

var (
	_ algo.Starter = (*node)(nil)
	_ algo.Timed   = (*node)(nil)
	_ algo.Checked = (*node)(nil)
)
