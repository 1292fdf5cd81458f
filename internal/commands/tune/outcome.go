package tune

import (
	"fmt"
	"math"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/console"
)

// The outcomes for an algorithm.
const (
	Found       = "found"
	Unknown     = "undecided"
	Unreachable = "unreachable"
)

// Outcome is one of Found, Unknown and Unreachable.
func (r *Result) Outcome() string {
	switch {
	case r.Best >= 0:
		return Found
	case r.Needs > 0:
		return Unknown
	}
	return Unreachable
}

// Why says why nothing was found, and what to do; "" if something was.
func (r *Result) Why(o *Options) string {
	switch r.Outcome() {
	case Found:
		return ""
	case Unknown:
		return fmt.Sprintf("cannot be decided in %s hours of quiet running; give --hours %s",
			console.Number(o.Hours), console.Number(round(r.Needs)))
	}
	best, cheapest := -1, math.Inf(1)
	for i := range r.Points {
		p := &r.Points[i]
		if p.Verdict == Costly {
			cheapest = min(cheapest, p.Sends())
		} else if p.Verdict != Down && (best < 0 || p.Rate < r.Points[best].Rate) {
			best = i
		}
	}
	if !math.IsInf(cheapest, 1) {
		return fmt.Sprintf("sends at least %s messages per second in the range; give a larger --span or "+
			"more --messages", console.Number(cheapest))
	}
	if best < 0 {
		return fmt.Sprintf("no setting brings a leader back before time_limit %v in most trials; raise "+
			"that, or give a larger --span%s", r.limit, r.wider())
	}
	p := &r.Points[best]
	return fmt.Sprintf("not reachable in the range: at least %s [%s, %s] false elections per hour, with %s; "+
		"give a larger --span or --budget", console.Number(p.Rate), console.Number(p.RateLow),
		console.Number(p.RateHigh), p.Settings)
}

// wider is what else than the span makes a search wider.
func (r *Result) wider() string {
	if r.spread == "" {
		return ""
	}
	return " or --spread"
}

// dropped says which settings of an algorithm were dropped because no leader came back, at all limits;
// "" if there are none.
func dropped(found []*Result) string {
	var list []string
	for _, r := range found {
		for i := range r.Points {
			if r.Points[i].Verdict == Down {
				list = append(list, r.Points[i].Settings)
			}
		}
	}
	if list == nil {
		return ""
	}
	more := ""
	if n := len(list); n > mostNamed {
		list, more = list[:mostNamed], fmt.Sprintf("; and %d more", n-mostNamed)
	}
	return fmt.Sprintf("dropped, since in most trials no leader came back before time_limit %v: %s%s",
		found[0].limit, strings.Join(list, "; "), more)
}

// mostNamed is how many settings are named that were dropped.
const mostNamed = 2
