package results

import (
	"math"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/link"
)

// A route is a row of links.csv.
type route struct {
	link.Route
	state, percentiles                     string
	clockError, least, p50, p90, p99, most float64 // ms
}

func routeOf(r *link.Route) *route {
	out := &route{Route: *r, state: r.State(), clockError: figureMS(r.ClockError)}
	for i, to := range map[int]*float64{0: &out.least, 50: &out.p50, 90: &out.p90, 99: &out.p99,
		100: &out.most} {
		if *to = math.NaN(); len(r.Delays) > i {
			*to = figureMS(r.Delays[i])
		}
	}
	words := make([]string, len(r.Delays))
	for i, d := range r.Delays {
		words[i] = Number(figureMS(d))
	}
	out.percentiles = strings.Join(words, " ")
	return out
}

// figureMS is a time that may be negative.
func figureMS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

var routes = []field[route]{
	{name: "part", at: func(r *route) any { return &r.Part },
		doc: "of the run, from 1 on: an execution of it, or a round"},
	{name: "phase", at: func(r *route) any { return &r.Phase },
		doc: "`before` or `after` the trials, by probes from host to host; `during` them, by their " +
			"messages, with `network.real`"},
	{name: "from_host", at: func(r *route) any { return &r.From }, doc: "the host of the sender"},
	{name: "to_host", at: func(r *route) any { return &r.To }, doc: "the host of the receiver"},
	{name: "state", at: func(r *route) any { return &r.state },
		doc: "`" + link.Measured + "`; `" + link.Swallowed + "`: the median is no longer than " +
			"`clock_error_ms`; `" + link.Silent + "`: nothing arrived. Every pair of hosts has a row"},
	{name: "sent", at: func(r *route) any { return &r.Sent },
		doc: "probes with what TCP had to send again, or messages"},
	{name: "lost", at: func(r *route) any { return &r.Lost },
		doc: "probes that had no answer, and packets of theirs that TCP had to send again (on Linux). 0 of " +
			"messages, which TCP brings late instead"},
	{name: "clock_error_ms", at: func(r *route) any { return &r.clockError },
		doc: "by how much each delay of the row can be wrong, in either direction: how well the clocks " +
			"of the two hosts are known"},
	{name: "clock_source", at: func(r *route) any { return &r.ClockSource },
		doc: "what `clock_error_ms` rests on, joined by `+`: `exchange` of messages with `bench` and " +
			"between hosts; a time service of the hosts: `clockbound`, `chrony`, `ptp`"},
	{name: "min_ms", at: func(r *route) any { return &r.least },
		doc: "the shortest delay from sending to arrival at the receiver's socket. By clocks that are " +
			"wrong it can be negative"},
	{name: "p50_ms", at: func(r *route) any { return &r.p50 }, doc: "the median"},
	{name: "p90_ms", at: func(r *route) any { return &r.p90 }, doc: "likewise"},
	{name: "p99_ms", at: func(r *route) any { return &r.p99 }, doc: "likewise"},
	{name: "max_ms", at: func(r *route) any { return &r.most }, doc: "the longest delay"},
	{name: "percentiles_ms", at: func(r *route) any { return &r.percentiles },
		doc: "the percentiles 0 to 100, with spaces between: what `network.recorded` draws from"},
}
