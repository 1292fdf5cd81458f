// Package link is the model of the network: what happens to a message on its way (latency,
// loss, duplication, order, cut links), decided by the same code in simulation and on real
// processes.
//
// The model acts on messages, above TCP, since TCP turns loss into latency. It
// is a pure function of a seed: the k-th message of a link has the same fate on
// sockets and in simulation, however threads interleave.
package link

import (
	"fmt"
	"time"
)

// A Network says what the links do to messages. All links are alike, but for the
// latencies of regions, Variation and Links.
type Network struct {
	Latency     Latency `json:"latency"`
	Loss        float64 `json:"loss"`            // probability, independent; besides the losses of a record
	Burst       *Burst  `json:"burst,omitempty"` // in place of Loss
	Duplication float64 `json:"duplication"`     // probability that the network makes a second copy
	Unordered   bool    `json:"unordered"`       // messages of a link arrive as their latencies fall
	Seed        uint64  `json:"seed"`

	Variation *Variation `json:"variation,omitempty"`
	// Bandwidth of each link, in each direction and on each plane, in bytes per second: a
	// message's bytes take that long to leave, one message after the other. 0: no time.
	Bandwidth float64 `json:"bandwidth,omitempty"`
	Links     []Own   `json:"links,omitempty"` // those that are not as all are

	// Real has nothing of this happen to messages: they meet the network between the hosts.
	Real bool `json:"real,omitempty"`
	// Wire has all of this happen to IP packets, and messages meet what TCP makes of that.
	Wire bool `json:"wire,omitempty"`
	// AtMost is what algorithms reckon with, where nobody knows what the links may take; 0: what they
	// take by the model.
	AtMost time.Duration `json:"at_most,omitempty"`
}

// Bare says that nothing is done to messages themselves: they take what they take below.
func (n *Network) Bare() bool { return n.Real || n.Wire }

// Packets is n as packets meet it, where messages have a wire.
func (n *Network) Packets() Network {
	packets := *n
	packets.Wire = false
	return packets
}

// Check says what is wrong with n; nil if nothing is.
func (n *Network) Check() error {
	if !(n.Loss >= 0 && n.Loss <= 1) {
		return fmt.Errorf("loss: %v, expected a probability from 0 to 1", n.Loss)
	}
	if !(n.Duplication >= 0 && n.Duplication <= 1) {
		return fmt.Errorf("duplication: %v, expected a probability from 0 to 1", n.Duplication)
	}
	if n.Burst != nil {
		if n.Loss > 0 {
			return fmt.Errorf("loss: %v and a burst: leave one of them out", n.Loss)
		}
		if err := n.Burst.Check(); err != nil {
			return err
		}
	}
	if n.Variation != nil {
		if err := n.Variation.Check(); err != nil {
			return err
		}
	}
	if err := checkBandwidth(n.Bandwidth); err != nil {
		return err
	}
	if err := n.checkOwn(); err != nil {
		return err
	}
	return n.Latency.Check()
}

// LossRate is the share of messages that the network loses in the long run, if they are sent at
// any time alike.
func (n *Network) LossRate() float64 {
	rate := n.Loss
	if n.Burst != nil {
		rate = n.Burst.mean()
	}
	if r := n.Latency.lossRate(); r > 0 {
		return 1 - float64((1-rate)*(1-r))
	}
	return rate
}

// A Flow is the sender's side of one directed link on one plane: how many
// messages went, and when the last is due. The zero value is not ready: see
// Network.Flow.
type Flow struct {
	Sent uint64        // messages handed to the link so far
	due  time.Duration // of the last copy
	base uint64

	*condition // nil: the link is as all are, and stays so
}

// Flow makes the state of the link from -> to on a plane, for one incarnation
// of the sender.
func (n *Network) Flow(plane uint8, from, incarnation, to uint32) Flow {
	h := Mix(n.Seed ^ 0x636f6e636c617665)
	h = Mix(h ^ uint64(plane)<<32 ^ uint64(from))
	h = Mix(h ^ uint64(incarnation)<<32 ^ uint64(to))
	f := Flow{base: h}
	own := n.own(from, to)
	record, series := n.Latency.Law.(*Recorded)
	places, apart := n.Latency.Law.(placed)
	if own == nil && !apart && !series && n.Burst == nil && n.Variation == nil && n.Bandwidth == 0 {
		return f
	}
	f.condition = &condition{bandwidth: n.Bandwidth}
	if apart {
		f.law = between(places, from, to)
	} else if series {
		f.enter(record, n.Seed, from, to)
		if len(record.Pairs) > 0 {
			f.law = record.pair(from, to)
		}
	}
	if n.Burst != nil {
		f.bad = n.Burst.first(h)
	}
	if n.Variation != nil {
		f.pace = n.Variation.pace(n.Seed, from, to)
	}
	if own != nil {
		f.loss = own.Loss
		if own.Latency != nil {
			f.law = own.Latency.Law
			if r, is := f.law.(*Recorded); is {
				f.enter(r, n.Seed, from, to)
			}
		}
		if own.Bandwidth != nil {
			f.bandwidth = *own.Bandwidth
		}
	}
	return f
}

// Skip makes f, fresh from Flow, what it is after k messages, in the time that few
// take. When they were due is lost with it: what comes next waits for none of them.
func (n *Network) Skip(f *Flow, k uint64) {
	f.Sent = k
	if n.Burst != nil {
		f.bad = n.Burst.after(f.base, k)
	}
}

// Redraw has the messages of f draw from another sequence from the instant at on, by seed. What is on
// its way is not changed, nor is whether a burst goes on then, nor the block of a record.
func (f *Flow) Redraw(seed uint64, at time.Duration) {
	f.base = Mix(f.base ^ seed)
	f.redraw(seed, at)
}

// Pass has so much time go by on f, though no clock shows it: what was sent before is due that much
// earlier, and has left that much earlier. It is for what is sent before the start of a trial, all of it
// at 0.
func (f *Flow) Pass(d time.Duration) {
	f.due = max(f.due-d, 0)
	if f.condition != nil {
		f.free = max(f.free-d, 0)
	}
}

// A Fate is what becomes of one message, but for cut links and crashed
// receivers: those are known when it is due.
type Fate struct {
	Seq        uint64 // k: 1 for the first message of the flow
	Due        time.Duration
	Lost       bool
	Duplicated bool
	CopyDue    time.Duration // of the duplicate
	CopyLost   bool
	// Held and CopyHeld are how much later they are due than their latencies say, so
	// that they do not overtake.
	Held, CopyHeld time.Duration
}

// The draws of one message. Each has its own number, so that one that is not
// needed is not made and moves none of the others.
const (
	drawLoss = iota
	drawLatency
	drawDuplication
	drawCopyLoss
	drawCopyLatency
	drawState // of a link with bursts: the next
	drawFirst // and, of message 1, the one before
	draws     = 8
)

// Send decides the fate of the next message of f, of so many bytes, handed over at sent,
// in the override that holds on the link then; nil if none does. Times are offsets from
// the trial's start.
func (n *Network) Send(f *Flow, sent time.Duration, bytes int, override *Override) Fate {
	at := f.base + f.Sent*draws*golden
	f.Sent++
	law, loss := n.Latency.Law, n.Loss
	left, factor, outage := sent, 1.0, false
	if f.condition != nil {
		left, factor = f.leave(sent, bytes), f.factor(n.Variation, sent)
		if f.law != nil {
			law = f.law
		}
		if n.Burst != nil {
			f.bad = n.Burst.next(f.bad, at)
			loss = n.Burst.loss(f.bad)
		}
		if r, is := law.(*Recorded); is {
			law, outage = f.recorded(r, sent)
		}
		if f.loss != nil {
			loss, outage = *f.loss, false
		}
	}
	if override != nil {
		if override.Latency != nil {
			law, factor = override.Latency.Law, 1
		}
		if override.Loss != nil {
			loss, outage = *override.Loss, false
		}
	}
	if outage {
		loss = 1
	}
	fate := Fate{Seq: f.Sent}
	if n.Wire { // faults of links are faults of packets, too
		fate.Due = sent
		return fate
	}
	if n.Real {
		fate.Due, fate.Lost = sent, loss > 0 && chance(draw(at, drawLoss), loss)
		return fate
	}
	fate.Due, fate.Held = n.due(f, left+delayed(law, draw(at, drawLatency), factor))
	if loss > 0 {
		fate.Lost = chance(draw(at, drawLoss), loss)
	}
	if override != nil && override.Copy > 0 {
		fate.Duplicated = true
		fate.CopyDue, fate.CopyHeld = n.due(f, left+override.Copy)
		return fate
	}
	if n.Duplication > 0 && chance(draw(at, drawDuplication), n.Duplication) {
		fate.Duplicated = true
		fate.CopyDue, fate.CopyHeld = n.due(f, left+delayed(law, draw(at, drawCopyLatency), factor))
		fate.CopyLost = chance(draw(at, drawCopyLoss), loss)
	}
	return fate
}

// due is when a copy is delivered whose latency ends at end, and how much later than
// that. On a FIFO link it never overtakes the copy before it, not even one that is lost:
// the link does not know that yet.
func (n *Network) due(f *Flow, end time.Duration) (at, held time.Duration) {
	if n.Unordered {
		return end, 0
	}
	f.due = max(end, f.due)
	return f.due, f.due - end
}

const golden = 0x9e3779b97f4a7c15

// Mix is the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a
// bijection that spreads every bit of x over all bits.
func Mix(x uint64) uint64 {
	x += golden
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func draw(at uint64, number uint64) uint64 { return Mix(at + number*golden) }

// chance is true for a share p of all u. Exact at 0 and at 1.
func chance(u uint64, p float64) bool { return float64(u>>11)*0x1p-53 < p }
