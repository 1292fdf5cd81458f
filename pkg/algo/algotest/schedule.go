package algotest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// Schedules is how many random schedules a test tries: a thousand, a hundred
// thousand with CONCLAVE_NIGHTLY set, or as many as CONCLAVE_SCHEDULES says.
func Schedules() uint64 {
	if few := os.Getenv("CONCLAVE_SCHEDULES"); few != "" {
		n, err := strconv.ParseUint(few, 10, 32)
		if err != nil || n == 0 {
			panic(fmt.Sprintf("CONCLAVE_SCHEDULES: %q is no positive number", few))
		}
		return n
	}
	if os.Getenv("CONCLAVE_NIGHTLY") != "" {
		return 100_000
	}
	return 1_000
}

// Schedule draws a random plan within an algorithm's model: everything that it
// says it survives may happen, and nothing else. Equal seeds draw equal plans.
func Schedule(id string, seed uint64) (harness.Plan, error) {
	alg, err := algo.Lookup(id)
	if err != nil {
		return harness.Plan{}, err
	}
	d := &draw{alg: alg, rng: rand.New(rand.NewPCG(seed, 0x7363686564756c65))}
	p := harness.Plan{
		Trial: "schedule", Algorithm: id, Label: alg.Spec.Name, Nodes: d.nodes(), Seed: seed,
		Shape: d.shape(), Detector: d.detector(), TimeLimit: 10 * time.Minute, InModel: true,
	}
	p.Network = d.network()
	if err := byDefault(alg, &p); err != nil {
		return p, err
	}
	if alg.Problem == algo.Election {
		d.election(&p)
	} else {
		d.entries(&p)
	}
	if alg.Problem == algo.MutualExclusion && !alg.Spec.Promises.StarvationFree {
		p.TimeLimit = time.Second // it may go on for ever, and may
	}
	return p, byDefault(alg, &p) // some know the load
}

// byDefault gives the plan the parameters of an experiment that sets none.
func byDefault(alg *algo.Algorithm, p *harness.Plan) error {
	params, errs := alg.Spec.Resolve(nil, p.Known())
	p.Params = params
	return errors.Join(errs...)
}

// draw makes the choices of one schedule.
type draw struct {
	alg *algo.Algorithm
	rng *rand.Rand
}

func (d *draw) nodes() int {
	for {
		n := 1 + d.rng.IntN(9)
		if needs := d.alg.Spec.Needs.Nodes; needs == nil || needs(n) == nil {
			return n
		}
	}
}

func (d *draw) shape() algo.Shape {
	s := algo.DefaultShape(d.alg.Spec.Needs.Topology)
	if s.Kind == "tree" {
		s.Tree = []string{"path", "star", "binary", "random"}[d.rng.IntN(4)]
	}
	return s
}

func (d *draw) detector() harness.Detector {
	if d.alg.Spec.Needs.Detector == algo.NoDetector {
		return harness.NoDetector()
	}
	return harness.PerfectDetector(d.span(time.Millisecond, 20*time.Millisecond))
}

func (d *draw) span(lo, hi time.Duration) time.Duration {
	return lo + time.Duration(d.rng.Int64N(int64(hi-lo)+1))
}

// network draws latencies with a ratio up to 1:100, unordered where order is not
// needed, and unbounded where no bound is needed.
func (d *draw) network() link.Network {
	needs, survives := d.alg.Spec.Needs, d.alg.Spec.Survives
	hi := d.span(100*time.Microsecond, 10*time.Millisecond)
	n := link.Network{
		Latency: link.Uniform(hi/100, hi), Unordered: !needs.FIFO && d.rng.IntN(2) == 0,
	}
	switch {
	case d.rng.IntN(4) == 0:
		n.Latency = link.Constant(hi)
	case needs.Synchrony == algo.Asynchronous && d.rng.IntN(3) == 0:
		n.Latency = link.Latency{Distribution: "exponential", Mean: hi / 10}
	}
	if survives.Loss && d.rng.IntN(2) == 0 {
		n.Loss = 0.1 * d.rng.Float64()
	}
	if survives.Duplication && d.rng.IntN(2) == 0 {
		n.Duplication = 0.1 * d.rng.Float64()
	}
	return n
}

// crashes is how many processes crash in this schedule.
func (d *draw) crashes(p *harness.Plan) int {
	most := min(d.alg.Spec.Survives.CrashesOf(p.Nodes, p.Params), p.Nodes-1)
	if most <= 0 {
		return 0
	}
	return d.rng.IntN(most + 1)
}

// election draws how an election comes about: from nothing, or after the leader
// crashed; with further crashes and recoveries while it goes on.
func (d *draw) election(p *harness.Plan) {
	crashes := d.crashes(p)
	if crashes == 0 {
		p.Scenario = harness.Scenario{Kind: harness.ColdStart, Initiators: 1 + d.rng.IntN(p.Nodes)}
		return
	}
	p.Leader = algo.ID(p.Nodes)
	p.Scenario = harness.Scenario{Kind: harness.Script}
	if d.alg.Spec.Needs.Detector == algo.NoDetector {
		p.Leader = algo.None // it notices by itself, and settles by itself
		p.Scenario.Until = 20 * time.Second
	}
	at := d.span(0, 50*time.Millisecond)
	victims := []algo.ID{algo.ID(p.Nodes)}
	for _, v := range d.rng.Perm(p.Nodes - 1)[:crashes-1] {
		victims = append(victims, algo.ID(v+1))
	}
	for _, victim := range victims {
		p.Scenario.Events = append(p.Scenario.Events,
			harness.Event{At: at, Do: harness.DoCrash, Node: victim})
		if d.alg.Spec.Survives.Recovery && d.rng.IntN(2) == 0 {
			back := at + d.span(time.Millisecond, 200*time.Millisecond)
			p.Scenario.Events = append(p.Scenario.Events,
				harness.Event{At: back, Do: harness.DoRestart, Node: victim})
		}
		at += d.span(0, 60*time.Millisecond)
	}
}

// entries draws how the critical section is asked for, with crashes where they
// are survived.
func (d *draw) entries(p *harness.Plan) {
	s := &p.Scenario
	s.Hold = link.Uniform(0, d.span(0, 5*time.Millisecond))
	s.Think = link.Uniform(0, d.span(0, 30*time.Millisecond))
	s.Requests = p.Nodes * (1 + d.rng.IntN(6))
	switch d.rng.IntN(3) {
	case 0:
		s.Kind, s.Initiators = harness.Burst, 1+d.rng.IntN(p.Nodes)
	case 1:
		s.Kind, s.Rate = harness.Open, 10+490*d.rng.Float64()
	default:
		s.Kind = harness.Closed
	}
	crashes := d.crashes(p)
	if crashes == 0 {
		return
	}
	*s = harness.Scenario{Kind: harness.Script, Hold: s.Hold}
	for range p.Nodes * 2 {
		s.Events = append(s.Events, harness.Event{
			At: d.span(0, 200*time.Millisecond), Do: harness.DoRequest,
			Node: algo.ID(1 + d.rng.IntN(p.Nodes)),
		})
	}
	for _, v := range d.rng.Perm(p.Nodes)[:crashes] {
		s.Events = append(s.Events, harness.Event{
			At: d.span(0, 200*time.Millisecond), Do: harness.DoCrash, Node: algo.ID(v + 1),
		})
	}
}

// failure is what went wrong in a schedule, with what repeats it.
func failure(id string, seed uint64, o Outcome) error {
	return fmt.Errorf("schedule %d: %s: %s (repeat: algotest.Schedule(%q, %d))",
		seed, o.Status, o.Reason, id, seed)
}
