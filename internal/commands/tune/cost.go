package tune

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/base/stats"
)

// A level is a limit of messages per second, and the contenders with the intervals between heartbeats
// that spend it.
type level struct {
	limit      float64
	contenders []*Contender
}

// leeway is how far above a limit the setting of an algorithm may be that has no interval to spend it with.
// Of the others the heartbeats are what the limit allows, and what false elections send comes on top.
const leeway = 1.05

// levels are the limits, each with the contenders as they spend it. Those that nobody gave are the
// geometric mean of what the contenders send as the file has them, four times as much, and a quarter.
func (o *Options) levels(ctx context.Context, contenders []*Contender) (out []level, err error) {
	costs := make([]float64, len(contenders))
	mean := 0.0
	for i, c := range contenders {
		if costs[i], err = o.cost(ctx, c, 1); err != nil {
			return nil, err
		}
		if !(costs[i] > 0) {
			return nil, refuse("%s sends no messages while nothing happens", c.Label)
		}
		mean += math.Log(costs[i]) / float64(len(contenders))
	}
	limits := o.Messages
	if limits == nil {
		usual := math.Exp(mean)
		limits = []float64{round(usual), round(4 * usual), round(usual / 4)}
	}
	for _, limit := range limits {
		l := level{limit: limit}
		for i, c := range contenders {
			if c, err = o.spending(ctx, c, limit, costs[i]); err != nil {
				return nil, err
			}
			l.contenders = append(l.contenders, c)
		}
		out = append(out, l)
	}
	return out, nil
}

// spending is c with the interval at which it sends so many messages per second, if it can have such.
func (o *Options) spending(ctx context.Context, c *Contender, limit, cost float64) (*Contender, error) {
	if c.beat == "" {
		return c, nil
	}
	file := float64(c.interval)
	interval := file * cost / limit
	for range 2 { // what else is sent does not follow the interval
		got, err := o.cost(ctx, c.beats(whole(interval)), interval/file)
		if err != nil {
			return nil, err
		}
		if !(got > 0) {
			break
		}
		interval *= got / limit
	}
	return c.beats(whole(interval)), nil
}

// whole is a duration that a file for people has.
func whole(d float64) time.Duration { return time.Duration(math.Round(round(max(d, 1e3)))) }

// cost is how many messages per second c sends while nothing happens, with so many times the time-out of
// the file, or with that if it is longer; NaN if the experiment is not allowed so.
func (o *Options) cost(ctx context.Context, c *Contender, times float64) (float64, error) {
	patience := c.base
	if c.duration {
		patience = c.fit(c.base * max(times, 1)) // so long that heartbeats are all that is sent
	}
	e, err := c.crashes(patience, c.share, 0)
	if isMistake(err) {
		return math.NaN(), nil
	}
	if err != nil {
		return 0, err
	}
	warm := warmUp(e)
	long := 100 * max(c.interval, warm/5)
	if e, err = c.quiet(patience, c.share, long.Hours(), warm, 1, -1); err != nil {
		return 0, err
	}
	trials, err := o.Run(ctx, e)
	if err != nil {
		return 0, err
	}
	var q Quiet
	q.add(trials, warm, 0)
	return q.Sends(), nil
}

// counts are the trials of points around a setting, and how many different settings that are.
func counts(points []*Point) (all []stats.Count) {
	for _, p := range points {
		all = append(all, p.trials...)
	}
	return all
}

// nearest sorts points by their distance from a setting.
func nearest(points []*Point, to float64) []*Point {
	return slices.SortedFunc(slices.Values(points), func(a, b *Point) int {
		return cmp.Compare(math.Abs(math.Log(a.Patience/to)), math.Abs(math.Log(b.Patience/to)))
	})
}
