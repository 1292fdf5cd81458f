package results

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestSample_Rounds: on real nodes the interval of a median, in summary.csv as elsewhere,
// respects that trials of a round have their luck in common; in simulation there is none.
func TestSample_Rounds(t *testing.T) {
	t.Parallel()
	low := func(transport string, rounds int) float64 {
		c := &Cell{}
		for i := range 24 {
			round := 1 + i*rounds/24
			trial := testTrial(1)
			trial.Status, trial.Round, trial.Design[3].Value = trace.OK, round, transport
			only(&trial, metric.Election.Of(100*float64(i*6/24)+float64(i%4)))
			c.Trials = append(c.Trials, &trial)
		}
		d := c.Describe("election_ms")
		if d.N != 24 {
			t.Errorf("%+v", d)
		}
		return d.CILow
	}
	// Of 24 values in six groups far apart, the 7th and the 18th; but what is worth six is too little.
	one := low("nats", 1)
	if got := low("nats", 6); one != 102 || !math.IsNaN(got) {
		t.Errorf("the interval begins at %v, of six rounds at %v", one, got)
	}
	if got := low("sim", 6); got != one {
		t.Errorf("simulated, it begins at %v, want %v", got, one)
	}
	if got := low("nats", 12); !(got < one) {
		t.Errorf("of twelve rounds it begins at %v, want less than %v", got, one)
	}
}

// TestReadTable_BeforeRounds: a table of a version without rounds has one.
func TestReadTable_BeforeRounds(t *testing.T) {
	t.Parallel()
	f, folder := written(t, 2, true), t.TempDir()
	lines := strings.SplitAfter(readFile(t, f.Dir(), TrialsFile), "\n")
	for i, line := range lines {
		parts := strings.SplitN(line, ",", 5)
		if len(parts) == 5 {
			lines[i] = strings.Join(append(parts[:3:3], parts[4]), ",")
		}
	}
	path := filepath.Join(folder, TrialsFile)
	write(t, path, strings.Join(lines, ""))
	got := readTable(t, path).Trials[1]
	if want := readTable(t, f.Dir()).Trials[1]; got.Round != 1 || got.RunOrder != want.RunOrder || got.Seed != want.Seed ||
		got.Attempts != want.Attempts {
		t.Errorf("%+v, want %+v", got, want)
	}
}
