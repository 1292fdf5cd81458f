package host_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A watch notes what a clock shows, again and again after the same span. If it looks twice, it does
// so once more as soon as it can.
type watch struct {
	algo.Config
	span  time.Duration
	twice bool
	shows func(algo.Env) time.Duration
}

func (w *watch) Start(env algo.Env)                      { w.Timeout(env, "look") }
func (w *watch) Elect(algo.Env)                          {}
func (w *watch) Receive(algo.Env, algo.ID, algo.Message) {}
func (w *watch) Timeout(env algo.Env, t algo.Timer) {
	env.Logf("%d", w.shows(env))
	if t != "look" {
		return
	}
	env.SetTimer("look", w.span)
	if w.twice {
		env.SetTimer("again", time.Microsecond)
	}
}

func registerWatch(name, what string, span time.Duration, twice bool, shows func(algo.Env) time.Duration) {
	algo.RegisterElector(algo.Spec{
		Name: name, Summary: "notes what " + what + " shows", Perpetual: true,
		Paper:    algo.Paper{Authors: "test", Title: "test", Year: 2026},
		Messages: []algo.Message{Numbered{}},
		Params: []algo.Param{{Name: "look", Type: algo.Duration, Doc: "between two looks",
			Default: algo.Const(span)}},
		Periods: []algo.Period{{Param: "look", Timer: "look"}},
	}, func(c algo.Config) algo.Elector { return &watch{c, span, twice, shows} })
}

func init() {
	registerWatch("test-watch", "its clock", ms(50), false, algo.Env.Now)
	registerWatch("test-wall", "the wall clock", ms(5), true,
		func(algo.Env) time.Duration { return clock.Wall() })
}

// A reading is what a clock shows by the faults in the records, and how often it was looked
// at.
type reading struct {
	rate          float64
	from, showed  time.Duration
	event         time.Duration // when it was looked at: what a handler says comes when it has ended
	offset        time.Duration
	looks, faults int
}

func (r *reading) at(now time.Duration) time.Duration {
	return r.showed + time.Duration(r.rate*float64(now-r.from)) + r.offset
}

// TestTrial_Clocks: drift and skew do the same to clocks and timers in both worlds. Process 1
// is left alone; the clock of 2 runs twice as fast from 75 ms to 275 ms, so that it is looked
// at four times more; that of 3 is an hour behind in that time, which no timer notices.
func TestTrial_Clocks(t *testing.T) {
	p := failing(t, "election/test-watch", 3, harness.Scenario{Plot: &harness.Script{Until: ms(425),
		Events: []harness.Event{{At: ms(1), Do: harness.DoElect, Node: 1}}}},
		harness.Event{At: ms(75), Do: "drift", Node: 2, Args: fault.Args{Own: &fault.Drifting{Factor: 2}}, For: ms(200)},
		harness.Event{At: ms(75), Do: "skew", Node: 3, Args: fault.Args{Own: &fault.Skewing{By: -time.Hour}}, For: ms(200)})
	inBothWorlds(t, newMachine(t, 3), p, func(list trace.List, _ check.Verdict) error {
		clocks := [3]reading{{rate: 1}, {rate: 1}, {rate: 1}}
		for _, r := range list {
			if r.Process == 0 {
				continue
			}
			c := &clocks[r.Process-1]
			switch r.Type {
			case trace.Up, trace.Timeout:
				c.event = r.At
			case trace.Fault:
				f, i := fault.Parse(r.Text)
				if f == nil {
					return fmt.Errorf("p%d is under %q", r.Process, r.Text)
				}
				c.faults++
				if f.Name == "skew" {
					c.offset = 0
					if s, is := i.Args.Own.(*fault.Skewing); is {
						c.offset = s.By
					}
					break
				}
				c.showed, c.from = c.at(r.At)-c.offset, r.At
				if d, is := i.Args.Own.(*fault.Drifting); is {
					c.rate = d.Factor
				}
				if i.Undo {
					c.rate = 1
				}
			case trace.Log:
				var shows time.Duration
				if _, err := fmt.Sscan(r.Text, &shows); err != nil {
					return err
				}
				c.looks++
				if want := c.at(c.event); math.Abs(float64(shows-want)) > 10 {
					return fmt.Errorf("at %v the clock of p%d shows %v, want %v", c.event, r.Process, shows, want)
				}
			}
		}
		for i, want := range [3]reading{{looks: 9}, {looks: 13, faults: 2}, {looks: 9, faults: 2}} {
			if c := clocks[i]; c.looks != want.looks || c.faults != want.faults {
				return fmt.Errorf("p%d looked %d times at its clock and was under %d faults, want %d and %d",
					i+1, c.looks, c.faults, want.looks, want.faults)
			}
		}
		return nil
	})
}
