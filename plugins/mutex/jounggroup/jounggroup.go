// Package jounggroup is Joung's group mutual exclusion, for the congenial talking philosophers (DISC
// 1999).
//
// Each request names a session, and any number of processes may be inside together if they are all
// in one session. In form ra1, Ricart and Agrawala's algorithm, a process defers its reply only if
// the two requests are of different sessions. So sessions that alternate in the order of stamps let
// processes in one by one. In form ra2 a process that enters by all replies is a captain, and starts
// all that have asked for its session, stamps or not. Its replies name these followers to other
// sessions, which wait until each has reported that it left.
package jounggroup

import (
	"errors"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "joung-group",
		Summary: "those of one session inside together; ra2: the first takes the others with it",
		Paper: algo.Paper{
			Authors: "Y.-J. Joung",
			Title:   "The congenial talking philosophers problem in computer networks",
			Venue:   "Distributed Computing 15(3), 155-175", Year: 2002, DOI: "10.1007/s004460100069",
			Deviations: "ra1 follows the abstract: a straightforward adaptation from Ricart and " +
				"Agrawala's algorithm. For ra2 the idea is the paper's: a process inside takes others of " +
				"its session with it. The bookkeeping is Conclave's. The session of a request may differ " +
				"from that of the one before. A process that comes back numbers its requests beyond " +
				"those of its former life.",
		},
		Messages: []algo.Message{Request{}, Reply{}, Start{}, Left{}},
		Admits:   algo.Admits{Sessions: "session"},
		Params: []algo.Param{
			{Name: "form", Type: algo.Enum, Choices: []string{"ra1", "ra2"}, Default: algo.Const("ra1"),
				Doc: "ra2: the first to enter starts others of its session"},
			{Name: "session", Type: algo.Int, Default: algo.Const(int64(0)), PerProcess: true,
				Min: int64(0), Max: int64(algo.MostSessions),
				Doc: "the session that it always requests; 0: as the scenario says"},
		},
		Survives: algo.Faults{Duplication: true},
		Promises: algo.Promises{StarvationFree: true},
		Claims: []algo.Claim{
			{Metric: "messages/entry", Load: "light", Source: algo.Derived,
				Text: "2(N-1) in both forms", Bound: algo.Exactly(alone)},
			{Metric: "messages/entry", Load: "burst", Source: algo.Derived,
				Text: "ra1: 2(N-1); ra2: at most 3(N-1)", Bound: algo.Exactly(alone)},
		},
		Breaks: "The crash of any process blocks all others, of its own session too, for each lacks a " +
			"reply; so does a lost message.",
	}, New)
}

func alone(n int) float64 { return float64(2 * (n - 1)) }

// role is what a process is in its own request.
type role uint8

const (
	idle role = iota
	waiting
	captain  // inside, by all replies
	follower // inside, by a START
)

// String is what the role is called where states are shown.
func (r role) String() string { return [...]string{"idle", "waiting", "captain", "follower"}[r] }

// asked is a request of another process; number 0: there is none.
type asked struct {
	number  uint64
	session algo.Session
}

// keep keeps the later request: of a second copy of an earlier one nothing is to be known any more.
func (a *asked) keep(number uint64, s algo.Session) {
	if number > a.number {
		*a = asked{number, s}
	}
}

// node keeps of each other process, by ID - 1, one request for each purpose: of the same process
// a later one is asked for only when the earlier is over.
type node struct {
	algo.Config
	takes     bool // form ra2
	role      role
	own       algo.Stamp // of the present request, otherwise of the last one
	session   algo.Session
	highest   uint64    // number seen or used
	needed    []algo.ID // whose replies are still to come, ascending
	deferred  []Request // to be answered at the release
	over      uint64    // the last own request that is over
	done      []uint64  // the last of each that is known to be over
	answered  []asked   // replied to while waiting
	followers []asked   // started here
	owed      []asked   // replied to: who made them may have to wait until a follower has left
	await     []asked   // followers of others, who have to leave first
}

// New starts with no request. A process that comes back from a crash counts on beyond its former life.
func New(c algo.Config) algo.Mutex {
	n, former := len(c.Peers), uint64(c.Incarnation)<<32
	return &node{
		Config: c, takes: c.Params.Enum("form") == "ra2", highest: former, over: former,
		done: make([]uint64, n), answered: make([]asked, n), followers: make([]asked, n),
		owed: make([]asked, n), await: make([]asked, n),
	}
}

// Request is rule 1.
func (n *node) Request(env algo.Env) {
	n.highest++
	n.own, n.session, n.role = algo.Stamp{Number: n.highest, ID: n.ID}, env.Session(), waiting
	n.needed = slices.DeleteFunc(append(n.needed[:0], n.Peers...), func(p algo.ID) bool { return p == n.ID })
	clear(n.answered)
	clear(n.await)
	algo.Broadcast(env, n.ID, n.Peers, Request{n.own, n.session})
	n.enterIfAllowed(env)
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Request:
		n.onRequest(env, m)
	case Reply:
		n.finished(from, m.Done)
		n.onReply(from, m)
	case Start:
		if n.role == waiting && m.Stamp == n.own {
			n.role = follower
			env.Granted()
		}
	case Left:
		n.finished(from, m.Done)
	}
	n.enterIfAllowed(env)
}

// onRequest is rule 2, and for ra2 rules 5 and 7. A process that asks again is out.
func (n *node) onRequest(env algo.Env, m Request) {
	from, s := m.Stamp.ID, m.Stamp
	n.highest = max(n.highest, s.Number)
	n.finished(from, s.Number-1)
	if n.role != idle && m.Session != n.session && (n.role != waiting || n.own.Before(s)) {
		n.deferred = append(n.deferred, m)
		return
	}
	switch {
	case n.takes && n.role == captain: // of the same session
		n.start(env, s)
		return
	case n.role == waiting:
		n.answered[from.Index()].keep(s.Number, m.Session)
	}
	n.reply(env, m)
}

// reply gives permission, and says whom else the receiver has to wait for.
func (n *node) reply(env algo.Env, m Request) {
	r := Reply{Stamp: m.Stamp}
	if n.takes {
		r.Done = n.over
		for i, f := range n.followers {
			if f.number > n.done[i] && f.session != m.Session {
				r.Followers = append(r.Followers, algo.Stamp{Number: f.number, ID: n.Peers[i]})
			}
		}
		n.owed[m.Stamp.ID.Index()].keep(m.Stamp.Number, m.Session)
	}
	env.Send(m.Stamp.ID, r)
}

// start lets another in, to this process.
func (n *node) start(env algo.Env, s algo.Stamp) {
	n.followers[s.ID.Index()].keep(s.Number, n.session)
	env.Send(s.ID, Start{s})
}

// onReply is rule 3. A reply to an earlier request changes nothing.
func (n *node) onReply(from algo.ID, m Reply) {
	i, needed := slices.BinarySearch(n.needed, from)
	if n.role != waiting || m.Stamp != n.own || !needed {
		return
	}
	n.needed = slices.Delete(n.needed, i, i+1)
	for _, f := range m.Followers {
		n.await[f.ID.Index()].number = max(n.await[f.ID.Index()].number, f.Number)
	}
}

// finished learns that all requests of p up to that number are over.
func (n *node) finished(p algo.ID, number uint64) {
	n.done[p.Index()] = max(n.done[p.Index()], number)
}

// enterIfAllowed is rule 6: with all replies, and when all followers of others have left, it
// enters as captain, and starts whom it has answered and who is not over: all of its own session,
// for it has waited for those of others.
func (n *node) enterIfAllowed(env algo.Env) {
	if n.role != waiting || len(n.needed) > 0 {
		return
	}
	for i, f := range n.await {
		if f.number > n.done[i] {
			return
		}
	}
	n.role = captain
	env.Granted()
	for i, a := range n.answered {
		if n.takes && a.number > n.done[i] {
			n.start(env, algo.Stamp{Number: a.number, ID: n.Peers[i]})
		}
	}
}

// Release is rule 4, and of a follower in ra2 rule 9: a process that may wait for it learns that it is
// out. To a captain all of those have said that they are over.
func (n *node) Release(env algo.Env) {
	n.role, n.over = idle, n.own.Number
	told := slices.Clone(n.owed)
	for _, m := range n.deferred {
		n.reply(env, m)
	}
	n.deferred = n.deferred[:0]
	for i, a := range told {
		if a.number > n.done[i] && a.session != n.session {
			env.Send(n.Peers[i], Left{n.over})
		}
	}
}

// Invariant: only a requester lacks replies or defers them, and only for other sessions.
func (n *node) Invariant() error {
	if n.role == idle && len(n.deferred) > 0 {
		return errors.New("idle, but replies are due")
	}
	for _, m := range n.deferred {
		if m.Session == n.session {
			return errors.New("a request of the own session is put off")
		}
	}
	return nil
}

var _ algo.Checked = (*node)(nil)
