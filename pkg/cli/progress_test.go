package cli

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/conclave-bench/conclave/internal/stats"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func at(finished int, status trace.Status) runner.Progress {
	return runner.Progress{Finished: finished, Planned: 240, Elapsed: 37 * time.Second,
		Left: 250 * time.Second, Result: &results.Trial{Status: status, Attempts: 1}}
}

func TestPlainProgress(t *testing.T) {
	var text bytes.Buffer
	p := &plainProgress{w: &text, begun: time.Now(), last: time.Now()}
	p.tell(at(36, "ok"), "bully/nodes=9")
	if text.Len() > 0 {
		t.Errorf("a line at once: %q", text.String())
	}
	p.last = time.Now().Add(-10 * time.Second)
	p.tell(at(37, "ok"), "bully/nodes=9")
	p.tell(at(38, "ok"), "bully/nodes=9")
	if want := "trial 37/240 cell=bully/nodes=9 status=ok eta=4m10s\n"; text.String() != want {
		t.Errorf("got %q, want %q", text.String(), want)
	}
	text.Reset()
	p.tell(at(240, "timeout"), "bully/nodes=9")
	has(t, text.String(), "trial 240/240", "status=timeout")
}

func TestJSONProgress(t *testing.T) {
	r := bench(t, "run", write(t, "small.yaml", small), "--out", t.TempDir(), "--progress", "json").
		want(t, Good)
	seen := 0
	for line := range strings.Lines(r.errors) {
		var p struct {
			Finished, Planned, Trial int
			Status                   string
		}
		if strings.HasPrefix(line, "{") {
			seen++
			if err := json.Unmarshal([]byte(line), &p); err != nil || p.Planned != 56 || p.Status == "" {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	if seen != 56 {
		t.Errorf("%d objects, want 56", seen)
	}
}

func TestBar_LineFitsTheTerminal(t *testing.T) {
	b := &bar{now: at(120, "ok"), cell: "bully/nodes=9/loss=0.05",
		trouble: map[trace.Status]int{trace.TimedOut: 3}}
	has(t, b.line(37*time.Second, 120),
		"[##########----------] 120/240 37s eta 4m10s timeout 3 bully/nodes=9")
	for width := range 100 {
		if n := utf8.RuneCountInString(b.line(time.Second, width)); n > width {
			t.Errorf("%d columns in %d", n, width)
		}
	}
	has(t, (&bar{}).line(0, 80), "starting")
}

// A figure of the table is a median with its interval, whose ends are open where
// trials timed out.
func TestEstimate(t *testing.T) {
	none := math.NaN()
	for _, c := range []struct {
		s    stats.Summary
		want string
	}{
		{stats.Summary{N: 7, Median: 28.07, CILow: 1, CIHigh: 104.24}, "28.07 [1, 104.2]"},
		{stats.Summary{N: 5, Median: 2, CILow: none, CIHigh: none}, "2 [n/a]"},
		{stats.Summary{N: 7, Censored: 1, Median: 2, CILow: 1, CIHigh: none}, "2 [1, ...]"},
		{stats.Summary{N: 5, Censored: 9, Median: none, CILow: 8, CIHigh: none}, "timeout [8, ...]"},
		{stats.Summary{Censored: 3, Median: none, CILow: none, CIHigh: none}, "timeout [n/a]"},
		{stats.Summary{Median: none, CILow: none, CIHigh: none}, "n/a"},
	} {
		if got := estimate(c.s); got != c.want {
			t.Errorf("%+v: %q, want %q", c.s, got, c.want)
		}
	}
	for v, want := range map[float64]string{
		0: "0", 0.0125: "0.013", 1: "1", 28.07: "28.07", 38.1: "38.1", 104.24: "104.2", 1511: "1511",
		12345.6: "12346", -3.25: "-3.25", 99999999: "99999999",
	} {
		if got := estimate(stats.Summary{N: 1, Median: v, CILow: none, CIHigh: none}); got != want+" [n/a]" {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}
