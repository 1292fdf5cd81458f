package experiment

import (
	"math"
	"runtime"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// What the estimate reckons with. It is for planning an afternoon, not for
// comparing algorithms.
const (
	nodeStart    = 5 * time.Millisecond  // processor time to start and stop a real node
	trialFrame   = 30 * time.Millisecond // joining, draining, judging, recording
	virtualEvent = time.Microsecond      // processor time of one simulated event
	hops         = 6                     // message delays and time-outs until an operation is over
)

// Estimate is roughly how long a trial takes on average, and all of them
// together, on this machine, if no cell ends before its last repetition.
//
// A real trial starts its nodes, so many at a time as there are processors, and
// then lasts as long as its scenario says: the settling and the detection of a
// crash, the requests one behind the other or as they arrive, the last line of
// a script. A simulated one costs its events, some N messages for each
// operation and the detector's heartbeats, and runs beside others.
func (e *Experiment) Estimate() (perTrial, total time.Duration) {
	cores := time.Duration(runtime.NumCPU())
	for i := range e.Cells {
		p := &e.Cells[i].Plan
		one := min(scenarioTime(p), p.TimeLimit)
		if e.Transport == "sim" {
			events := 2*float64(operations(p)+faults(p, one))*messages(p) + heartbeats(p, one)
			one = (50*time.Microsecond + time.Duration(events*float64(virtualEvent))) / cores
		} else {
			one += trialFrame + time.Duration(p.Nodes)*nodeStart/cores
		}
		total += one * time.Duration(e.Repetitions)
	}
	return total / time.Duration(max(len(e.Cells)*e.Repetitions, 1)), total
}

// messages is how many messages an operation costs, about: the most that a
// claim of the algorithm says, or else a handful for each process.
func messages(p *harness.Plan) (most float64) {
	alg, err := algo.Lookup(p.Algorithm)
	if err != nil {
		return 0
	}
	for _, c := range alg.Spec.Claims {
		_, hi := c.Bound(p.Nodes)
		most = max(most, hi)
	}
	if most == 0 {
		most = hops * float64(p.Nodes)
	}
	return most
}

// heartbeats is how many the failure detector sends in such a time, about.
func heartbeats(p *harness.Plan, during time.Duration) float64 {
	if !p.Detector.Restless() {
		return 0
	}
	each := float64(during) / float64(p.Detector.Interval) * float64(p.Nodes-1)
	if p.Detector.LeaderOnly {
		return each
	}
	return each * float64(p.Nodes)
}

// faults is how many elections what goes wrong leads to within a time, about.
func faults(p *harness.Plan, during time.Duration) int {
	seconds := during.Seconds()
	n := p.Failures.CrashRate * float64(p.Nodes) * seconds
	for _, e := range p.Failures.Events {
		times := 1 + e.Rate*seconds
		if e.Every > 0 {
			times += seconds / e.Every.Seconds()
		}
		if e.Times > 0 {
			times = min(times, float64(e.Times))
		}
		n += times
	}
	return int(min(n, 1e6))
}

// operations is how many elections or entries a trial has, about.
func operations(p *harness.Plan) int {
	s := &p.Scenario
	switch {
	case s.Kind == harness.Burst && s.Initiators == 0:
		return p.Nodes
	case s.Kind == harness.Burst:
		return s.Initiators
	case s.Requests > 0:
		return s.Requests
	case s.Kind == harness.Open:
		return int(s.Rate*s.Duration.Seconds()) + 1
	case s.Kind == harness.Closed:
		return int(s.Duration/max(cycle(p), time.Microsecond)) + 1
	case s.Kind == harness.LeaderCrash:
		return s.Elections
	case s.Kind == harness.Partition:
		return 2
	}
	return 1 + len(s.Events)
}

// cycle is the time between two entries of the whole group: bounded by the
// critical section and its handing over, or by how often they ask.
func cycle(p *harness.Plan) time.Duration {
	d := p.Network.Latency.Average()
	alone := p.Scenario.Hold.Average() + 2*d
	return max(alone, (alone+p.Scenario.Think.Average())/time.Duration(p.Nodes))
}

// notice is how long the detector takes to notice a crash, about. Phi waits for as
// many deviations as its threshold asks for.
func notice(d *harness.Detector) time.Duration {
	z := math.Sqrt(2 * math.Ln10 * d.Threshold)
	return d.Delay + d.Interval + d.Timeout + time.Duration(z*float64(d.Deviation))
}

// scenarioTime is how long a scenario takes of its own, about.
func scenarioTime(p *harness.Plan) time.Duration {
	s := &p.Scenario
	d := p.Network.Latency.Average()
	election := hops*d + 40*time.Millisecond // the default time-outs have that much slack
	count := time.Duration(min(operations(p), 1e6))
	switch s.Kind {
	case harness.LeaderCrash:
		return time.Duration(s.Elections) * (s.Settle*3/2 + notice(&p.Detector) + election)
	case harness.LeaderReturn:
		return s.Settle*3/2 + election
	case harness.Partition:
		return s.Settle*3/2 + s.Duration + notice(&p.Detector) + election
	case harness.Churn:
		return s.Duration
	case harness.Sequential:
		return count * (s.Hold.Average() + 4*d)
	case harness.Burst, harness.Closed:
		if s.Duration > 0 {
			return s.Duration
		}
		return count * cycle(p)
	case harness.Open:
		if s.Duration > 0 {
			return s.Duration
		}
		return time.Duration(float64(s.Requests) / s.Rate * float64(time.Second))
	case harness.Script:
		last := s.Until
		for _, e := range s.Events {
			last = max(last, e.At)
		}
		return last + election
	}
	return election
}
