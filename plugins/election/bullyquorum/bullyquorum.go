// Package bullyquorum is the bully election with a minimum quorum, as in the Zen
// discovery of Elasticsearch before version 7. Comments cite the numbered rules
// of its description in lecture notes, completed.
//
// A process that misses its leader probes all others. After T it knows which are in
// reach. Fewer than a quorum: it has no leader and tries again later. Otherwise it
// follows a leader that it has found, or joins the best in reach: newest state, then
// least ID, and not itself short of a quorum. A process that is joined by a quorum
// leads.
//
// That alone does not prevent one process from supporting two leaders, at
// different moments. So each leadership has a term, and before it begins the
// processes that joined promise it the term, once, on stable storage.
package bullyquorum

import (
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

type mode uint8

const (
	follower mode = iota // of leader; of nobody if that is None
	probing
	leading
)

// String is what the mode is called where states are shown.
func (m mode) String() string { return [...]string{"follower", "probing", "leading"}[m] }

type node struct {
	algo.Config
	mode     mode
	leader   algo.ID
	term     uint64 // that leader leads; 0: there is no leader
	promised uint64 // the newest term promised to anybody; saved
	seen     uint64 // the newest promise of others heard of
	version  int64
	led      bool // or leads, or may have led in a former life
	short    bool // of a quorum in reach, at the end of the last T
	suspects []algo.ID
	probed   []Round // the newest round of each process; by ID - 1

	// While probing:
	round     Round
	responses []response
	best      algo.ID   // whom T's end found to be the best; None before
	joins     []algo.ID // who joined this process in this round
	returned  []algo.ID // who came back, or answered late, in this round, and may still lead an older term
	claim     uint64    // the term that this process claims; 0: none
	acks      []algo.ID // who promised it

	quorum     int
	claims     bool
	electable  bool // join only who is electable
	t, backoff time.Duration
}

// A response is what a process said in this round.
type response struct {
	from algo.ID
	ProbeReply
}

const (
	answerTimer algo.Timer = "T"
	retryTimer  algo.Timer = "backoff"
)

// New starts with the leader that is settled, if one is, in term 1.
func New(c algo.Config) algo.Elector {
	n := &node{
		Config: c, leader: c.Leader, probed: make([]Round, len(c.Peers)),
		round:  Round{Incarnation: c.Incarnation},
		quorum: int(c.Params.Int("quorum")), claims: c.Params.Bool("claim_phase"),
		t: c.Params.Duration("t_answer"), backoff: c.Params.Duration("backoff"),
		version: c.Params.Int("version"), led: c.Incarnation > 0 || c.Leader == c.ID,
		electable: c.Params.Bool("electable"),
	}
	if c.Leader != algo.None {
		n.term, n.promised = 1, 1
	}
	if c.Leader == c.ID {
		n.mode = leading
	}
	if saved, ok := c.Saved.(Promise); ok {
		n.promised = saved.Term
	}
	return n
}

// Start: rule 1 after a restart. The settled term is on stable storage.
func (n *node) Start(env algo.Env) {
	switch {
	case n.Incarnation > 0:
		n.probe(env)
	case n.promised > 0:
		env.Save(Promise{n.promised})
	}
}

// Elect is rule 1, unless one is in progress.
func (n *node) Elect(env algo.Env) {
	if n.mode != probing {
		n.probe(env)
	}
}

// Do abdicates: rule 1 at a leader.
func (n *node) Do(env algo.Env, op string, _ algo.ID) {
	if op == "abdicate" && n.mode == leading {
		n.probe(env)
	}
}

// Suspect is rule 1 at a follower whose leader is gone, and rule 9 at a leader
// without a quorum.
func (n *node) Suspect(env algo.Env, p algo.ID) {
	if !slices.Contains(n.suspects, p) {
		n.suspects = append(n.suspects, p)
	}
	if p == n.leader ||
		n.mode == leading && len(n.Peers)-len(n.suspects) < n.quorum {
		n.probe(env)
	}
}

// Restore: a leader tells one that comes back that it leads, if need be as soon as it
// does; and one that has led that it does no more.
func (n *node) Restore(env algo.Env, p algo.ID) {
	n.suspects = slices.DeleteFunc(n.suspects, func(q algo.ID) bool { return q == p })
	if n.mode == probing {
		n.returned = append(n.returned, p)
	}
	switch n.announceTo(env, p); {
	case n.led && n.mode != leading:
		env.Send(p, Probe{n.round})
	case n.mode == follower && n.leader == algo.None: // p may know of one
		n.probe(env)
	}
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Probe:
		n.onProbe(env, from, m)
	case ProbeReply:
		n.onProbeReply(env, from, m)
	case Join:
		n.onJoin(env, from, m)
	case Claim:
		n.onClaim(env, from, m)
	case ClaimOK:
		n.onClaimOK(env, from, m)
	case Elected:
		n.onElected(env, from, m)
	case Follow:
		n.announceTo(env, from)
	}
}

// Timeout is rule 3 at the end of T, and rule 1 again after the back-off.
func (n *node) Timeout(env algo.Env, t algo.Timer) {
	if t == retryTimer {
		n.probe(env)
		return
	}
	n.choose(env)
}

// probe is the body of rule 1.
func (n *node) probe(env algo.Env) {
	n.mode, n.leader, n.term = probing, algo.None, 0
	n.round.Count++
	n.responses, n.joins, n.acks, n.returned = nil, nil, nil, nil
	n.best, n.claim = algo.None, 0
	env.Elected(algo.None, 0)
	algo.Broadcast(env, n.ID, n.Peers, Probe{n.round})
	env.CancelTimer(retryTimer)
	env.SetTimer(answerTimer, n.t)
}

// onProbe is rule 2. A leader that probes leads no more.
func (n *node) onProbe(env algo.Env, from algo.ID, m Probe) {
	gone := false
	if last := &n.probed[from.Index()]; m.Round.after(*last) {
		*last, gone = m.Round, n.leader == from
	}
	leader := n.leader
	if gone {
		leader = algo.None
	}
	env.Send(from, ProbeReply{m.Round, n.version, n.promised, leader, n.electable && n.short})
	if gone || n.mode == follower && n.leader == algo.None {
		n.probe(env)
	}
}

// onProbeReply gathers the answers of rule 2. A process that says too late that it leads has been left out of
// the choice, and is told of the leader that came of it.
func (n *node) onProbeReply(env algo.Env, from algo.ID, m ProbeReply) {
	if n.mode != probing || m.Round != n.round || n.best != algo.None { // too late
		if m.Leader == from {
			n.returned = append(n.returned, from)
			n.announceTo(env, from)
		}
		return
	}
	if !slices.ContainsFunc(n.responses, func(r response) bool { return r.from == from }) {
		n.responses = append(n.responses, response{from, m})
		n.seen = max(n.seen, m.Promised)
	}
}

// choose is rule 3. One that is better but reaches no quorum is not joined: it
// cannot lead, and who joined it would be missing elsewhere.
func (n *node) choose(env algo.Env) {
	env.SetTimer(retryTimer, n.backoff+time.Duration(env.Rand().Int64N(int64(n.backoff))))
	n.best = n.ID
	if n.short = len(n.responses)+1 < n.quorum; n.short { // serve nobody
		n.best = algo.None
		return
	}
	version, leads := n.version, false
	newest := uint64(0)
	for _, r := range n.responses {
		switch {
		case r.Leader == r.from && (!leads || r.Promised > newest): // it leads
			n.best, leads, newest = r.from, true, r.Promised
		case leads || r.Unelectable:
		case r.Version > version || r.Version == version && r.from < n.best:
			n.best, version = r.from, r.Version
		}
	}
	switch {
	case leads:
		env.Send(n.best, Follow{})
	case n.best != n.ID:
		env.Send(n.best, Join{n.promised})
	default:
		n.gather(env)
	}
}

// Invariant: there is a term if and only if there is a leader; no term is newer
// than what was promised; a claim is of the newest promise; no other process's
// promise makes a leader.
func (n *node) Invariant() error {
	switch {
	case (n.leader == algo.None) != (n.term == 0):
		return fmt.Errorf("leader %d in term %d", n.leader, n.term)
	case (n.mode == leading) != (n.leader == n.ID) || n.mode == probing && n.leader != algo.None:
		return fmt.Errorf("mode %v with leader %d", n.mode, n.leader)
	case n.term > n.promised:
		return fmt.Errorf("term %d, but only %d promised", n.term, n.promised)
	case n.claim != 0 && (n.mode != probing || n.claim != n.promised):
		return fmt.Errorf("mode %v claims term %d, promised %d", n.mode, n.claim, n.promised)
	}
	return nil
}

var (
	_ algo.Starter   = (*node)(nil)
	_ algo.Timed     = (*node)(nil)
	_ algo.Monitor   = (*node)(nil)
	_ algo.Commanded = (*node)(nil)
	_ algo.Checked   = (*node)(nil)
)
