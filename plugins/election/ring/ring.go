// Package ring is what elections on a ring of known processes share: how a message
// gets round a ring when some processes are dead. It is rule 2 of ring-list
// elections, and is no algorithm by itself: ring-list and ring-max say what goes
// round.
//
// A message goes to the successor, which acknowledges it. One that does not within T
// counts as dead, and the message goes to the process after it.
package ring

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/timeout"
)

// Hops are the messages of one process to its successors. Embed it.
type Hops struct {
	pending  []hop     // not yet acknowledged; nil message: a free place
	dead     []algo.ID // did not acknowledge, and not forgotten since
	self     algo.ID
	ring     []algo.ID
	skip     time.Duration
	remember bool
}

// A hop is a message that waits for its acknowledgement.
type hop struct {
	msg algo.Message
	to  algo.ID
}

// New is no messages, with the parameters SkipTimeout and RememberDead of c.
func New(c algo.Config) Hops {
	return Hops{
		self: c.ID, ring: c.Ring,
		skip: c.Params.Duration("skip_timeout"), remember: c.Params.Bool("remember_dead"),
	}
}

// Forward sends m to the first process after p that is not remembered as dead. When
// all others are, that is this process itself.
func (h *Hops) Forward(env algo.Env, m algo.Message, p algo.ID) {
	to := h.successor(p)
	for h.remember && to != h.self && h.IsDead(to) {
		to = h.successor(to)
	}
	if to == h.self {
		env.Send(to, m)
		return
	}
	place := slices.IndexFunc(h.pending, func(h hop) bool { return h.msg == nil })
	if place < 0 {
		place = len(h.pending)
		h.pending = append(h.pending, hop{})
	}
	h.pending[place] = hop{m, to}
	env.Send(to, m)
	env.SetTimer(timer(place), h.skip)
}

func (h *Hops) successor(p algo.ID) algo.ID {
	return h.ring[(slices.Index(h.ring, p)+1)%len(h.ring)]
}

// Acknowledge sends ack for a message of from, if that is another process.
func (h *Hops) Acknowledge(env algo.Env, from algo.ID, ack algo.Message) {
	if from != h.self {
		env.Send(from, ack)
	}
}

// Acknowledged ends the wait of the hop to from whose message is meant, unless it was
// given up before.
func (h *Hops) Acknowledged(env algo.Env, from algo.ID, meant func(algo.Message) bool) {
	place := slices.IndexFunc(h.pending, func(h hop) bool {
		return h.msg != nil && h.to == from && meant(h.msg)
	})
	if place >= 0 {
		h.pending[place] = hop{}
		env.CancelTimer(timer(place))
	}
}

// GiveUp ends the wait of which t is the timer. It returns the message, which is to be
// forwarded, and the process that did not acknowledge it.
func (h *Hops) GiveUp(t algo.Timer) (m algo.Message, silent algo.ID) {
	place, _ := strconv.Atoi(string(t[len("skip "):]))
	gone := h.pending[place]
	h.pending[place] = hop{}
	return gone.msg, gone.to
}

// Waiting is the messages that are not acknowledged.
func (h *Hops) Waiting() (out []algo.Message) {
	for _, hop := range h.pending {
		if hop.msg != nil {
			out = append(out, hop.msg)
		}
	}
	return out
}

// IsDead says whether p did not acknowledge a message since the dead were forgotten.
func (h *Hops) IsDead(p algo.ID) bool { return slices.Contains(h.dead, p) }

// Bury notes that p is dead.
func (h *Hops) Bury(p algo.ID) { h.dead = append(h.dead, p) }

// Revive notes that p is not dead.
func (h *Hops) Revive(p algo.ID) {
	h.dead = slices.DeleteFunc(h.dead, func(q algo.ID) bool { return q == p })
}

// ForgetDead considers all alive.
func (h *Hops) ForgetDead() { h.dead = nil }

func timer(place int) algo.Timer { return algo.Timer("skip " + strconv.Itoa(place)) }

// SkipTimeout is the parameter T.
func SkipTimeout() algo.Param {
	return algo.Param{Name: "skip_timeout", Type: algo.Duration, Min: time.Duration(0),
		Doc:     "T, how long to wait for an acknowledgement; default 3d + 20 ms, d the largest latency",
		Default: timeout.RoundTrip}
}

// RememberDead is the parameter that saves a T for each dead process in each lap.
func RememberDead() algo.Param {
	return algo.Param{Name: "remember_dead", Type: algo.Bool, Default: algo.Const(false),
		Doc: "skip a process at once that did not acknowledge earlier in this election"}
}

// TwoLaps is how long an election can take: two laps, each skipping all others.
func TwoLaps(net algo.Network, skip time.Duration) time.Duration {
	return time.Duration(2*net.Nodes) * (skip + net.Latency)
}

// Timing says whether skip_timeout covers a round trip, and lap_timeout two laps.
func Timing(net algo.Network, p algo.Params) error {
	skip, lap := p.Duration("skip_timeout"), p.Duration("lap_timeout")
	switch err, most := timeout.Covers(net, p, "skip_timeout"), TwoLaps(net, skip); {
	case err != nil:
		return err
	case lap == 0:
		return fmt.Errorf("lap_timeout 0: a message that dies with its holder is never replaced")
	case lap < most:
		return fmt.Errorf("lap_timeout %v is below 2N (T + d) = %v", lap, most)
	}
	return nil
}
