// Package twin fits the simulator's message-handling costs to real nodes, and narrows the intervals
// of a real run by its simulated counterpart.
package twin

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Load is trials that show something of what handling costs.
type Load struct {
	Name, text string
}

// Loads are what is run on real nodes to fit costs: one message in flight, over a latency and over
// none, and crowds in which many processes want a processor at once.
var Loads = []Load{
	{alone, "algorithms: [mutex/central]\nnodes: 3\nnetwork: {latency: 2ms}\n" +
		"scenario: {kind: closed, requests: 15, think: 5ms, hold: 1ms}\nrepetitions: 8"},
	{bare, "algorithms: [mutex/central]\nnodes: 2\nnetwork: {latency: 0ms}\n" +
		"scenario: {kind: closed, requests: 100, think: 300us, hold: 300us}\nrepetitions: 3"},
	{crowds[0], "algorithms: [mutex/ricart-agrawala]\nnodes: 8\nnetwork: {latency: 2ms}\n" +
		"scenario: {kind: closed, requests: 32, think: 5ms, hold: 1ms}\nrepetitions: 6"},
	{crowds[1], "algorithms: [mutex/lamport]\nnodes: 8\nnetwork: {latency: 2ms}\n" +
		"scenario: {kind: closed, requests: 32, think: 5ms, hold: 1ms}\nrepetitions: 6"},
}

const alone, bare = "one in flight", "one in flight, no latency"

var crowds = [...]string{"a crowd that answers", "a crowd that tells all"}

// Experiment is the load as an experiment on real nodes.
func (l *Load) Experiment() (*experiment.Experiment, error) {
	return experiment.Parse("calibration.yaml", []byte(l.text), experiment.Overrides{})
}

// A Trial of a load is what happened in it on real nodes.
type Trial struct {
	Load    string
	Plan    harness.Plan
	Records trace.List
}

// A Fit is costs, and how well they fit.
type Fit struct {
	Costs    harness.Costs
	Handled  int // events from whose distance the time of handling is known
	Woken    int // wake-ups
	Lateness []Lateness
}

// A Lateness is how much later than due messages of a load were handled, at the quantiles of
// Quantiles.
type Lateness struct {
	Load               string
	Real, Twin, Before []time.Duration
}

// Quantiles are those of lateness that a fit is to meet.
var Quantiles = []float64{0.5, 0.75, 0.9}

// An event is what a real process handled at one instant.
type event struct {
	at, due time.Duration
	known   bool // when it was due
	message bool
	late    time.Duration // by the bus
	sends   int
}

// events are those of each process of the trial.
func (t *Trial) events() [][]event {
	out := make([][]event, t.Plan.Nodes)
	for i := range t.Records {
		r := &t.Records[i]
		switch r.Type {
		case trace.Crash, trace.Pause, trace.Resume, trace.Slow, trace.Cut, trace.Heal, trace.Cause, trace.Up,
			trace.Undelivered:
			continue
		}
		own := &out[r.Process-1]
		sends := r.Type == trace.Send || r.Type == trace.Duplicate
		if n := len(*own); n == 0 || (*own)[n-1].at != r.At {
			e := event{at: r.At, due: r.Due, known: !sends && r.Due != 0}
			if e.message = r.Type == trace.Deliver; e.message {
				e.late = time.Duration(r.Arg)
			}
			*own = append(*own, e)
		}
		if sends {
			(*own)[len(*own)-1].sends++
		}
	}
	return out
}

// enough is how few observations a figure needs.
const enough = 20

// Of fits the costs of a machine with so many processors.
func Of(trials []Trial, processors int) (*Fit, error) {
	f := &Fit{Costs: harness.Costs{Processors: processors}}
	if err := f.handling(trials); err != nil {
		return nil, err
	}
	if err := f.waking(trials); err != nil {
		return nil, err
	}
	if err := f.transit(trials); err != nil {
		return nil, err
	}
	return f, f.contention(trials)
}

// handling fits how long events take, by how soon what had come already was handled after them.
func (f *Fit) handling(trials []Trial) error {
	var received, timed []float64
	type sent struct {
		message bool
		took    float64
		sends   int
	}
	var sending []sent
	for i := range trials {
		for _, own := range trials[i].events() {
			for k := 1; k < len(own); k++ {
				e, next := &own[k-1], &own[k]
				if !next.known || next.due > e.at || next.late > 0 {
					continue
				}
				switch took := float64(next.at - e.at); {
				case e.sends > 0:
					sending = append(sending, sent{e.message, took, e.sends})
				case e.message:
					received = append(received, took)
				default:
					timed = append(timed, took)
				}
			}
		}
	}
	f.Handled = len(received) + len(timed) + len(sending)
	if len(received) < enough || len(sending) < enough {
		return fmt.Errorf("%d messages of %d were handled back to back, expected %d: the machine "+
			"was too fast or too busy", len(received), len(trials), enough)
	}
	c := &f.Costs
	c.Receive = median(received)
	if c.Timer = c.Receive; len(timed) >= enough {
		c.Timer = median(timed)
	}
	each := make([]float64, len(sending))
	for i, s := range sending {
		base := c.Timer
		if s.message {
			base = c.Receive
		}
		each[i] = (s.took - float64(base)) / float64(s.sends)
	}
	c.Send = max(median(each), 0)
	return nil
}

// waking fits how long it takes to wake, by what was late at processes that slept and had not
// learned yet how early to have themselves woken.
func (f *Fit) waking(trials []Trial) error {
	const first, asleep = 6, 500 * time.Microsecond
	var took []float64
	for i := range trials {
		if trials[i].Load != alone {
			continue
		}
		for _, own := range trials[i].events() {
			var lead clock.Lead
			for k, seen := 1, 0; k < len(own) && seen < first; k++ {
				e := &own[k]
				if !e.known { // a wake-up nevertheless
					lead.Woke(lead.Before() + 1)
				}
				if !e.known || e.late > 0 || e.due < own[k-1].at+asleep {
					continue
				}
				woke := max(e.at-e.due, 0) + lead.Before()
				lead.Woke(woke)
				took = append(took, float64(woke))
				seen++
			}
		}
	}
	if f.Woken = len(took); f.Woken < enough {
		return fmt.Errorf("%d wake-ups were seen, expected %d", f.Woken, enough)
	}
	slices.Sort(took)
	var w link.Quantiles
	for p := 0.05; p < 1; p += 0.1 {
		w.Values = append(w.Values, rounded(stats.Quantile(took, p)))
	}
	f.Costs.Wake = link.Latency{Law: &w}
	return nil
}

// transit fits what the bus takes, by messages that are due at once.
func (f *Fit) transit(trials []Trial) error {
	var took []float64
	for i := range trials {
		for k := range trials[i].Records {
			if r := &trials[i].Records[k]; trials[i].Load == bare && r.Type == trace.Deliver {
				took = append(took, float64(r.At-r.Sent))
			}
		}
	}
	if len(took) < enough {
		return fmt.Errorf("%d messages were seen that were due at once, expected %d", len(took), enough)
	}
	f.Costs.Transit = max(median(took)-f.Costs.Receive-f.Costs.Send, 0)
	return nil
}

// contention fits how long processors are busy with what is nobody's handling: with these times, the
// same trials are as late in simulation as they were.
func (f *Fit) contention(trials []Trial) error {
	var found [len(crowds)][]Trial
	for _, t := range trials {
		if i := slices.Index(crowds[:], t.Load); i >= 0 {
			found[i] = append(found[i], t)
		}
	}
	for i, name := range crowds {
		if len(found[i]) == 0 {
			return fmt.Errorf("no trial of %s is valid: the machine was too busy", name)
		}
		f.Lateness = append(f.Lateness, Lateness{Load: name, Real: lateness(found[i])})
	}
	var failed error
	const floor = 20 * time.Microsecond // below it, a ratio says little
	misfit := func(rest, relay time.Duration) (sum float64) {
		c := f.Costs
		c.Rest, c.Relay = rest, relay
		for i := range found {
			twin, err := simulated(found[i], &c)
			failed = cmp.Or(failed, err)
			f.Lateness[i].Twin = twin
			for k := range twin {
				d := math.Log(float64(twin[k]+floor) / float64(f.Lateness[i].Real[k]+floor))
				sum += float64(d * d)
			}
		}
		return sum
	}
	const grid = 20 * time.Microsecond
	best, c := math.Inf(1), &f.Costs
	try := func(rest, relay time.Duration) {
		if got := misfit(rest, relay); rest >= 0 && relay >= 0 && got < best {
			best, c.Rest, c.Relay = got, rest, relay
		}
	}
	for rest := range time.Duration(8) {
		for relay := range time.Duration(8) {
			try(rest*grid, relay*grid)
		}
	}
	for step := grid / 2; step >= 2*time.Microsecond; step /= 2 {
		rest, relay := c.Rest, c.Relay
		for i := range 9 {
			try(max(rest+time.Duration(i%3-1)*step, 0), max(relay+time.Duration(i/3-1)*step, 0))
		}
	}
	misfit(c.Rest, c.Relay)
	for i := range found {
		var err error
		f.Lateness[i].Before, err = simulated(found[i], nil)
		failed = cmp.Or(failed, err)
	}
	return failed
}

// simulated is the lateness of their messages in simulation.
func simulated(trials []Trial, c *harness.Costs) ([]time.Duration, error) {
	twins, err := twinsOf(trials, c)
	return lateness(twins), err
}

// twinsOf is the same trials in simulation.
func twinsOf(trials []Trial, c *harness.Costs) ([]Trial, error) {
	twins := make([]Trial, len(trials))
	for i := range trials {
		p := trials[i].Plan
		twins[i] = Trial{Load: trials[i].Load, Plan: p}
		p.Costs = c
		setup, err := p.Setup()
		if err != nil {
			return nil, err
		}
		setup.Virtual = true
		sim.Run(setup, &twins[i].Records)
	}
	return twins, nil
}

// lateness is how much later than due the messages of trials were handled, at the quantiles.
func lateness(trials []Trial) (out []time.Duration) {
	var late []float64
	for i := range trials {
		for k := range trials[i].Records {
			if r := &trials[i].Records[k]; r.Type == trace.Deliver {
				late = append(late, float64(r.At-r.Due))
			}
		}
	}
	slices.Sort(late)
	for _, p := range Quantiles {
		out = append(out, rounded(stats.Quantile(late, p)))
	}
	return out
}

func median(values []float64) time.Duration {
	slices.Sort(values)
	return rounded(stats.Quantile(values, 0.5))
}

// rounded is ns in a duration that can be read.
func rounded(ns float64) time.Duration {
	return time.Duration(math.Round(ns)).Round(100 * time.Nanosecond)
}
