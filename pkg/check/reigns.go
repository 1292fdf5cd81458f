package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// reigns are who considered itself leader, and from when to when. A process that is paused goes on doing so.
type reigns struct {
	since   []time.Duration // by ID - 1; negative: it does not
	over    []reign
	vacant  time.Duration // since the crash of the only leader; negative: there is one, or none has crashed
	taken   sum           // from such crashes to the next leader
	doubles []double
}

type reign struct {
	of       algo.ID
	from, to time.Duration // to is negative while it lasts
}

// A double is a violation that objects to two leaders at once.
type double struct {
	violation int
	at        time.Duration
}

func newReigns(n int) *reigns {
	return &reigns{since: slices.Repeat([]time.Duration{-1}, n), vacant: -1}
}

// follow takes note of what r has changed; nothing of nil.
func (g *reigns) follow(r *trace.Record, e *elections) {
	if g == nil {
		return
	}
	before := g.leading()
	for i, since := range g.since {
		switch leads := e.faults.up[i] && e.Belief[i] == algo.ID(i+1); {
		case leads && since < 0:
			g.since[i] = r.At
			if g.vacant >= 0 {
				g.taken.add(r.At - g.vacant)
				g.vacant = -1
			}
		case !leads && since >= 0:
			g.since[i] = -1
			g.over = append(g.over, reign{algo.ID(i + 1), since, r.At})
		}
	}
	if r.Type == trace.Crash && before > 0 && g.leading() == 0 {
		g.vacant = r.At
	}
}

// leading is how many processes consider themselves leader.
func (g *reigns) leading() (n int) {
	for _, since := range g.since {
		if since >= 0 {
			n++
		}
	}
	return n
}

// doubled notes that the last violation is that of two leaders at an instant; nothing of nil.
func (g *reigns) doubled(j *Judge, at time.Duration) {
	if i := len(j.violations) - 1; g != nil && !slices.ContainsFunc(g.doubles, func(d double) bool {
		return d.violation == i
	}) {
		g.doubles = append(g.doubles, double{i, at})
	}
}

// finish is the end of the trial: each violation by two leaders says from when to when they led. It returns
// the metrics; of nil there are none.
func (g *reigns) finish(j *Judge, end time.Duration) []metric.Value {
	if g == nil {
		return nil
	}
	all := slices.Clone(g.over)
	for i, since := range g.since {
		if since >= 0 {
			all = append(all, reign{algo.ID(i + 1), since, -1})
		}
	}
	slices.SortStableFunc(all, func(a, b reign) int { return int(a.from - b.from) })
	for _, d := range g.doubles {
		var led []string
		for _, one := range all {
			if one.from <= d.at && (one.to < 0 || one.to >= d.at) {
				led = append(led, one.text(end))
			}
		}
		j.violations[d.violation] += ": " + strings.Join(led, ", ")
	}
	return []metric.Value{metric.Takeover.Of(g.taken.mean())}
}

func (r *reign) text(end time.Duration) string {
	if r.to < 0 {
		return fmt.Sprintf("p%d from %v to the end, %v", r.of, r.from, end)
	}
	return fmt.Sprintf("p%d from %v to %v", r.of, r.from, r.to)
}
