package zabfle

import (
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// lookForLeader is rule 1: a new round, with a vote for itself.
func (n *node) lookForLeader(env algo.Env) {
	n.state, n.leader = Looking, algo.None
	n.clock++
	n.reports = make([]report, len(n.Peers))
	n.patience = n.Params.Duration("t_resend")
	n.abandon(env)
	env.Elected(algo.None, 0)
	n.enter(env, n.of(n.ID))
	n.poll(env)
}

// enter begins the round of the clock with this vote.
func (n *node) enter(env algo.Env, v Vote) {
	n.votes, n.quorum = make([]Vote, len(n.Peers)), nil
	n.change(env, v)
}

// change makes v this process's vote and tells everybody.
func (n *node) change(env algo.Env, v Vote) {
	n.vote, n.votes[n.ID.Index()] = v, v
	n.announce(env)
}

func (n *node) announce(env algo.Env) { algo.Broadcast(env, n.ID, n.Peers, n.notification()) }

// poll waits for the next notification, from the last one on. If a majority has this
// process's vote, that is the wait of rule 3; if not, the votes are told again after it.
func (n *node) poll(env algo.Env) {
	if n.majority() {
		env.CancelTimer(resend)
		env.SetTimer(finalize, n.Params.Duration("finalize_wait"))
	} else {
		env.CancelTimer(finalize)
		env.SetTimer(resend, n.patience)
	}
}

func (n *node) notification() Notification {
	return Notification{n.vote, n.clock, n.state, n.Incarnation}
}

// onNotification drops what comes late from a life that has ended.
func (n *node) onNotification(env algo.Env, from algo.ID, m Notification) {
	if m.Incarnation < n.lives[from.Index()] {
		return
	}
	n.lives[from.Index()], n.rounds[from.Index()] = m.Incarnation, m.Clock
	if n.state == Idle { // drawn in
		n.lookForLeader(env)
	}
	if m.State == Looking { // it follows none
		n.quorum = without(n.quorum, from)
	}
	switch {
	case n.state != Looking && m.State == Looking:
		n.onSeeker(env, from, m)
	case n.state != Looking:
		n.onRival(env, from, m)
	case m.State == Looking:
		n.onVote(env, from, m)
	default:
		n.onReport(env, from, m)
	}
}

// onVote is rule 2. A process that is a round behind is told so. A process that looks neither leads nor
// follows any more.
func (n *node) onVote(env algo.Env, from algo.ID, m Notification) {
	n.reports[from.Index()] = report{}
	switch vote := n.of(n.ID); {
	case m.Clock < n.clock:
		env.Send(from, n.notification())
	case m.Clock > n.clock:
		n.clock = m.Clock
		if vote.less(m.Vote) {
			vote = m.Vote
		}
		n.enter(env, vote)
	case n.vote.less(m.Vote):
		n.change(env, m.Vote)
	}
	if m.Clock == n.clock {
		n.votes[from.Index()] = m.Vote
	}
	n.poll(env)
}

// majority says whether a majority has this process's vote in this round.
func (n *node) majority() bool {
	count := 0
	for _, v := range n.votes {
		if v == n.vote {
			count++
		}
	}
	return count > len(n.Peers)/2
}

// finish is the end of rule 3. If another one that is up says that it leads in this
// round or a later one, it will not hear of this decision: the network was cut, and
// each side has its leader. A round behind both decides, which all hear of.
func (n *node) finish(env algo.Env) {
	for i, r := range n.reports {
		if r.leading && r.clock >= n.clock && r.vote.ID != n.vote.ID &&
			!slices.Contains(n.suspects, n.Peers[i]) {
			n.clock = r.clock
			n.lookForLeader(env)
			return
		}
	}
	n.decide(env)
}

// onReport is rule 4: join if a majority has a leader that says itself that it leads.
func (n *node) onReport(env algo.Env, from algo.ID, m Notification) {
	n.votes[from.Index()] = Vote{} // it counts no more, unless the report is of this round
	if m.Clock == n.clock {
		n.votes[from.Index()] = m.Vote
	}
	n.reports[from.Index()] = report{m.Vote, m.Clock, m.State == Leading}
	if n.established(m) {
		n.join(env, m)
	} else {
		n.poll(env)
	}
}

// established says whether a majority has the leader of the report m: of the votes of
// this round, or, in whatever rounds, of those that follow and this process. One that
// others still follow leads on if it came back within the round.
func (n *node) established(m Notification) bool {
	voted, follow := 0, 1
	for i, r := range n.reports {
		same := r.vote.sameLeader(m.Vote)
		if same {
			follow++
		}
		if n.votes[i] == m.Vote || same && r.clock == n.clock {
			voted++
		}
	}
	ours := m.Clock == n.clock
	leads := ours
	if leader := m.Vote.ID; leader != n.ID {
		r := n.reports[leader.Index()]
		leads = r.leading
		ours = ours && r.clock == n.clock
	}
	half := len(n.Peers) / 2
	return leads && (follow > half || ours && voted > half)
}

// join takes part in what others have decided. Whom this process voted for, and
// who voted for it, must not go on counting on it.
func (n *node) join(env algo.Env, m Notification) {
	voted, votes := n.vote.ID, n.votes
	n.clock, n.vote = m.Clock, m.Vote
	n.decide(env)
	for i, p := range n.Peers {
		counts := p == voted || votes[i].ID == n.ID && m.Vote.ID != n.ID
		if counts && p != n.ID && p != m.Vote.ID {
			env.Send(p, n.notification())
		}
	}
}

// decide ends the search. A leader that is suspected is none.
func (n *node) decide(env algo.Env) {
	n.state, n.leader = Following, n.vote.ID
	if n.leader == n.ID {
		n.state = Leading
	}
	n.asked, n.strangers = nil, nil
	env.CancelTimer(finalize)
	env.CancelTimer(resend)
	if n.Params.Bool("discovery") {
		n.discover(env)
	} else {
		env.Elected(n.leader, n.clock)
	}
	if slices.Contains(n.suspects, n.leader) {
		n.lookForLeader(env)
	}
	n.checkMajority(env)
}

// onSeeker is the end of rule 2: who looks no more answers with its vote. It
// looks again if the one who looks is its leader, in another round than the one
// that this leader is about to win.
// A leader does not count on who looks twice, looks in a later round, or votes for
// a third one: that one was persuaded after it had voted for this leader. The third,
// who may count on it as well, is told if the round is this leader's.
func (n *node) onSeeker(env algo.Env, from algo.ID, m Notification) {
	if from == n.leader && (m.Clock != n.clock || m.Vote != n.vote) {
		n.lookForLeader(env)
		n.onVote(env, from, m)
		return
	}
	env.Send(from, n.notification())
	if n.state != Leading {
		return
	}
	newcomer := m.Clock <= n.clock && m.Vote.ID == from && !slices.Contains(n.asked, from)
	if newcomer {
		n.asked = append(n.asked, from)
		return
	}
	if third := m.Vote.ID; m.Clock == n.clock && third != from && third != n.ID {
		env.Send(third, n.notification())
	}
	n.lose(env, from)
}

// onRival is a report to who looks no more: mostly one that comes too late. A
// leader, and who follows it, gives way to one of a later round or vote; and who
// follows, if its own leader follows another. Another
// leader has not heard of this one, nor has who follows this process while this
// follows: they are told. Who follows another in a leader's own round has voted for
// it, but joined the other.
func (n *node) onRival(env algo.Env, from algo.ID, m Notification) {
	later := m.Clock > n.clock || m.Clock == n.clock && n.vote.less(m.Vote)
	switch {
	case m.Vote.ID == n.leader:
		return
	case later || from == n.leader:
		n.lookForLeader(env)
		return
	case m.State == Leading || m.Vote.ID == n.ID:
		env.Send(from, n.notification())
	}
	if n.state == Leading && m.Clock == n.clock {
		n.lose(env, from)
	}
}

// lose: p does not follow this leader.
func (n *node) lose(env algo.Env, p algo.ID) {
	if !slices.Contains(n.strangers, p) {
		n.strangers = append(n.strangers, p)
		n.checkMajority(env)
	}
}

// checkMajority makes a leader look that has lost its majority.
func (n *node) checkMajority(env algo.Env) {
	lost := len(n.strangers)
	for _, p := range n.suspects {
		if !slices.Contains(n.strangers, p) {
			lost++
		}
	}
	if n.state == Leading && len(n.Peers)-lost <= len(n.Peers)/2 {
		n.lookForLeader(env)
	}
}
