package link

import "fmt"

// A Burst is loss that comes in bursts: the chain of E. N. Gilbert (Capacity of a
// burst-noise channel, Bell System Technical Journal 39, 1960) as E. O. Elliott
// generalized it (Estimates of error rates for codes on burst-noise channels, Bell
// System Technical Journal 42, 1963). Each link, in each direction and on each
// plane, is in a good or a bad state, and before each message may change. A
// message's copies meet it in one state, each with a draw of its own.
type Burst struct {
	Enter float64 `json:"p_enter"` // probability that a good state turns bad
	Leave float64 `json:"p_leave"` // and a bad one good: bad states last 1/Leave messages on average
	Good  float64 `json:"good"`    // probability of loss in a good state
	Bad   float64 `json:"bad"`     // and in a bad one
}

// Check says what is wrong with b; nil if nothing is.
func (b *Burst) Check() error {
	for _, p := range []struct {
		name  string
		value float64
	}{{"p_enter", b.Enter}, {"p_leave", b.Leave}, {"good", b.Good}, {"bad", b.Bad}} {
		if !(p.value >= 0 && p.value <= 1) {
			return fmt.Errorf("burst: %s: %v, expected a probability from 0 to 1", p.name, p.value)
		}
	}
	if b.Enter == 0 && b.Leave == 0 {
		return fmt.Errorf("burst: p_enter and p_leave are 0: the state would never change: " +
			"expected one above 0, or a loss")
	}
	if b.Bad < b.Good {
		return fmt.Errorf("burst: bad %v is below good %v: expected them the other way round", b.Bad, b.Good)
	}
	return nil
}

// share is the part of all messages that meet a bad state, in the long run.
func (b *Burst) share() float64 { return b.Enter / (b.Enter + b.Leave) }

func (b *Burst) mean() float64 { return b.Good + float64(b.share()*(b.Bad-b.Good)) }

func (b *Burst) loss(bad bool) float64 {
	if bad {
		return b.Bad
	}
	return b.Good
}

// first is the state of a link before its first message, drawn so that the first
// messages are no better off than later ones.
func (b *Burst) first(base uint64) (bad bool) { return chance(draw(base, drawFirst), b.share()) }

// next is the state that a message meets after one that met bad, or did not. The
// draws of the message begin at at.
func (b *Burst) next(bad bool, at uint64) bool {
	p := b.Enter
	if bad {
		p = 1 - b.Leave
	}
	return chance(draw(at, drawState), p)
}

// after is the state that message k met. It looks back only as far as a draw
// that leads to one state from both, few messages on average.
func (b *Burst) after(base, k uint64) bool {
	flipped := false
	for ; k > 0; k-- {
		at := base + (k-1)*draws*golden
		fromGood, fromBad := b.next(false, at), b.next(true, at)
		if fromGood == fromBad {
			return fromGood != flipped
		}
		flipped = flipped != fromGood // good turns bad and bad good
	}
	return b.first(base) != flipped
}
