package compare

import (
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// loaded is a run whose trials have these figures of the machine.
func loaded(transport string, change func(t *results.Trial), figures ...metric.Value) *results.Table {
	t := run(transport, 10, func(trial *results.Trial, _ int) {
		trial.Set(figures...)
		if change != nil {
			change(trial)
		}
	})
	t.Metrics = append(t.Metrics, "skew", "busy_share", "steal_share")
	return t
}

// TestMachines: runs on machines that had more to do than each other are compared with
// a warning that comes before the verdicts.
func TestMachines(t *testing.T) {
	figure := func(name string, v float64) metric.Value { return metric.Value{Name: name, Value: v} }
	marked := func(n int) func(*results.Trial) {
		return func(trial *results.Trial) {
			if trial.Repetition <= n {
				trial.Reason = "late: hm"
			}
		}
	}
	inOneCell := func(trial *results.Trial) {
		if is("raft", 5, trial) {
			values := trial.Metrics()
			trial.Set(metric.Value{Name: values[len(values)-1].Name, Value: 0.2})
		}
	}
	for name, test := range map[string]struct {
		base, new *results.Table
		want      string // of the only warning; "": there is none
	}{
		"nothing is known": {run("nats", 10, nil), loaded("nats", nil, figure("skew", 0.9)), ""},
		"the same":         {loaded("nats", nil, figure("skew", 0.05)), loaded("nats", nil, figure("skew", 0.05)), ""},
		"hardly":           {loaded("nats", nil, figure("skew", 0.05)), loaded("nats", nil, figure("skew", 0.1)), ""},
		"late":             {loaded("nats", nil, figure("skew", 0.05)), loaded("nats", nil, figure("skew", 0.3)), "lateness of messages and timers is 5 % of a time in the base and 30 % in the new run (bully, nodes=3); this may"},
		"late before":      {loaded("nats", nil, figure("skew", 0.3)), loaded("nats", nil, figure("skew", 0.05)), "is 30 % of a time in the base and 5 % in the new run"},
		"late in one cell": {loaded("nats", nil, figure("skew", 0.05)), loaded("nats", inOneCell, figure("skew", 0.05)), "20 % in the new run (raft, nodes=5)"},
		"busy":             {loaded("nats", nil, figure("busy_share", 0.3)), loaded("nats", nil, figure("busy_share", 0.9)), "processors were busy for 30 % of the time and 90 %; this may"},
		"busy in one cell": {loaded("nats", nil, figure("busy_share", 0.3)), loaded("nats", inOneCell, figure("busy_share", 0.3)), ""},
		"stolen":           {loaded("nats", nil, figure("steal_share", 0)), loaded("nats", nil, figure("steal_share", 0.1)), "a hypervisor gave 0 % of the processors to others and 10 %"},
		"marked":           {loaded("nats", nil), loaded("nats", marked(2)), "0 of 40 trials are marked, repeated or invalid in the base and 8 of 40 in the new run"},
		"one marked":       {loaded("nats", nil), loaded("nats", marked(1)), ""},
		"repeated":         {loaded("nats", func(trial *results.Trial) { trial.Attempts = 2 }), loaded("nats", nil), "40 of 40 trials"},
		"simulated":        {loaded("sim", nil, figure("skew", 0.05)), loaded("sim", nil, figure("skew", 0.3)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := compared(t, test.base, test.new, Options{}).Warnings
			if (len(got) > 0) != (test.want != "") || len(got) > 1 || len(got) == 1 &&
				(!strings.HasPrefix(got[0], "the machines were busier during one of the runs: ") ||
					!strings.Contains(got[0], test.want)) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
