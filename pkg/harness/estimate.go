package harness

import (
	"cmp"
	"runtime"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// What the estimate reckons with. It is for planning an afternoon, not for
// comparing algorithms.
const (
	nodeStart  = 10 * time.Millisecond // processor time to start and stop a real node
	nodeReused = time.Millisecond      // likewise, where its process is there already
	trialFrame = 10 * time.Millisecond // joining, draining, judging, recording
	hops       = 6                     // message delays and time-outs until an operation is over

	// Processor time of a simulated trial: fitted to fifty runs, see docs/evidence/performance.md.
	virtualTrial     = 670 * time.Microsecond // to hand it out, judge and record it
	virtualOperation = 4 * time.Microsecond
	virtualMessage   = 440 * time.Nanosecond // sent and handled
	virtualBeat      = 290 * time.Nanosecond // likewise, of a detector
	listed           = 7 * time.Nanosecond   // of each entry of a list that a message carries

	// Memory, in bytes: measured, see docs/evidence/large-runs.md.
	memorySimulator = 35 << 20  // of the process that simulates trials
	memoryProcess   = 4 << 10   // of a simulated process
	memoryMessage   = 350       // of a message under way, with what is kept of it
	memoryBus       = 30 << 20  // of bench and the bus, without nodes
	memoryNode      = 6 << 20   // of a real node that is a process
	memoryMember    = 700 << 10 // of a real node that shares a process
)

// Lasts is how long the scenario of a trial lasts, about, by the trial's own clock. The default
// time-outs of an election have that much slack.
func (p *Plan) Lasts() time.Duration {
	return p.Scenario.Does().Takes(p, hops*p.Network.Latency.Average()+40*time.Millisecond)
}

// Cost is roughly how long a trial takes on this machine, at least and at most: where
// elections cost what claims say of the least load, and of the worst.
//
// A real trial starts its nodes, so many at a time as there are processors, and
// then lasts as long as its scenario says: the settling and the detection of a
// crash, the requests one behind the other or as they arrive, the last line of
// a script. A simulated one costs its operations, its messages and the detector's heartbeats. Messages that
// carry lists cost their entries, of which there may be as many as processes.
func (p *Plan) Cost(virtual bool) (least, most time.Duration) {
	one := min(p.Lasts(), p.TimeLimit)
	if !virtual {
		each := nodeStart
		if p.PerProcess > 0 || p.Reuse {
			each = nodeReused
		}
		one += trialFrame + time.Duration(p.Nodes)*each/time.Duration(runtime.NumCPU())
		return one, one
	}
	n := float64(p.Operations() + p.strikes(one))
	lo, hi := p.messages()
	beats := p.Detector.Messages(p.Nodes, one) * float64(virtualBeat)
	frame := virtualTrial + time.Duration(n*float64(virtualOperation)) + time.Duration(beats)
	each := float64(p.message())
	return frame + time.Duration(n*lo*each), frame + time.Duration(n*hi*each)
}

// Records is how many records a trial leaves, about, where elections cost what claims say of the worst load:
// usually, and where it does not end before its time limit. Each message is sent and delivered.
func (p *Plan) Records() (usual, most float64) {
	const ofMessage, ofOperation, ofProcess = 2.2, 4, 2
	_, each := p.messages()
	of := func(during time.Duration) float64 {
		n := float64(p.Operations() + p.strikes(during))
		messages := float64(n*each) + p.Detector.Messages(p.Nodes, during)
		return float64(ofMessage*messages) + float64(ofOperation*n) + float64(ofProcess*float64(p.Nodes))
	}
	return of(min(p.Lasts(), p.TimeLimit)), of(p.TimeLimit)
}

// Underway is how many messages are under way at once, at most, about: those of all who begin together,
// where operations cost what claims say of the worst load.
func (p *Plan) Underway() float64 {
	_, each := p.messages()
	return each * float64(p.Scenario.Does().Together(p))
}

// Quadratic says whether as many messages may be under way at once as there are pairs of processes.
func (p *Plan) Quadratic() bool { return p.Underway() >= float64(p.Nodes)*float64(p.Nodes-1) }

// Memory is what a trial takes, in bytes, within a factor of four or so: algorithms keep more or less of each
// message.
func (p *Plan) Memory(virtual bool) float64 {
	n := float64(p.Nodes)
	switch {
	case virtual:
		return memorySimulator + float64(n*memoryProcess) + float64(p.Underway()*memoryMessage)
	case p.PerProcess > 0:
		return memoryBus + float64(n*memoryMember)
	}
	return memoryBus + float64(n*memoryNode)
}

// message is what sending and handling a message takes in simulation, about.
func (p *Plan) message() time.Duration {
	cost := virtualMessage
	alg, err := algo.Lookup(p.Algorithm)
	if err != nil {
		return cost
	}
	for kind := range alg.Spec.Messages {
		if !alg.Codec.Plain(uint8(kind)) { // it holds a list, or several
			return cost + time.Duration(p.Nodes)*listed
		}
	}
	return cost
}

// messages is how many messages an operation costs, about: what claims of the algorithm
// say, or else a handful for each process. Where they say nothing of the worst case, each
// of those who begin an election may cost as much as one alone.
func (p *Plan) messages() (least, most float64) {
	alg, err := algo.Lookup(p.Algorithm)
	if err != nil {
		return 0, 0
	}
	worst := false
	for _, c := range alg.Spec.Claims {
		_, hi := c.Bound(p.Nodes)
		most, worst = max(most, hi), worst ||
			slices.Contains([]string{"worst", "all begin", "mean", "one begins"}, c.Load)
	}
	if most == 0 {
		most = hops * float64(p.Nodes)
	}
	least = most
	if alg.Problem == algo.Election && !worst {
		most *= float64(cmp.Or(p.Scenario.Does().Begin(), p.Nodes))
	}
	return least, most
}

// strikes is how many elections what goes wrong leads to within a time, about.
func (p *Plan) strikes(during time.Duration) int {
	seconds := during.Seconds()
	n := p.Faults.CrashRate * float64(p.Nodes) * seconds
	for _, e := range p.Faults.Events {
		times := 1 + float64(e.Rate*seconds)
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
