package zabfle_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/plugins/election/zabfle"
)

// TestOracle: "at most one leader for each epoch" is what discovery has to see to
// alone. So whoever is to lead is drawn here, for each process anew and as if there
// were no vote; messages of discovery are lost, doubled and overtaken, and processes
// come back with what they had saved.
func TestOracle(t *testing.T) {
	t.Parallel()
	leaderships, twice := 0, 0
	for seed := range uint64(300) {
		o := newOracle(t, seed)
		for range 400 {
			if err := o.act(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		leaderships += len(o.leaders)
		for _, by := range o.proposers {
			if len(by) > 1 {
				twice++
			}
		}
	}
	if leaderships < 3000 || twice < 300 {
		t.Errorf("%d epochs were led, %d proposed by two: nothing was tried", leaderships, twice)
	}
}

// An oracle is a few processes, and what is on its way between them.
type oracle struct {
	t         *testing.T
	rng       *rand.Rand
	setup     *harness.Setup
	processes []*algo.Stepper // by ID - 1
	lives     []uint32
	saved     []algo.Message
	awaited   []bool // the timer of discovery is set
	pool      []flight
	votes     int64
	leaders   epochs
	proposers map[uint64][]algo.ID
}

type flight struct {
	from, to algo.ID
	m        algo.Message
}

func newOracle(t *testing.T, seed uint64) *oracle {
	rng := rand.New(rand.NewPCG(seed, 1))
	n := 3 + 2*rng.IntN(2)
	p := plan(t, n, params{"discovery": true}, harness.Scenario{Plot: &harness.Script{}})
	setup, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	o := &oracle{t: t, rng: rng, setup: setup, processes: make([]*algo.Stepper, n),
		lives: make([]uint32, n), saved: make([]algo.Message, n), awaited: make([]bool, n),
		leaders: epochs{}, proposers: map[uint64][]algo.ID{}}
	for i := range n {
		o.live(algo.ID(i + 1))
	}
	return o
}

// live begins a life of p.
func (o *oracle) live(p algo.ID) {
	c := o.setup.Config(p, o.lives[p-1], o.saved[p-1])
	o.processes[p-1] = algo.NewStepper(o.setup.Alg, c, 1, &algo.Buffer{})
	o.lives[p-1]++
	o.awaited[p-1] = false
}

func (o *oracle) someone() algo.ID { return algo.ID(1 + o.rng.IntN(len(o.processes))) }

// act does the next thing.
func (o *oracle) act() error {
	p := o.someone()
	switch what := o.rng.IntN(100); {
	case what < 80 && len(o.pool) > 0:
		i := o.rng.IntN(len(o.pool))
		f := o.pool[i]
		if o.rng.IntN(10) > 0 { // otherwise there is a second copy
			o.pool = slices.Delete(o.pool, i, i+1)
		}
		if o.rng.IntN(10) == 0 { // it is lost
			return nil
		}
		return o.feed(f.to, algotest.Hear(f.from, f.m))
	case what < 96:
		return o.elect(p, o.choose(p))
	case what < 98:
		o.live(p)
		return o.feed(p, algo.Event{Type: algo.Start})
	case o.awaited[p-1]:
		return o.feed(p, algotest.Expire("discovery"))
	}
	return nil
}

// choose is whom p is made to follow: mostly one of two, who mostly follow themselves.
func (o *oracle) choose(p algo.ID) algo.ID {
	switch {
	case o.rng.IntN(10) == 0:
		return o.someone()
	case p <= 2:
		return p
	}
	return algo.ID(1 + o.rng.IntN(2))
}

// elect makes p follow leader: a majority has told it that they vote for that one.
func (o *oracle) elect(p, leader algo.ID) error {
	o.votes++
	err := o.feed(p, algo.Event{Type: algo.Elect})
	for i := range o.processes {
		if q := algo.ID(i + 1); q != p && err == nil {
			err = o.feed(p, algotest.Hear(q, zabfle.Notification{
				Vote:  zabfle.Vote{Zxid: o.votes, ID: leader},
				Clock: uint64(o.votes) * 1000, State: zabfle.Looking,
			}))
		}
	}
	if err != nil {
		return err
	}
	return o.feed(p, algotest.Expire("finalize"))
}

// feed hands p an event.
func (o *oracle) feed(p algo.ID, ev algo.Event) error {
	for _, e := range o.processes[p-1].Step(0, ev) {
		switch m := e.Msg.(type) {
		case zabfle.Notification:
			continue
		case zabfle.NewEpoch:
			if by := o.proposers[m.Epoch]; !slices.Contains(by, p) {
				o.proposers[m.Epoch] = append(by, p)
			}
		}
		switch {
		case e.Op == algo.OpSend:
			o.pool = append(o.pool, flight{p, e.Peer, e.Msg})
		case e.Op == algo.OpSave:
			o.saved[p-1] = e.Msg
		case e.Timer == "discovery":
			o.awaited[p-1] = e.Op == algo.OpSetTimer
		case e.Op == algo.OpElected:
			if err := o.leaders.elected(p, e.Peer, e.Term); err != nil {
				return err
			}
		}
	}
	if err := o.processes[p-1].Invariant(); err != nil {
		return fmt.Errorf("p%d: %w", p, err)
	}
	return nil
}
