// Package tune compares algorithms at an equal false-election rate and at equal cost. How soon a crash is
// noticed, how often a live leader is given up and how many messages are sent hang together by two settings,
// a time-out and the interval between heartbeats, so that a comparison at defaults says as much of the
// defaults as of the algorithms. Tune looks for the fastest setting of each algorithm that makes no more
// false elections per hour than a budget, and sends no more messages per second than a limit.
//
// The measures are those of W. Chen, S. Toueg and M. K. Aguilera, On the quality of service
// of failure detectors, IEEE Transactions on Computers 51(5), 2002, except that the
// false elections are counted, not the false suspicions of the detector.
package tune

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
)

// Options say what to look for.
type Options struct {
	Budget    float64 // false elections per hour
	Precision float64 // how far below the budget the rate of what is chosen may lie, as a share of it
	Hours     float64 // for which the settings of one search run without a crash, at most, all together
	Span      float64 // time-outs are between 1/Span and Span times what the experiment has
	// Spreads are the random parts of a time-out, as shares of it.
	Spreads []float64
	// Messages are the limits of messages per second, a search for each. None: three, by what the
	// algorithms send as the experiment has them.
	Messages []float64
	// Keep leaves intervals between heartbeats as the experiment has them, without a limit of messages.
	Keep bool
	// InModel leaves out settings with which an algorithm is out of its model.
	InModel bool
	// Crashes is how many times the leader of a setting that may be chosen crashes, at least.
	Crashes int
	// Run has the trials of an experiment run.
	Run func(context.Context, *experiment.Experiment) ([]results.Trial, error)
	// Told is called after every setting that was measured; nil: nobody is.
	Told func(*Contender, *Point)
	// Share is called with what is being done and how much of all is done, from 0 to 1; nil: nobody is.
	Share func(what string, done float64)
}

// Hours is how long the settings of one search run without a crash at most, unless it is said. A precision
// of 30 % takes about 56 mistakes where they come singly, and some 100 where they come in pairs, so that
// 200 hours are enough for a budget of one per hour. That would take long in simulation, too: where mistakes
// are that rare, there are no more than two days, and ten hours per mistake that is allowed at least, of
// which five without any prove a budget.
func Hours(budget float64) float64 { return max(10/budget, min(200/budget, 48)) }

// finest is the ratio of two neighbouring settings at which a search ends.
const finest = 1.02

// A Verdict is what the mistakes of a setting are beside the budget.
type Verdict string

// The verdicts.
const (
	Within    Verdict = "within"    // the interval ends at the budget or below
	Over      Verdict = "over"      // it begins above
	Undecided Verdict = "undecided" // the budget is inside
	// Costly: it is not over the budget, and sends more messages than the limit.
	Costly Verdict = "costly"
	// Down: in most trials no leader came back before the time limit. How often it makes mistakes does
	// not matter, and is not measured.
	Down Verdict = "down"
)

// A Point is a setting, and what was measured of it. A figure that does not exist is NaN.
type Point struct {
	Patience float64  // ns, or of another unit than a duration the value itself
	Spread   float64  // of Patience; 0: there is none, or it stays
	Settings string   // as a file says it
	Beyond   []string // why it is out of the model; none: it is in it
	Speed
	Quiet
	Verdict Verdict
	// Fitted is the rate by the curve through the settings around it.
	Fitted, FittedLow, FittedHigh float64
	// Front: no other is as good in downtime, mistakes and messages, and better in one.
	Front bool
}

// Speed is what leader crashes took.
type Speed struct {
	Downtime, Low, High float64 // ms; the median and its 95 % interval
	N, Censored         int     // trials, and those of which the time limit saw no end
}

// Quiet is what happened while nothing did.
type Quiet struct {
	Hours          float64 // without the beginning of each trial
	Mistakes       int     // elections for which there was no cause
	Dispersion     float64 // of the mistakes of the trials
	Rate           float64 // of mistakes, per hour
	RateLow        float64
	RateHigh       float64
	Duration       float64 // mistake duration T_M in ms, of the detector
	Recurrence     float64 // mistake recurrence time T_MR in ms, likewise
	Accuracy       float64 // query accuracy probability P_A, likewise
	Messages       float64 // of the algorithm, per second
	Heartbeats     float64 // of the detector, per second
	trials         []stats.Count
	times, against float64 // sums over trials
	live           float64
	correct        float64
	sent, beats    float64
}

// Sends is how many messages per second are sent, those of failure detectors included.
func (q *Quiet) Sends() float64 { return q.Messages + q.Heartbeats }

// Mistaken is the false-election rate per hour by the fitted curve, or as counted where there is none.
func (p *Point) Mistaken() (rate, low, high float64) {
	if !math.IsNaN(p.Fitted) {
		return p.Fitted, p.FittedLow, p.FittedHigh
	}
	return p.Rate, p.RateLow, p.RateHigh
}

// A Result is what was found for an algorithm within a limit of messages.
type Result struct {
	*Contender
	Limit  float64 // messages per second; infinite: there is none
	Points []Point // in the order of measurement
	Best   int     // index of the fastest within the budget; negative: none is
	// Needs is the hours that would decide where none is, but some might be; 0: none can be.
	Needs float64
	out   bool // a search for it ran out of hours
	// Bound is what keeps the search from shorter settings than the best, where it is not the budget.
	Bound string
}

// Tune looks for the fastest setting of each algorithm of e within the budget, at each limit of messages.
// Equal experiments and options have equal results, if simulated. The results of one limit stand together.
func Tune(ctx context.Context, e *experiment.Experiment, o Options) ([]Result, error) {
	contenders, err := Contenders(e)
	if err != nil {
		return nil, err
	}
	if o.Share == nil {
		o.Share = func(string, float64) {}
	}
	levels := []level{{limit: math.Inf(1), contenders: contenders}}
	if !o.Keep {
		if levels, err = o.levels(ctx, contenders); err != nil {
			return nil, err
		}
	}
	all, done := 0, 0
	for _, l := range levels {
		for _, c := range l.contenders {
			all += len(o.spreads(c))
		}
	}
	var out []Result
	for _, l := range levels {
		for _, c := range l.contenders {
			s := search{Options: o, contender: c, result: Result{Contender: c, Limit: l.limit, Best: -1}}
			var bound string
			for _, spread := range o.spreads(c) {
				k := curve{search: &s, spread: spread, low: math.NaN(), high: math.NaN()}
				k.told = func(share float64) {
					o.Share(c.title(l.limit), (float64(done)+share)/float64(all))
				}
				if err := k.follow(ctx); err != nil {
					return append(out, s.conclude()), err // of what there is
				}
				if k.chosen != nil {
					bound = k.bound()
				}
				done++
			}
			if len(s.result.Points) == 0 {
				return out, refuse("%s: no setting of %s from 1/%v to %v times that of the experiment is "+
					"allowed: %v", c.Label, c.name(c.Dial), o.Span, o.Span, s.refused)
			}
			s.result.Bound = bound
			out = append(out, s.conclude())
		}
	}
	return out, nil
}

// title is the contender with a limit, for people.
func (c *Contender) title(limit float64) string {
	if math.IsInf(limit, 1) {
		return c.Label
	}
	return fmt.Sprintf("%s, %s messages per second", c.Label, console.Number(limit))
}

// spreads are those to try of a contender.
func (o *Options) spreads(c *Contender) []float64 {
	if c.spread == "" {
		return []float64{0}
	}
	return o.Spreads
}

// A search is that for one algorithm within one limit of messages.
type search struct {
	Options
	contender *Contender
	result    Result
	refused   error // by which the experiment of a setting was refused last
}

// conclude chooses the best, marks the front, and says what is missing where none is good.
func (s *search) conclude() Result {
	r := s.result
	for i := range r.Points {
		p := &r.Points[i]
		rate, _, _ := p.Mistaken()
		p.Front = p.Verdict != Down && !slices.ContainsFunc(r.Points, func(q Point) bool {
			other, _, _ := q.Mistaken()
			return q.Verdict != Down && q.Downtime <= p.Downtime && other <= rate && q.Sends() <= p.Sends() &&
				(q.Downtime < p.Downtime || other < rate || q.Sends() < p.Sends())
		})
	}
	if r.Best >= 0 {
		return r
	}
	if r.out { // ten hours are enough where a budget of one is to be proved; or else twice as many as now
		r.Needs = max(10/s.Budget, 2*s.Hours)
	}
	return r
}

// round keeps three significant digits: as many as a file for people needs.
func round(v float64) float64 {
	out, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64)
	return out
}
