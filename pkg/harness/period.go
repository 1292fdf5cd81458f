package harness

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// shortestSettle is the least that a leader settles for where nothing is repeated.
const shortestSettle = 50 * time.Millisecond

// A Period is the longest of what a settled leader repeats, on account of its algorithm or of
// its failure detector.
type Period struct {
	Length time.Duration // 0: nothing is repeated
	Of     string        // what says how long it is
	Timer  algo.Timer    // that fires every period; "": the detector sends its heartbeats
	Drawn  bool          // it is the longest of random ones: it has no phase
}

// Period is that of p.
func (p *Plan) Period() (longest Period) {
	if alg, err := algo.Lookup(p.Algorithm); err == nil {
		for _, d := range alg.Spec.Periods {
			length, _ := p.Params[d.Param].(time.Duration)
			spread, _ := p.Params[d.Spread].(time.Duration)
			if length > 0 && d.Reply {
				length += 2 * p.Known().Latency // of delays that vary the longest: nearly so
			}
			if length += spread; length > longest.Length {
				longest = Period{Length: length, Timer: d.Timer, Drawn: spread > 0,
					Of: fmt.Sprintf("params.%s of %s", d.Param, p.Algorithm)}
			}
		}
	}
	if length := p.Detector.Period(); length > longest.Length {
		longest = Period{length, "the heartbeats of detector " + p.Detector.Kind(), "", false}
	}
	return longest
}

// LeastSettle is how long a leader settles unless the scenario says otherwise: two periods,
// so that it has done at least once all that it repeats, and what its followers need.
func (p *Plan) LeastSettle() time.Duration {
	return max(shortestSettle, 2*p.Period().Length, p.followers())
}

// followers is what the algorithm's Settles says of p.
func (p *Plan) followers() time.Duration {
	alg, err := algo.Lookup(p.Algorithm)
	if err != nil || alg.Spec.Settles == nil || len(p.Params) < len(alg.Spec.Params) { // not resolved
		return 0
	}
	return alg.Spec.Settles(algo.Params(p.Params).Of(1))
}

// spread is the span, behind the settling, from which the instant is drawn at which something
// happens to the leader: as many whole periods as are no shorter than the settling, but for
// what rounding does. A point drawn uniformly from whole periods is at a uniform phase of
// them, whenever the leader's timer began. Where nothing is repeated it is one span, as
// long as the settling.
func (p *Plan) spread() (each time.Duration, times int) {
	settle, period := p.Scenario.Settle(), p.Period().Length
	if period == 0 {
		return settle, 1
	}
	return period, max(int((settle+period-1-period/1000)/period), 1)
}

// latest is the end of that span, and middle what its instants are on average.
func (p *Plan) latest() time.Duration {
	each, times := p.spread()
	return p.Scenario.Settle() + time.Duration(times)*each
}

func (p *Plan) middle() time.Duration { return (p.Scenario.Settle() + p.latest()) / 2 }

// checkSettle refuses a settling in which a leader may not have done twice what it repeats.
// Where a scenario has none, nothing happens to a leader at an instant that it draws.
func checkSettle(p *Plan, wrong Wrong) {
	settle, period := p.Scenario.Settle(), p.Period()
	if least := 2 * period.Length; settle > 0 && settle < least {
		wrong("scenario.settle", "%v is shorter than two periods of %v (%s), so that the leader would not "+
			"be at a random phase of what it repeats; write at least %v, or leave it out", settle,
			period.Length, period.Of, least)
	} else if least = p.followers(); settle > 0 && settle < least {
		wrong("scenario.settle", "%v is too short for the timers of the followers of %s to be at random "+
			"phases; write at least %v, or leave it out", settle, p.Algorithm, least)
	}
}
