// Package multipaxos is the choice of a leader in Lamport's Multi-Paxos ("The
// part-time parliament", TOCS 1998; "Paxos made simple", 2001): its prepare
// phase, run once for all that follows. Comments cite the phases of the latter.
//
// A process that wants to lead picks a ballot higher than all that it knows and
// asks all others to promise to heed no lower one. A majority of promises makes
// it the leader, until it hears of a higher ballot. A process that promises
// follows, and remembers the promise across crashes. Several processes may
// believe that they lead. Two majorities meet in a process that has promised
// the higher ballot, so only that one can get anything accepted.
package multipaxos

import (
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/timeout"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "multi-paxos",
		Summary: "the prepare phase: a majority promises to heed no lower ballot",
		Paper: algo.Paper{
			Authors: "L. Lamport",
			Title:   "The part-time parliament",
			Venue:   "ACM Transactions on Computer Systems 16(2), 133-169", Year: 1998,
			DOI: "10.1145/279227.279229",
			Deviations: "The prepare phase alone: no values are proposed, so promises carry none. The " +
				"paper leaves open when to prepare: here a process prepares when the failure detector " +
				"suspects the leader, and after a recovery, so that a process that returns takes over. A " +
				"process that promises a ballot names its proposer leader. A refusal is sent (NACK), and " +
				"a proposer that was refused, or has no majority after t_prepare, tries again a random " +
				"time later. A process that hears of a higher ballot from a refusal promises it as well, " +
				"since it may have been down when it was asked for that promise. A ballot that is asked " +
				"for again, by the network's second copy, is promised again. A leader that is settled " +
				"from the start has ballot (1, its ID).",
		},
		Messages: []algo.Message{Prepare{}, Promise{}, Nack{}},
		Saves:    []algo.Message{Stable{}},
		Params: []algo.Param{
			{Name: "t_prepare", Type: algo.Duration, Min: time.Microsecond,
				Doc:     "T, how long to wait for a majority; 3d + 20 ms by default",
				Default: timeout.RoundTrip},
			{Name: "backoff", Type: algo.Duration, Min: time.Duration(0),
				Doc: "a duel's loser waits for T and up to this, at random; default 2T",
				Default: func(net algo.Network) any {
					return 2 * net.Params.Duration("t_prepare")
				}},
		},
		Needs: algo.Needs{
			Synchrony: algo.PartiallySynchronous, Detector: algo.EventuallyPerfect,
			Params: func(net algo.Network, p algo.Params) error {
				return timeout.Covers(net, p, "t_prepare")
			},
		},
		Survives: algo.Faults{
			Duplication: true, Partition: true, Recovery: true,
			Crashes: func(n int, _ algo.Params) int { return (n - 1) / 2 },
		},
		Promises: algo.Promises{Announced: true, Leadership: algo.PerTerm, Live: live},
		Service:  algo.Led,
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "best", Source: algo.Derived,
			Text:  "2N-3 when the leader crashed and one prepares: N-1 PREPARE, N-2 PROMISE",
			Bound: algo.Exactly(func(n int) float64 { return float64(2*n - 3) }),
		}},
		Breaks: "Without a majority no process is elected. A leader that is cut off believes that it " +
			"leads until it hears of a higher ballot, so that two do at once, within the model: the " +
			"acceptors tell them apart, and a process that acts on leadership alone is not protected.",
	}, New)
}

// live: who proposes is elected if no other proposes until it hears of that, within d. With a
// backoff of 2T or more, T being 2d at least, another does with a probability of 1/4 or less,
// and a round takes two backoffs at most: so many fail with a probability of less than 1e-9.
// The paper leaves it to time-outs that there is one proposer: where some see the leader and
// some do not, and neither are a majority, nobody takes over.
func live(n int, p algo.Params) algo.Liveness {
	timeouts := 2 * 20.8 // ln 1e9 = 20.7
	for range n - 1 {
		timeouts *= 4.0 / 3
	}
	if p.Duration("backoff") < 2*p.Duration("t_prepare") || timeouts > 100_000 {
		return algo.Liveness{}
	}
	return algo.Liveness{Under: algo.InParts, Timeouts: int(timeouts) + 10}
}

type role uint8

const (
	acceptor role = iota // and nothing else
	proposer             // PREPARE is out, no majority yet
	loser                // refused: tries again later
	leader
)

// String is what the role is called where states are shown.
func (r role) String() string { return [...]string{"acceptor", "proposer", "loser", "leader"}[r] }

// retry is when a proposer without a majority, or a loser, prepares again.
const retry algo.Timer = "retry"

type node struct {
	algo.Config
	promised Ballot // persistent: the highest heard of; its own, for who proposes or leads
	role     role
	leader   algo.ID
	promises []algo.ID // of its ballot, its own included
}

// New reads the promise from stable storage. A settled leader has the promises
// of all.
func New(c algo.Config) algo.Elector {
	n := &node{Config: c, leader: c.Leader}
	if saved, ok := c.Saved.(Stable); ok {
		n.promised = saved.Promised
	} else if c.Leader != algo.None {
		n.promised = Ballot{1, c.Leader}
	}
	if c.Leader == c.ID {
		n.role, n.promises = leader, slices.Clone(c.Peers)
	}
	return n
}

// Start: a process that comes back knows no leader, and prepares.
func (n *node) Start(env algo.Env) {
	switch {
	case n.Incarnation > 0:
		n.prepare(env)
	case n.leader != algo.None:
		env.Save(Stable{n.promised})
	}
}

// Elect is for a suspicion, or a withdrawn one: prepare, unless this process is
// preparing already.
func (n *node) Elect(env algo.Env) {
	if n.role == acceptor || n.role == leader {
		n.prepare(env)
	}
}

// Do is Elect under the name that scripts give it.
func (n *node) Do(env algo.Env, op string, _ algo.ID) {
	if op != "prepare" {
		panic(fmt.Sprintf("multi-paxos has no operation %q (has: prepare)", op))
	}
	n.Elect(env)
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Prepare:
		n.onPrepare(env, from, m)
	case Promise:
		n.onPromise(env, from, m)
	case Nack:
		n.onNack(env, m)
	}
}

// Timeout is the end of a wait for a majority, or of a loser's pause.
func (n *node) Timeout(env algo.Env, _ algo.Timer) { n.prepare(env) }

// prepare is phase 1a: a ballot above all that were heard of, and its own
// promise first.
func (n *node) prepare(env algo.Env) {
	n.role, n.leader = proposer, algo.None
	n.promises = append(n.promises[:0], n.ID)
	n.promise(env, Ballot{n.promised.Counter + 1, n.ID})
	env.Elected(algo.None, n.term())
	algo.Broadcast(env, n.ID, n.Peers, Prepare{n.promised})
	n.later(env)
	n.countPromises(env)
}

// promise binds this process to heed no ballot lower than b, also after a crash.
func (n *node) promise(env algo.Env, b Ballot) {
	if n.promised.less(b) {
		n.promised = b
		env.Save(Stable{b})
	}
}

// later sets the timer: proposers that keep each other from winning try again
// at different times.
func (n *node) later(env algo.Env) {
	wait, spread := n.Params.Duration("t_prepare"), n.Params.Duration("backoff")
	env.SetTimer(retry, wait+time.Duration(env.Rand().Int64N(int64(spread)+1)))
}

// onPrepare is phase 1b. Whoever promises gives up its own ballot, if it has one.
func (n *node) onPrepare(env algo.Env, from algo.ID, m Prepare) {
	if m.Ballot.less(n.promised) {
		env.Send(from, Nack{m.Ballot, n.promised})
		return
	}
	n.promise(env, m.Ballot)
	if n.leader != from {
		n.role, n.leader = acceptor, from
		env.CancelTimer(retry)
		env.Elected(from, n.term())
	}
	env.Send(from, Promise(m))
}

// onPromise is the end of phase 1. A promise of an earlier ballot is of no use.
func (n *node) onPromise(env algo.Env, from algo.ID, m Promise) {
	if n.role == proposer && m.Ballot == n.promised && !slices.Contains(n.promises, from) {
		n.promises = append(n.promises, from)
		n.countPromises(env)
	}
}

func (n *node) countPromises(env algo.Env) {
	if len(n.promises) > len(n.Peers)/2 {
		n.role, n.leader = leader, n.ID
		env.CancelTimer(retry)
		env.Elected(n.ID, n.term())
	}
}

// onNack: somebody has promised a higher ballot, and so does this process, which
// may have been down when that was asked for: whomever it follows has lost. The
// proposer of the higher one may be about to win: it gets time to.
func (n *node) onNack(env algo.Env, m Nack) {
	if !n.promised.less(m.Promised) {
		return
	}
	n.promise(env, m.Promised)
	n.role, n.leader = loser, algo.None
	env.Elected(algo.None, 0)
	n.later(env)
}

// term numbers ballots in their order.
func (n *node) term() uint64 {
	return n.promised.Counter*uint64(len(n.Peers)) + uint64(n.promised.ID) - 1
}

// Invariant: a process that proposes or leads has promised its own ballot and no
// higher one, a leader has a majority, and a process follows only the owner of
// the ballot that it promised last.
func (n *node) Invariant() error {
	own, most := n.promised.ID == n.ID, len(n.promises) > len(n.Peers)/2
	switch {
	case (n.role == proposer || n.role == leader) && !own:
		return fmt.Errorf("role %v, but promised %v", n.role, n.promised)
	case (n.role == leader) != (n.leader == n.ID), n.role == leader && !most:
		return fmt.Errorf("role %v with leader %d and promises of %v", n.role, n.leader, n.promises)
	case n.leader != algo.None && n.leader != n.promised.ID:
		return fmt.Errorf("follows %d, but promised %v", n.leader, n.promised)
	}
	return nil
}

var (
	_ algo.Starter   = (*node)(nil)
	_ algo.Timed     = (*node)(nil)
	_ algo.Commanded = (*node)(nil)
	_ algo.Checked   = (*node)(nil)
)
