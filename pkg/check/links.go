package check

import (
	"math"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// links compares what the network model asked for with what was achieved.
type links struct {
	lost, met int64         // copies that the network lost, and those that it did not
	slowest   time.Duration // that a message was to be on its way
	longest   time.Duration // that one was on its way, until it was handled
	latest    time.Duration // that one was handled after it was due, since the judge last set it to 0
	given     time.Duration // in all, from sending to the instant at which it was due
	errors    sample        // from that instant to the delivery

	asked func(from, to uint32) time.Duration // mean latency of a link
	means time.Duration                       // of the links of all copies that were sent
	drawn sum                                 // of these copies
	held  time.Duration                       // that order added to it
}

func newLinks(s *harness.Setup) links { return links{asked: s.Network.Means()} }

func (l *links) sent(r *trace.Record) {
	held := time.Duration(r.Arg)
	if r.Type == trace.Send {
		l.slowest = max(l.slowest, r.Due-r.Sent)
	}
	l.means += l.asked(r.Process, r.Peer)
	l.drawn.add(r.Due - r.Sent - held)
	l.held += held
}

// delivered takes in a message that waited so long for what its receiver handled before.
func (l *links) delivered(r *trace.Record, behind time.Duration) {
	late := r.At - r.Due - behind
	l.given += r.Due - r.Sent
	l.errors.add(late)
	l.longest = max(l.longest, r.Due-r.Sent+late)
	l.latest = max(l.latest, late)
}

// metrics compares with what was asked for where no fault asks for something else.
func (l *links) metrics(s *harness.Setup) []metric.Value {
	requested := mean(ms(l.means), l.drawn.n)
	varies := false
	for e := range s.Timeline() {
		varies = varies || e.Latency != nil
	}
	if varies || !s.Network.Settled() {
		requested = math.NaN()
	}
	drawn, held := l.drawn.mean(), mean(ms(l.held), l.drawn.n)
	achieved := mean(ms(l.given), int(l.errors.n)) + l.errors.mean()
	if s.Network.Bare() { // nothing was asked for, and lateness begins at the receiver's socket
		requested, drawn, held = math.NaN(), math.NaN(), math.NaN()
		achieved = mean(ms(l.given), int(l.errors.n))
	}
	return []metric.Value{
		metric.LatencyRequested.Of(requested),
		metric.LatencyDrawn.Of(drawn),
		metric.OrderDelay.Of(held),
		metric.LatencyAchieved.Of(achieved),
		metric.DelayErrorP50.Of(l.errors.quantile(0.50)),
		metric.DelayErrorP99.Of(l.errors.quantile(0.99)),
		metric.LossAchieved.Of(mean(float64(l.lost), int(l.lost+l.met))),
	}
}

// A sample is an exact mean and a thinned list of durations: of very many only
// every second, fourth, ... is kept, always the same ones.
type sample struct {
	n      uint64
	sum    time.Duration
	kept   []float64 // ms
	stride uint64
	skip   uint64 // how many are to come before the next that is kept
}

const maxKept = 1 << 16

func (s *sample) add(d time.Duration) {
	if s.skip == 0 {
		s.keep(d)
	} else {
		s.skip--
	}
	s.n++
	s.sum += d
}

// keep keeps d, unless that is one too many, and twice as many are left out from now on.
func (s *sample) keep(d time.Duration) {
	s.stride = max(s.stride, 1)
	if len(s.kept) == maxKept {
		for i := range maxKept / 2 {
			s.kept[i] = s.kept[2*i]
		}
		s.kept = s.kept[:maxKept/2]
		s.stride *= 2 // which divides s.n: maxKept is even
	}
	s.kept = append(s.kept, ms(d))
	s.skip = s.stride - 1
}

func (s *sample) mean() float64 { return mean(ms(s.sum), int(s.n)) }

func (s *sample) quantile(p float64) float64 {
	slices.Sort(s.kept)
	return stats.Quantile(s.kept, p)
}
