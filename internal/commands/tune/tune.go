// Package tune compares algorithms at equal mistakes. How soon a crash is noticed and how
// often a live leader is given up hang together by one time-out, so that a comparison at
// defaults says as much of the defaults as of the algorithms. Tune looks for the fastest
// setting of each algorithm that makes no more false elections per hour than a budget.
//
// The measures are those of W. Chen, S. Toueg and M. K. Aguilera, On the quality of service
// of failure detectors, IEEE Transactions on Computers 51(5), 2002, but for the rate of
// mistakes, which is that of the leader and not of the detector.
package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
)

// Options say what to look for.
type Options struct {
	Budget float64 // false elections per hour
	Hours  float64 // for which a setting runs without a crash, at most
	Span   float64 // settings are between 1/Span and Span times what the experiment has
	// Spreads are the random parts of a time-out, as shares of it.
	Spreads []float64
	// Run has the trials of an experiment run.
	Run func(context.Context, *experiment.Experiment) ([]results.Trial, error)
	// Told is called after every setting that was measured; nil: nobody is.
	Told func(*Contender, *Point)
}

// Hours is how long a setting runs without a crash unless it is decided before: the least at
// which none of its mistakes proves a budget, and three times as long again.
func Hours(budget float64) float64 {
	_, none := stats.PoissonInterval(0, confidence)
	return 4 * none / budget
}

// Looks are the shares of the hours after which a setting is judged. It is judged so often
// that each interval has a part of the 5 % by which it may be wrong (Bonferroni).
var looks = []float64{1. / 256, 1. / 64, 1. / 16, 1. / 4, 1}

var confidence = 1 - (1-stats.Confidence)/float64(len(looks))

// fewest is the number of trials by which the first look sees whether mistakes come in clusters.
const fewest = 4

// finest is the ratio of two neighbouring settings at which the search ends.
const finest = 1.1

// A Verdict is what the mistakes of a setting are beside the budget.
type Verdict string

// The verdicts.
const (
	Within    Verdict = "within"    // the interval ends at the budget or below
	Over      Verdict = "over"      // it begins above
	Undecided Verdict = "undecided" // after all hours the budget is still inside
	// Down: in most trials no leader came back before the time limit. How often it makes mistakes does
	// not matter, and is not measured.
	Down Verdict = "down"
)

// A Point is a setting, and what was measured of it. A figure that does not exist is NaN.
type Point struct {
	Patience float64 // ns, or of another unit than a duration the value itself
	Spread   float64 // of Patience; 0: there is none, or it stays
	Settings string  // as a file says it
	InModel  bool
	Speed
	Quiet
	Verdict Verdict
	Front   bool // no other is as good in both, and better in one
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
	counts         []float64
	times, against float64 // sums over trials
	live           float64
	correct        float64
	sent, beats    float64
}

// A Result is what was found for an algorithm.
type Result struct {
	*Contender
	Points []Point // in the order of measurement
	Best   int     // index of the fastest within the budget; negative: none is
	// Needs is the hours that would decide where none is, but some might be; 0: none can be.
	Needs float64
	// Edge: the shortest setting that was tried is within the budget already. Bound: it is the
	// shortest that the system of the set takes.
	Edge, Bound bool
}

// Tune looks for the fastest setting of each algorithm of e within the budget. It searches
// upwards from the shortest, which is refused the soonest, and halves the last step until
// neighbours are 10 % apart. Equal experiments and options have equal results, if simulated.
func Tune(ctx context.Context, e *experiment.Experiment, o Options) ([]Result, error) {
	contenders, err := Contenders(e)
	if err != nil {
		return nil, err
	}
	var out []Result
	for _, c := range contenders {
		s := search{Options: o, contender: c, result: Result{Contender: c, Best: -1}}
		spreads := []float64{0}
		if c.spread != "" {
			spreads = o.Spreads
		}
		for _, spread := range spreads {
			if err := s.along(ctx, spread); err != nil {
				return append(out, s.conclude()), err // of what there is
			}
		}
		if len(s.result.Points) == 0 {
			return out, refuse("%s: no setting of %s from 1/%v to %v times that of the experiment is "+
				"allowed: %v", c.Label, c.Dial, o.Span, o.Span, s.refused)
		}
		out = append(out, s.conclude())
	}
	return out, nil
}

// A search is that for one algorithm.
type search struct {
	Options
	contender *Contender
	result    Result
	refused   error // by which the experiment of a setting was refused last
}

// along searches the settings of one spread.
func (s *search) along(ctx context.Context, spread float64) error {
	low, high := math.NaN(), math.NaN() // the longest that is not within the budget, the shortest that is
	steps := int(math.Round(math.Log2(s.Span)))
	for j := -steps; j <= steps && math.IsNaN(high); j++ {
		value := s.contender.fit(s.contender.base * math.Exp2(float64(j)))
		if value == low {
			continue // the system takes nothing between the two
		}
		p, err := s.measure(ctx, value, spread)
		switch {
		case err != nil:
			return err
		case p != nil && p.Verdict == Within:
			high = value
			s.result.Edge = s.result.Edge || j == -steps && s.contender.fit(value/2) < value
			s.result.Bound = s.result.Bound || j == -steps && s.contender.fit(value/2) == value
		default:
			low = value
		}
	}
	for !math.IsNaN(low) && !math.IsNaN(high) && high/low > finest {
		value := s.contender.fit(math.Sqrt(low * high))
		if value <= low || value >= high {
			break
		}
		p, err := s.measure(ctx, value, spread)
		if err != nil {
			return err
		}
		if p != nil && p.Verdict == Within {
			high = value
		} else {
			low = value
		}
	}
	return nil
}

// beaten says whether another spread is within the budget and faster, so that it does not
// matter how many mistakes p makes.
func (s *search) beaten(p *Point) bool {
	return slices.ContainsFunc(s.result.Points, func(q Point) bool {
		return q.Verdict == Within && q.Spread != p.Spread && !(p.Downtime < q.Downtime)
	})
}

// measure measures a setting; nil: the experiment does not allow it, or it cannot be the best.
func (s *search) measure(ctx context.Context, value, spread float64) (*Point, error) {
	p := Point{Patience: value, Spread: spread, Settings: s.contender.settings(value, spread)}
	e, err := s.contender.crashes(value, spread)
	var mistake *experiment.Error
	if errors.As(err, &mistake) {
		s.refused = err
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if p.InModel = e.Cells[0].Plan.InModel; len(e.Cells[0].Plan.OutOfModel) > s.contender.beyond {
		s.refused = fmt.Errorf("%s: %s", p.Settings, e.Cells[0].Plan.OutOfModel[0])
		return nil, nil // the algorithm itself says that this is too short
	}
	trials, err := s.Run(ctx, e)
	if err != nil {
		return nil, err
	}
	if p.Speed = speedOf(trials); math.IsNaN(p.Downtime) || math.IsInf(p.Downtime, 0) {
		p.Verdict = Down
		p.Rate, p.RateLow, p.RateHigh, p.Dispersion = math.NaN(), math.NaN(), math.NaN(), math.NaN()
		p.Duration, p.Recurrence, p.Accuracy = math.NaN(), math.NaN(), math.NaN()
		s.add(&p)
		return &p, nil
	}
	if s.beaten(&p) {
		return nil, nil
	}
	warm := warmUp(e)
	each := min(max(s.Hours*looks[0]/fewest, 10*warm.Hours()), 12) // a trial lasts a day at most
	for look, share := range looks {
		more := int(math.Ceil(s.Hours*share/each)) - len(p.counts)
		if more < 1 {
			continue
		}
		if e, err = s.contender.quiet(value, spread, each, warm, more, look); err != nil {
			return nil, err
		}
		if trials, err = s.Run(ctx, e); err != nil {
			return nil, err
		}
		p.Quiet.add(trials, warm)
		if p.Verdict = p.Quiet.judge(s.Budget); p.Verdict != Undecided {
			break
		}
	}
	if !e.Cells[0].Plan.Detector.Restless() { // nobody watches by heartbeats
		p.Duration, p.Recurrence, p.Accuracy = math.NaN(), math.NaN(), math.NaN()
	}
	s.add(&p)
	return &p, nil
}

// add keeps what was measured.
func (s *search) add(p *Point) {
	s.result.Points = append(s.result.Points, *p)
	if s.Told != nil {
		s.Told(s.contender, p)
	}
}

// conclude chooses the best, marks the front, and says what is missing where none is good.
func (s *search) conclude() Result {
	r := s.result
	for i := range r.Points {
		p := &r.Points[i]
		if p.Verdict == Within &&
			(r.Best < 0 || p.Downtime < r.Points[r.Best].Downtime) {
			r.Best = i
		}
		p.Front = p.Verdict != Down && !slices.ContainsFunc(r.Points, func(q Point) bool {
			return q.Downtime <= p.Downtime && q.Rate <= p.Rate &&
				(q.Downtime < p.Downtime || q.Rate < p.Rate)
		})
	}
	if r.Best >= 0 {
		return r
	}
	for i := range r.Points {
		if p := &r.Points[i]; p.Verdict == Undecided {
			if needs := p.needs(s.Budget); needs > 0 && (r.Needs == 0 || needs < r.Needs) {
				r.Needs = needs
			}
		}
	}
	return r
}

// judge works out the figures, and says what the rate is beside the budget.
func (q *Quiet) judge(budget float64) Verdict {
	q.Rate = float64(q.Mistakes) / q.Hours
	q.Dispersion = stats.Dispersion(q.counts)
	lo, hi := stats.PoissonInterval(float64(q.Mistakes)/q.Dispersion, confidence)
	q.RateLow, q.RateHigh = lo*q.Dispersion/q.Hours, hi*q.Dispersion/q.Hours
	switch {
	case q.RateHigh <= budget:
		return Within
	case q.RateLow > budget:
		return Over
	}
	return Undecided
}

// needs is the hours at which the interval would end at the budget if the rate stays what it
// is; 0: it would not in a thousand times as long as a setting without mistakes takes.
func (p *Point) needs(budget float64) float64 {
	for hours := p.Hours; p.Rate < budget && hours < 1000*Hours(budget); hours *= 1.1 {
		_, hi := stats.PoissonInterval(p.Rate*hours/p.Dispersion, confidence)
		if hi*p.Dispersion/hours <= budget {
			return hours
		}
	}
	return 0
}

// round keeps three significant digits: as many as a file for people needs.
func round(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v))-2)
	return math.Round(v/unit) * unit
}
