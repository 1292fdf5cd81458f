// Package zabfle is the fast leader election of ZooKeeper, the oracle that Zab
// (Junqueira, Reed, Serafini, DSN 2011) leaves open, and Zab's discovery phase as
// an option. Comments cite the numbered rules of the election's implementation,
// lookForLeader, and the steps of the paper's phase 1.
//
// A process that looks for a leader votes for itself and notifies all others. It adopts
// and forwards a larger vote (newest epoch, then newest transaction, then ID), so that
// all come to vote for the process with the newest history. When a majority does, and no
// larger vote turns up for a while, the election is over. Rounds are numbered by a
// logical clock; a process that comes late learns from the others which leader they
// follow, and joins if the leader itself says that it leads. This does not prevent two
// parts of a cut network from having leaders in one round. Discovery does: an elected
// process leads only when a majority has acknowledged a new epoch, and each process
// acknowledges an epoch once.
package zabfle

import (
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/timeout"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "zab-fle",
		Summary: "votes for the newest history spread until a majority agrees, as in ZooKeeper",
		Paper: algo.Paper{
			Authors: "F. Junqueira, B. Reed, M. Serafini",
			Title:   "Zab: High-performance broadcast for primary-backup systems",
			Venue:   "DSN, 245-256", Year: 2011, DOI: "10.1109/DSN.2011.5958223",
			Deviations: "The election follows ZooKeeper's code, since the paper only assumes one. The " +
				"next phase, discovery, which gives each epoch one leader, is an option (discovery; " +
				"false is the election alone). The declared promises hold without discovery: all " +
				"processes agree in the end, and partitions are not survived, although the two sides of " +
				"a partition that the detector noticed agree after it. Discovery is here as far as it " +
				"decides which process leads: histories are neither sent nor synchronized, and " +
				"NEWLEADER, which begins phase 2, says that a majority has acknowledged the epoch, which " +
				"is then the term. A process that has acknowledged it to another leader, which failed, " +
				"follows without a second acknowledgement, as in ZooKeeper; if a process has " +
				"acknowledged a later epoch, the leader proposes the one above that. A process that does " +
				"not hear NEWLEADER in time looks again. Epochs and transactions in votes are parameters " +
				"and do not grow. The failure detector decides which connections a process has. A " +
				"follower looks again when it suspects its leader, or hears that its leader looks or " +
				"follows another. A leader looks again when it has lost its majority to processes that " +
				"are suspected, look or follow another. A process whose suspicion is withdrawn is sent " +
				"the leader's name, and gives way to a leader of a later round. A process answers a " +
				"leader that has to give way with the name of its own leader, and a process that does " +
				"not lead answers reports with the leader to follow. A leader that hears of a vote for " +
				"another process in its own round tells that process, which may have won by it as well; " +
				"in ZooKeeper a leader gives up if no majority connects in time. Notifications name " +
				"their sender's incarnation, and those of an incarnation that has ended are dropped: " +
				"ZooKeeper has a connection for each life. A process that joins counts itself in the " +
				"majority, so that of three processes a leader and one that comes back are enough; it " +
				"notifies the process that it had voted for and those that voted for it. A process that " +
				"looks neither leads nor follows, whatever it reported before, and a process that " +
				"reports another round has no vote in this one. While ZooKeeper waits for a larger vote " +
				"after a majority, it drops every other notification; here all count, since a report or " +
				"a later round shows that the majority is gone. A process that is about to decide, and " +
				"has heard from another leader of its round or of a later one, begins a round behind " +
				"both. A process that hears of an election before its own start takes part.",
		},
		Messages: []algo.Message{
			Notification{}, CEpoch{}, NewEpoch{}, AckEpoch{}, NewLeader{},
		},
		Saves: []algo.Message{AcceptedEpoch{}},
		Params: []algo.Param{
			{Name: "finalize_wait", Type: algo.Duration, Min: time.Duration(0),
				Doc: "how long a majority waits for a larger vote, from the last notification on; " +
					"default 3d + 20 ms",
				Default: timeout.RoundTrip},
			{Name: "t_resend", Type: algo.Duration, Min: time.Microsecond,
				Doc: "without a notification, after which votes are sent again, doubled each time; " +
					"default finalize_wait + 3d + 20 ms",
				Default: timeout.RoundTripAfter("finalize_wait")},
			{Name: "discovery", Type: algo.Bool, Default: algo.Const(false),
				Doc: "the elected process leads when a majority has acknowledged a new epoch"},
			{Name: "t_discovery", Type: algo.Duration, Min: time.Microsecond,
				Doc: "after which a process that is elected, or follows, without such an epoch looks " +
					"again; default finalize_wait + 6d + 20 ms",
				Default: func(net algo.Network) any {
					return net.Params.Duration("finalize_wait") + 6*net.Latency + algo.Slack
				}},
			{Name: "peer_epoch", Type: algo.Int, Default: algo.Const(int64(0)), PerProcess: true,
				Doc: "epoch of a process's history: the vote's first part"},
			{Name: "zxid", Type: algo.Int, Default: algo.Const(int64(0)), PerProcess: true,
				Doc: "last transaction of its history: the second part; the third is its ID"},
		},
		Sets: []algo.Set{{
			Name: "zookeeper", Doc: "ZooKeeper: a vote is final after 200 ms",
			Params: map[string]any{"finalize_wait": 200 * time.Millisecond,
				"t_resend": 200 * time.Millisecond, "discovery": true, "t_discovery": 20 * time.Second},
			Source: "ZooKeeper at 05eae83c0e7f, FastLeaderElection.java: finalizeWait 200 ms, and " +
				"minNotificationInterval as long; initLimit 10 ticks of 2 s in conf/zoo_sample.cfg.",
			Differs: "The time between two resends is at most 60 s there (maxNotificationInterval). " +
				"A follower misses its leader as soon as the connection breaks, or after syncLimit, " +
				"5 ticks as shipped; here the failure detector decides that. Connections are opened " +
				"during the election.",
		}},
		Needs: algo.Needs{
			FIFO: true, Synchrony: algo.PartiallySynchronous, Detector: algo.EventuallyPerfect,
			Params: func(net algo.Network, p algo.Params) error {
				t, bound := p.Duration("t_discovery"), 4*net.Latency
				if p.Bool("discovery") && t < bound {
					return fmt.Errorf("t_discovery %v is below 4d = %v, from CEPOCH to NEWLEADER", t, bound)
				}
				if t, bound := p.Duration("t_resend"), 2*net.Latency; t < bound {
					return fmt.Errorf("t_resend %v is below 2d = %v: more is sent again than answered",
						t, bound)
				}
				return nil
			},
		},
		Survives: algo.Faults{
			Duplication: true, Recovery: true, Crashes: func(n int, _ algo.Params) int { return (n - 1) / 2 },
		},
		Promises: algo.Promises{Announced: true, Leadership: algo.Eventual, Live: live},
		Service:  algo.Led,
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "best", Source: algo.Derived,
			Text:  "(N-1)(2N-1) when all start together and the largest vote is heard first",
			Bound: algo.Exactly(func(n int) float64 { return float64((n - 1) * (2*n - 1)) }),
		}, {
			Metric: "messages/election", Load: "all begin", Source: algo.Derived,
			Text:  "(N-1)(N+N(N-1)/2) when all start together and hear votes in ascending order",
			Bound: algo.Exactly(func(n int) float64 { return float64((n - 1) * (n + n*(n-1)/2)) }),
		}},
		Breaks: "Without a majority no process is elected. The vote alone does not prevent two leaders: " +
			"a leader that is cut off and does not notice continues to lead beside the one that the " +
			"majority elects, and both may be of one round. With discovery the second leads a later " +
			"epoch, so that the acts of the first can be recognised.",
	}, New)
}

const (
	finalize  algo.Timer = "finalize" // the wait of rule 3
	resend    algo.Timer = "resend"
	discovery algo.Timer = "discovery"
)

// live: what is told again waits for longestPatience times as long in the end, and once
// after that for each process may have to be told.
func live(n int, _ algo.Params) algo.Liveness {
	return algo.Liveness{Under: algo.InParts, Timeouts: 4 * longestPatience * n}
}

// longestPatience bounds the doubling of t_resend, as a multiple of it or of
// finalize_wait: votes that are sent again too often would restart that wait forever.
const longestPatience = 32

type node struct {
	algo.Config
	state    State
	leader   algo.ID // None while looking
	clock    uint64  // of the round
	vote     Vote
	votes    []Vote   // of this round, by ID - 1; no ID: none yet
	reports  []report // of processes that look no more, heard since this one began to look
	patience time.Duration
	lives    []uint32 // the newest incarnation heard of, by ID - 1
	rounds   []uint64 // that it was in

	suspects  []algo.ID // by the failure detector
	asked     []algo.ID // looked while this process led, and were told so
	strangers []algo.ID // looked, and will not follow

	// With discovery:
	accepted uint64    // f.p, the last epoch that this process acknowledged; saved
	epoch    uint64    // that the leader leads and this process follows in; 0: none yet
	newest   uint64    // heard of in any CEPOCH
	proposed uint64    // e' of this leader; 0: none yet
	quorum   []algo.ID // Q: those whose CEPOCH this process has, and that have not looked since
	acks     []algo.ID // who acknowledged e'
}

// A report is what a process says that follows or leads.
type report struct {
	vote    Vote // no ID: none
	clock   uint64
	leading bool
}

// New is idle, or where a settled leader leaves it after a first round.
func New(c algo.Config) algo.Elector {
	n := &node{Config: c, leader: c.Leader, lives: make([]uint32, len(c.Peers)),
		rounds: make([]uint64, len(c.Peers))}
	switch c.Leader {
	case algo.None:
	case c.ID:
		n.state = Leading
	default:
		n.state = Following
	}
	if c.Leader != algo.None {
		n.clock, n.vote = 1, n.of(c.Leader)
	}
	if c.Params.Bool("discovery") {
		n.recall()
	}
	return n
}

// of is the vote for p.
func (n *node) of(p algo.ID) Vote {
	return Vote{n.Params.IntOf("peer_epoch", p), n.Params.IntOf("zxid", p), p}
}

// Start: a process that comes back looks for a leader. A settled epoch is on stable storage.
func (n *node) Start(env algo.Env) {
	switch {
	case n.Incarnation > 0:
		n.lookForLeader(env)
	case n.accepted > 0:
		env.Save(AcceptedEpoch{n.accepted})
	}
}

// Elect is rule 1, unless this process looks already.
func (n *node) Elect(env algo.Env) {
	if n.state != Looking {
		n.lookForLeader(env)
	}
}

// Suspect: a follower without its leader, and a leader without a majority, look.
func (n *node) Suspect(env algo.Env, p algo.ID) {
	if !slices.Contains(n.suspects, p) {
		n.suspects = append(n.suspects, p)
	}
	if p == n.leader {
		n.lookForLeader(env)
	}
	n.checkMajority(env)
}

// Restore clears the suspicion of p, and tells p which process leads: the network may
// have been cut, and p may have chosen another leader. A process that looked in a
// later round has left for good.
func (n *node) Restore(env algo.Env, p algo.ID) {
	n.suspects = without(n.suspects, p)
	if n.asked = without(n.asked, p); n.rounds[p.Index()] <= n.clock {
		n.strangers = without(n.strangers, p)
	}
	if n.leader != algo.None {
		env.Send(p, n.notification())
	}
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Notification:
		n.onNotification(env, from, m)
	case CEpoch:
		n.onCEpoch(env, from, m)
	case NewEpoch:
		n.onNewEpoch(env, from, m)
	case AckEpoch:
		n.onAckEpoch(env, from, m)
	case NewLeader:
		n.onNewLeader(env, from, m)
	}
}

func without(list []algo.ID, p algo.ID) []algo.ID {
	return slices.DeleteFunc(list, func(q algo.ID) bool { return p == q })
}

func (n *node) Timeout(env algo.Env, t algo.Timer) {
	switch t {
	case finalize:
		n.finish(env)
	case discovery:
		n.lookForLeader(env)
	default:
		first, wait := n.Params.Duration("t_resend"), n.Params.Duration("finalize_wait")
		n.patience = min(2*n.patience, longestPatience*max(first, wait))
		n.announce(env)
		n.poll(env)
	}
}

// Invariant: a process that looks follows none; a process that looks no more follows its vote;
// no vote is below the voter's own rank; and what discovery promises.
func (n *node) Invariant() error {
	switch {
	case (n.state == Looking || n.state == Idle) != (n.leader == algo.None):
		return fmt.Errorf("state %d with leader %d", n.state, n.leader)
	case (n.state == Leading) != (n.leader == n.ID):
		return fmt.Errorf("state %d with leader %d", n.state, n.leader)
	case n.leader != algo.None && n.leader != n.vote.ID:
		return fmt.Errorf("follows %d but votes %v", n.leader, n.vote)
	case n.state == Looking && n.vote.less(n.of(n.ID)):
		return fmt.Errorf("votes %v, below itself", n.vote)
	}
	return n.discovered()
}

var (
	_ algo.Starter = (*node)(nil)
	_ algo.Timed   = (*node)(nil)
	_ algo.Monitor = (*node)(nil)
	_ algo.Checked = (*node)(nil)
)
