package rare

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Mistakes makes the trials of a plan in which no process crashes, one for each height. A trial is beyond
// every bound if between the instants from and to a leader gives up or another process begins to lead; else
// its value is 0. A silence of one follower that is longer than enough is no higher than that, where it takes
// several of them: of paths with one that is silent for very long hardly any ends in a mistake.
func Mistakes(p *harness.Plan, from, to, enough time.Duration) (trials []Trial) {
	for _, h := range silences {
		trials = append(trials, func(b Branch, until float64, peaks bool) (Path, error) {
			plan := *p
			plan.Seed = b[0].Seed
			setup, err := plan.Setup()
			if err != nil {
				return Path{}, err
			}
			w := newVigil(setup, h, from, to)
			w.enough = enough
			w.track = track{branch: b[1:], until: until, keep: peaks}
			w.anchor = setup.Alg.Spec.Survives.AnchorOf(setup.Params)
			w.follow(setup, w, w.over)
			return w.path(setup)
		})
	}
	return trials
}

// Alone says whether one follower that hears nothing of the leader has it deposed, by a trial up to the
// instant until: then the silence at one follower is what leads to a mistake, else that at many.
func Alone(p *harness.Plan, until time.Duration) (bool, error) {
	if p.Leader == algo.None || p.Nodes < 3 {
		return true, nil
	}
	plan := *p
	follower := algo.ID(1)
	if follower == p.Leader {
		follower = 2
	}
	gone := 1.0
	plan.Network.Links = append([]link.Own{{Links: [][2]uint32{{uint32(p.Leader), uint32(follower)}},
		Loss: &gone}},
		p.Network.Links...)
	setup, err := plan.Setup()
	if err != nil {
		return false, err
	}
	w := newVigil(setup, silences[0], 0, until)
	w.until = math.Inf(1)
	w.follow(setup, w, w.over)
	path, err := w.path(setup)
	return math.IsInf(path.Top.Height, 1), err
}

// Count is how many false elections the trial of a plan has between two instants: how often a process
// begins to lead, and one for a leader that has given up at the end.
func Count(p *harness.Plan, from, to time.Duration) (int, error) {
	setup, err := p.Setup()
	if err != nil {
		return 0, err
	}
	setup.Virtual = true
	c := &census{from: from, to: to, leader: setup.Leader}
	s := sim.New(setup, c)
	s.RunUntil(to)
	if s.Done() && s.End().Reason == harness.Broken {
		return 0, fmt.Errorf("%s: a trial could not be run: %w", setup.Label, s.End().Err)
	}
	if c.open {
		c.count++
	}
	return c.count, nil
}

// A census counts elections.
type census struct {
	from, to time.Duration
	leader   algo.ID
	open     bool // the leader has given up, and none has followed it
	count    int
}

// Record sees each record.
func (c *census) Record(r *trace.Record) {
	if r.Type != trace.Elected || r.At >= c.to {
		return
	}
	by, leads := algo.ID(r.Process), algo.ID(r.Peer)
	switch {
	case by == leads && (by != c.leader || c.open):
		if r.At >= c.from {
			c.count++
		}
		c.leader, c.open = by, false
	case by == c.leader && leads != by && r.At >= c.from:
		c.open = true
	}
}

// silences are the importance functions: for how long the followers that can depose the leader have not
// heard it, or it them. Of a leader that holds a lease of a store it is for how long it has heard nothing.
var silences = []func(w *vigil, now time.Duration) time.Duration{(*vigil).ofMany, (*vigil).ofOne}

// A vigil follows a path of a trial in which nothing should happen.
type vigil struct {
	track
	from, to time.Duration
	height   func(w *vigil, now time.Duration) time.Duration
	enough   time.Duration // see Mistakes
	anchor   algo.ID       // the store; None: there is none
	leader   algo.ID
	heard    [][]time.Duration // when each last heard each, by ID - 1
	silent   []time.Duration
}

func newVigil(setup *harness.Setup, height func(*vigil, time.Duration) time.Duration,
	from, to time.Duration) *vigil {
	setup.Virtual = true
	w := &vigil{from: from, to: to, height: height, leader: setup.Leader,
		heard: make([][]time.Duration, setup.Nodes)}
	for i := range w.heard {
		w.heard[i] = make([]time.Duration, setup.Nodes)
	}
	return w
}

// over says whether the trial is long enough.
func (w *vigil) over() bool { return w.sim.Now() > w.to }

// Record sees each record before the process handles the event.
func (w *vigil) Record(r *trace.Record) {
	if w.left {
		return
	}
	w.records++
	if r.At >= w.from && r.At < w.to {
		if w.mistaken(r) {
			w.rise(math.Inf(1))
		} else if w.leader != algo.None {
			w.rise(float64(w.height(w, r.At)))
		}
		if w.left {
			return
		}
	}
	w.redraw()
	switch {
	case r.Type == trace.Deliver && r.Plane == trace.Data:
		w.heard[r.Process-1][r.Peer-1] = r.At
	case r.Type == trace.Elected && r.Process == r.Peer:
		w.leader = algo.ID(r.Process)
	}
}

// mistaken says whether r is a leader that gives up, or a new one.
func (w *vigil) mistaken(r *trace.Record) bool {
	if r.Type != trace.Elected {
		return false
	}
	by, leads := algo.ID(r.Process), algo.ID(r.Peer)
	return by == leads && by != w.leader || by == w.leader && leads != by
}

// ofOne is the longest silence between the leader and a follower.
func (w *vigil) ofOne(now time.Duration) time.Duration { return w.silence(now, 1) }

// ofMany is the sum of the silences between the leader and as many followers as can depose it: of a sum a
// loss at one of them is a step already.
func (w *vigil) ofMany(now time.Duration) time.Duration {
	return w.silence(now, Deposing(len(w.heard)))
}

// Deposing is how many followers of n processes have to miss the leader, where no fewer can depose it:
// they are a majority without it.
func Deposing(n int) int { return max(min(n/2+1, n-1), 1) }

// silence is for how long k followers have not heard the leader, or the leader k followers, all together,
// whichever is longer.
func (w *vigil) silence(now time.Duration, k int) time.Duration {
	if w.anchor != algo.None {
		return now - w.heard[w.leader-1][w.anchor-1]
	}
	return max(w.longest(now, k, func(other int) time.Duration { return w.heard[other][w.leader-1] }),
		w.longest(now, k, func(other int) time.Duration { return w.heard[w.leader-1][other] }))
}

// longest is the sum of the k longest of the silences between the leader and the others.
func (w *vigil) longest(now time.Duration, k int, last func(other int) time.Duration) (sum time.Duration) {
	w.silent = w.silent[:0]
	for other := range w.heard {
		if algo.ID(other+1) != w.leader {
			w.silent = append(w.silent, now-last(other))
		}
	}
	slices.Sort(w.silent)
	for _, d := range w.silent[max(len(w.silent)-k, 0):] {
		if k > 1 {
			d = min(d, w.enough)
		}
		sum += d
	}
	return sum
}

// path is what the path has come to.
func (w *vigil) path(setup *harness.Setup) (Path, error) {
	p := Path{Events: w.events, Top: w.top, Peaks: w.peaks}
	if !w.left {
		p.Events = w.sim.End().Events
	}
	return p, w.fault(setup)
}
