package twin

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

const us = time.Microsecond

// machine is what trials of a machine would be on which handling costs c.
func machine(t *testing.T, c *harness.Costs) (trials []Trial) {
	t.Helper()
	for i := range Loads {
		e, err := Loads[i].Experiment()
		if err != nil {
			t.Fatal(err)
		}
		for _, planned := range e.Trials() {
			twins, err := twinsOf([]Trial{{Load: Loads[i].Name, Plan: planned.Plan}}, c)
			if err != nil {
				t.Fatal(err)
			}
			trials = append(trials, twins...)
		}
	}
	return trials
}

// TestOf: from trials where handling takes what is known, the fit finds what it takes.
func TestOf(t *testing.T) {
	t.Parallel()
	was := harness.Costs{Processors: 2, Wake: link.Uniform(30*us, 50*us), Receive: 4 * us, Send: 3 * us,
		Timer: 4 * us, Relay: 30 * us, Rest: 60 * us, Transit: 70 * us}
	fit, err := Of(machine(t, &was), 2)
	if err != nil {
		t.Fatal(err)
	}
	c := &fit.Costs
	for _, f := range []struct {
		name           string
		got, want, off time.Duration
	}{
		{"receive", c.Receive, was.Receive, us / 2}, {"send", c.Send, was.Send, us / 2},
		{"transit", c.Transit, was.Transit, 2 * us}, {"relay", c.Relay, was.Relay, 10 * us},
		{"rest", c.Rest, was.Rest, 10 * us}, {"the median of wake", c.Wake.Draw(1 << 63), 40 * us, 3 * us},
	} {
		if math.Abs(float64(f.got-f.want)) > float64(f.off) {
			t.Errorf("%s is %v, want %v ± %v", f.name, f.got, f.want, f.off)
		}
	}
	for _, l := range fit.Lateness {
		for k := range Quantiles {
			if off := float64(l.Twin[k])/float64(l.Real[k]) - 1; math.Abs(off) > 0.15 {
				t.Errorf("%s: p%v is %v, want %v", l.Load, 100*Quantiles[k], l.Twin[k], l.Real[k])
			}
		}
	}
}

// TestOf_TooFew: without trials there is nothing to fit.
func TestOf_TooFew(t *testing.T) {
	t.Parallel()
	if _, err := Of(nil, 2); err == nil || !strings.Contains(err.Error(), "expected 20") {
		t.Errorf("%v", err)
	}
	var valid []Trial
	for _, trial := range machine(t, &harness.Costs{Processors: 2, Wake: link.Constant(40 * us), Receive: 9 * us}) {
		if trial.Load != crowds[1] {
			valid = append(valid, trial)
		}
	}
	if _, err := Of(valid, 2); err == nil || !strings.Contains(err.Error(), crowds[1]) {
		t.Errorf("%v", err)
	}
}
