package link

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// An Own is what some links are instead of what all are. What it does not name is as
// everywhere.
type Own struct {
	Links     [][2]uint32 `json:"links"` // each in one direction: from, to
	Latency   *Latency    `json:"latency,omitempty"`
	Loss      *float64    `json:"loss,omitempty"`      // probability, in place of bursts and records too
	Bandwidth *float64    `json:"bandwidth,omitempty"` // bytes per second; 0: without a limit
}

// Check says what is wrong with o; nil if nothing is.
func (o *Own) Check() error {
	if len(o.Links) == 0 {
		return errors.New("links: none is named: expected [from, to] of each")
	}
	if o.Latency == nil && o.Loss == nil && o.Bandwidth == nil {
		return errors.New("links: they have no property: expected a latency, a loss or a bandwidth")
	}
	if o.Latency != nil {
		err := o.Latency.CheckSpan()
		r, is := o.Latency.Law.(*Recorded)
		if is {
			err = o.Latency.Check()
		}
		if is && len(r.Pairs) > 0 {
			return errors.New("links: a record for each pair is for network.latency alone: expected one " +
				"record")
		}
		if err != nil {
			return fmt.Errorf("links: %w", err)
		}
	}
	if o.Loss != nil && !(*o.Loss >= 0 && *o.Loss <= 1) {
		return fmt.Errorf("links: loss: %v, expected a probability from 0 to 1", *o.Loss)
	}
	if o.Bandwidth != nil {
		return checkBandwidth(*o.Bandwidth)
	}
	return nil
}

func checkBandwidth(b float64) error {
	if !(b >= 0 && b <= MostBandwidth) {
		return fmt.Errorf("bandwidth: %v, expected bytes per second from 0 to %g", b, float64(MostBandwidth))
	}
	return nil
}

// MostBandwidth is the largest bandwidth of a link, in bytes per second.
const MostBandwidth = 1e12

// checkOwn says what is wrong with n.Links; nil if nothing is. A link in two of them would
// be as the later says, which nobody can mean.
func (n *Network) checkOwn() error {
	seen := map[[2]uint32]bool{}
	for i := range n.Links {
		if err := n.Links[i].Check(); err != nil {
			return err
		}
		for _, l := range n.Links[i].Links {
			if seen[l] {
				return fmt.Errorf("links: [%d, %d] is named twice", l[0], l[1])
			}
			seen[l] = true
		}
	}
	return nil
}

// own is what the link is in place of what all are; nil: nothing.
func (n *Network) own(from, to uint32) *Own {
	for i := range n.Links {
		for _, l := range n.Links[i].Links {
			if l == [2]uint32{from, to} {
				return &n.Links[i]
			}
		}
	}
	return nil
}

// Loses says whether any link loses messages.
func (n *Network) Loses() bool {
	for i := range n.Links {
		o := &n.Links[i]
		if o.Loss != nil && *o.Loss > 0 || o.Loss == nil && o.Latency != nil && o.Latency.lossRate() > 0 {
			return true
		}
	}
	return n.LossRate() > 0
}

// Uneven says whether links lose differently, or at recorded instants: then no single loss can be
// compared with what was lost.
func (n *Network) Uneven() bool {
	for i := range n.Links {
		o := &n.Links[i]
		if o.Loss != nil || o.Latency != nil && o.Latency.lossRate() > 0 {
			return true
		}
	}
	return n.Latency.lossRate() > 0
}

// Settled says whether the mean latency of every link is known: it neither varies nor
// depends on what is sent.
func (n *Network) Settled() bool { return n.Variation == nil && !n.limited() }

// limited says whether any link has a bandwidth.
func (n *Network) limited() bool {
	return n.Bandwidth > 0 || slices.ContainsFunc(n.Links, func(o Own) bool {
		return o.Bandwidth != nil && *o.Bandwidth > 0
	})
}

// slowTrial is how many standard deviations above the median the logarithm of a trial's factor is that one
// trial in a thousand exceeds.
const slowTrial = 3.0902

// Bound is the largest latency that an algorithm has to reckon with on any link, and
// whether none is larger: see Latency.Bound. Of links that vary it reckons with the 99.9th
// percentile of both. The time that a message waits for bandwidth is not in it, since it
// depends on what is sent; so it is no bound then. Nor is there one if TCP sends again what is lost.
func (n *Network) Bound() (d time.Duration, bounded bool) {
	if n.AtMost > 0 {
		return n.AtMost, false
	}
	d, bounded = n.Latency.Bound()
	for i := range n.Links {
		o := &n.Links[i]
		if o.Latency != nil {
			most, is := o.Latency.Bound()
			d, bounded = max(d, most), bounded && is
		}
	}
	if v := n.Variation; v != nil {
		d, bounded = vary(d, max(v.factor(slowTrial), 1)), false
	}
	return d, bounded && !n.limited() && !(n.Wire && n.Loses())
}

// A condition is what makes a link unlike others, or unlike what it was.
type condition struct {
	law       Law      // in place of the network's: where the link has one
	loss      *float64 // likewise
	bad       bool     // bursts: the state in which the last message met the link
	bandwidth float64
	free      time.Duration // when the last message has left
	pace      pace
	place     uint64 // in the record, at the start of the trial
	block     time.Duration
	turns     []turn   // of a record that is resampled
	now       constant // the delay of the record at the instant that was asked for last
}

// leave is when the last byte of a message has left: the link carries one after the other.
func (c *condition) leave(sent time.Duration, bytes int) time.Duration {
	if c.bandwidth == 0 {
		return sent
	}
	c.free = max(c.free, sent) + time.Duration(math.Round(float64(bytes)/c.bandwidth*1e9))
	return c.free
}

// factor is that of the link's latency at an instant.
func (c *condition) factor(v *Variation, at time.Duration) float64 {
	if v == nil {
		return 1
	}
	return v.at(&c.pace, at)
}
