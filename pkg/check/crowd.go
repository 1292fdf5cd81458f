package check

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// crowd is how many processes are inside at once, where an algorithm lets several in. All
// methods do nothing where it does not.
type crowd struct {
	inside int // since the instant last
	last   time.Duration
	stays  time.Duration // of all that were inside, added up
	busy   time.Duration // that somebody was inside
	most   int

	sessions bool
	entered  []time.Duration // the last entry of each process, by ID - 1; negative: none
	session  algo.Session    // of the last entry
	switches int
}

// newCrowd is nil where one is inside at a time.
func newCrowd(s *harness.Setup) *crowd {
	if !s.Alg.Spec.Admits.Several() {
		return nil
	}
	c := &crowd{sessions: s.Alg.Spec.Admits.Sessions != "", entered: make([]time.Duration, s.Nodes)}
	for i := range c.entered {
		c.entered[i] = -1
	}
	return c
}

// reset has nothing of until now count any more.
func (c *crowd) reset(at time.Duration) {
	if c != nil {
		*c = crowd{inside: c.inside, last: at, most: c.inside, sessions: c.sessions, session: c.session,
			entered: c.entered}
	}
}

// again says whether p has entered before beside one who is inside still, the first of those there:
// as long as one stays, others of its session may come and go.
func (c *crowd) again(p algo.ID, inside []stay) bool {
	return c != nil && c.sessions && len(inside) > 0 && c.entered[p-1] >= inside[0].since
}

// enters is a grant.
func (c *crowd) enters(p algo.ID, at time.Duration, s algo.Session) {
	if c == nil {
		return
	}
	c.entered[p-1] = at
	if c.session != 0 && c.session != s {
		c.switches++
	}
	c.session = s
}

// change is another number of processes inside.
func (c *crowd) change(at time.Duration, inside int) {
	if c == nil {
		return
	}
	if c.inside > 0 {
		c.busy += at - c.last
		c.stays += time.Duration(c.inside) * (at - c.last)
	}
	c.last, c.inside, c.most = at, inside, max(c.most, inside)
}

func (c *crowd) metrics(end time.Duration) []metric.Value {
	if c == nil {
		return nil
	}
	c.change(end, c.inside)
	out := []metric.Value{
		metric.Concurrency.Of(ratio(ms(c.stays), ms(c.busy))), metric.MostInside.Of(float64(c.most)),
	}
	if c.sessions {
		out = append(out, metric.SessionSwitches.Of(float64(c.switches)))
	}
	return out
}
