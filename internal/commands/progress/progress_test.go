package progress

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/conclave-bench/conclave/internal/commands/outcome"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/election/bully"
)

func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in %q", part, text)
		}
	}
}

// stands makes reports of a run of two repetitions of one cell, each with an election time.
func stands(t *testing.T) func(finished int, status trace.Status, electionMS float64) *Stand {
	e, err := experiment.Parse("e.yaml", []byte("name: e\nproblem: election\nalgorithms: [bully]\nnodes: 9\n"+
		"repetitions: 2\n"), experiment.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	o := outcome.New(e, "")
	return func(finished int, status trace.Status, electionMS float64) *Stand {
		r := &results.Trial{Cell: 1, Status: status, Attempts: 1, InModel: true}
		r.Set(metric.Election.Of(electionMS))
		final := status != trace.Invalid
		if final {
			o.Add(r)
		}
		return &Stand{runner.Progress{Finished: finished, Planned: 240, Elapsed: 37 * time.Second,
			Left: 250 * time.Second, Trial: experiment.Trial{Cell: 1}, Result: r, Final: final}, "bully/nodes=9", o}
	}
}

func TestPlainProgress(t *testing.T) {
	var text bytes.Buffer
	p, at := &lines{w: &text, begun: time.Now(), last: time.Now(), told: reasons{}}, stands(t)
	p.Tell(at(36, trace.OK, 20))
	if text.Len() > 0 {
		t.Errorf("a line at once: %q", text.String())
	}
	p.last = time.Now().Add(-10 * time.Second)
	p.Tell(at(37, trace.Invalid, 99))
	p.Tell(at(37, trace.OK, 30))
	want := "trial 37/240 cell=bully/nodes=9 status=invalid eta=4m10s election_ms=20 n=1\n" +
		"bully/nodes=9: election_ms 25, downtime_ms n/a, messages 0; ok 2\n"
	if text.String() != want {
		t.Errorf("got %q, want %q", text.String(), want)
	}
	text.Reset()
	p.Tell(at(240, trace.TimedOut, 0))
	has(t, text.String(), "trial 240/240", "status=timeout")
}

// TestPlainProgress_Quiet: a CI log gets one line, and why trials did not end well, once.
func TestPlainProgress_Quiet(t *testing.T) {
	var text strings.Builder
	place := Place{W: &text, Log: true}
	p, at := place.Of("auto").(*lines), stands(t)
	p.last = time.Now().Add(-time.Hour)
	for _, status := range []trace.Status{trace.OK, trace.Invalid, trace.Invalid, trace.OK} {
		now := at(3, status, 20)
		if status == trace.Invalid {
			now.Result.Reason = "the machine was too busy"
		}
		p.Tell(now)
	}
	p.Tell(at(240, trace.OK, 20))
	want := "bully/nodes=9: invalid: the machine was too busy\n" +
		"trial 240/240 cell=bully/nodes=9 eta=4m10s election_ms=20 n=3\n"
	if text.String() != want {
		t.Errorf("got %q, want %q", text.String(), want)
	}
}

func TestBar_LineFitsTheTerminal(t *testing.T) {
	b := &bar{now: stands(t)(120, trace.OK, 1).Progress, cell: "bully/nodes=9/loss=0.05",
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

// TestBar_Tells: above the bar stands what a cell came to, and once why a trial was invalid, which is run
// again.
func TestBar_Tells(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, at := newBar(&Place{Terminal: f, Above: func(io.Writer) {}}), stands(t)
	for _, cell := range []string{"bully", "bully", "raft"} {
		now := at(3, trace.Invalid, 99)
		now.Cell, now.Result.Reason = cell, "the machine was too busy; use fewer nodes"
		b.Tell(now)
	}
	for _, ms := range []float64{20, 30} {
		b.painted = time.Time{}
		b.Tell(at(4, trace.OK, ms))
	}
	last := at(240, trace.OK, 40)
	last.Left = 0 // the table says it at once
	b.Tell(last)
	b.Close()
	text, err := os.ReadFile(f.Name())
	if n := strings.Count(string(text), ": invalid: the machine was too busy\n"); err != nil || n != 1 {
		t.Errorf("%v: told %d times, want once: %q", err, n, text)
	}
	const found = "bully/nodes=9: election_ms 25, downtime_ms n/a, messages 0; ok 2\n"
	if n := strings.Count(string(text), "; ok "); n != 1 || !strings.Contains(string(text), found) {
		t.Errorf("%d cells are told, want 1: %q in %q", n, found, text)
	}
	has(t, string(text), "invalid 3 bully/nodes=9 election_ms 20 n=1")
}
