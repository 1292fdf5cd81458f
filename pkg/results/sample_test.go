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
	// Of 24 values in six groups far apart, the 7th and the 18th; of what is worth six, the least and the largest.
	one := low("nats", 1)
	if got := low("nats", 6); one != 102 || got > 3 {
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

// TestCell_Bounds: what trials without a verdict may hide, by the smallest and the largest that was seen.
func TestCell_Bounds(t *testing.T) {
	t.Parallel()
	cell := func(statuses ...trace.Status) *Cell {
		c := &Cell{}
		for i, status := range statuses {
			trial := testTrial(i + 1)
			trial.Status = status
			only(&trial, metric.Election.Of(float64(10*(i+1))), metric.SplitBrain.Of(float64(i%2)))
			if status == trace.TimedOut {
				only(&trial, metric.Election.Of(math.NaN()))
			}
			c.Trials = append(c.Trials, &trial)
		}
		return c
	}
	ok, unknown, late := trace.OK, trace.Unknown, trace.TimedOut
	for _, tt := range []struct {
		cell     *Cell
		metric   string
		low, top float64
	}{
		{cell(ok, ok, ok), "election_ms", math.NaN(), math.NaN()},
		{cell(ok, ok, ok, late), "election_ms", math.NaN(), math.NaN()}, // it is known to be longer
		{cell(ok, ok, ok, unknown, unknown), "election_ms", 10, 30},
		{cell(ok, ok, ok, late, unknown), "election_ms", 20, 30},
		{cell(ok, ok, ok, unknown, late, unknown, unknown), "election_ms", 10, math.NaN()},
		{cell(unknown, late), "election_ms", math.NaN(), math.NaN()},
		{cell(ok, ok, ok, ok, unknown), "split_brain_ms", 0.4, 0.6}, // a mean
	} {
		low, top := tt.cell.Bounds(tt.metric)
		if same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }; !same(low, tt.low) || !same(top, tt.top) {
			t.Errorf("%s of %d trials: %v and %v, want %v and %v", tt.metric, len(tt.cell.Trials), low, top, tt.low, tt.top)
		}
	}
	beyond := cell(ok, ok)
	if beyond.Trials[1].InModel = false; beyond.InModel() || !cell(ok, ok).InModel() {
		t.Error("in_model")
	}
}

// TestCell_Events: trials that time out count in none, and a share, a time and a rate of processes have no
// events.
func TestCell_Events(t *testing.T) {
	t.Parallel()
	c := &Cell{}
	for i, status := range []trace.Status{trace.OK, trace.OK, trace.Unknown, trace.TimedOut} {
		trial := testTrial(i + 1)
		trial.Status = status
		only(&trial, metric.UnneededElections.Of(2), metric.LeaderChanges.Of(3), metric.SplitBrain.Of(1),
			metric.CrashRateAchieved.Of(0.5), metric.Election.Of(10))
		trial.Set(metric.Duration.Of(1500))
		c.Trials = append(c.Trials, &trial)
	}
	none := math.NaN()
	for m, want := range map[*metric.Metric][2]float64{
		metric.UnneededElections: {6, 3}, metric.LeaderChanges: {6, 3}, metric.SplitBrain: {none, 3},
		metric.CrashRateAchieved: {none, 3}, metric.Election: {none, none}, metric.Availability: {none, none},
	} {
		events, seconds := c.Events(m.Name)
		for i, got := range []float64{events, seconds} {
			if got != want[i] && !(math.IsNaN(got) && math.IsNaN(want[i])) {
				t.Errorf("%s: %v events in %v s, want %v", m.Name, events, seconds, want)
				break
			}
		}
	}
}
