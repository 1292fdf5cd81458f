package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

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

// TestBar_Explains: why a trial did not end well stands above the bar, once for each cell.
func TestBar_Explains(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := newStreams(nil, f, f, nil).newBar(f)
	for _, cell := range []string{"bully", "bully", "raft"} {
		p := at(3, trace.Invalid)
		p.Result.Reason = "the machine was too busy"
		b.tell(p, cell)
	}
	b.close()
	text, err := os.ReadFile(f.Name())
	if n := strings.Count(string(text), ": invalid: the machine was too busy\n"); err != nil || n != 2 {
		t.Errorf("%v: told %d times, want 2: %q", err, n, text)
	}
}
