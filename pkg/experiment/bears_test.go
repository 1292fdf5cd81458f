package experiment

import (
	"fmt"
	"strings"
	"testing"
)

// TestTooMany: what a machine does not bear is said before the run.
func TestTooMany(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		nodes            string
		transport, runAs string
		want             string
	}{
		{"[3, 200]", "nats", "process", ""},
		{"[3, 201]", "nats", "process", "201 nodes on one machine, with 2 processors: it bears about 200, and fewer that " +
			"talk all the time; expect invalid trials, or write hosting: {run_as: goroutine}, or spread them"},
		{"[201, 1000]", "nats", "goroutine", ""},
		{"[201, 1001]", "nats", "goroutine", "1001 nodes on one machine, with 2 processors: it bears about 1000, and fewer " +
			"that talk all the time; expect invalid trials, or spread them"},
		{"[201, 5000]", "sim", "process", ""},
	} {
		e, err := Parse("x.yaml", fmt.Appendf(nil, "algorithms: [mutex/naimi-trehel]\ntransport: %s\n"+
			"hosting: {run_as: %s}\nsweep: [{vary: nodes, over: %s}]\n", c.transport, c.runAs, c.nodes), Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		if got := e.tooMany(2); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%+v: %q", c, got)
		}
		said := strings.Contains(strings.Join(e.Notes, "\n"), "expect invalid trials")
		if bears := e.tooMany(1) == ""; bears && said {
			t.Errorf("%+v: notes %q", c, e.Notes)
		}
	}
}
