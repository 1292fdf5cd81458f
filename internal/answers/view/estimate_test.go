package view

import (
	"math"
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// A figure is a median with its interval, whose ends are open where trials timed out, and
// with its n where that is not the row's: a median of one trial never looks like one of thirty.
func TestEstimate(t *testing.T) {
	none := math.NaN()
	for _, c := range []struct {
		s      stats.Summary
		trials int
		want   string
	}{
		{stats.Summary{N: 7, Median: 28.07, CILow: 1, CIHigh: 104.24}, 7, "28.07 [1, 104.2]"},
		{stats.Summary{N: 7, Median: 28.07, CILow: 1, CIHigh: 104.24}, 30, "28.07 [1, 104.2] n=7"},
		{stats.Summary{N: 5, Median: 2, CILow: none, CIHigh: none}, 5, "2 [n/a]"},
		{stats.Summary{N: 1, Median: 32, CILow: none, CIHigh: none}, 30, "32 [n/a] n=1"},
		{stats.Summary{N: 7, Censored: 1, Median: 2, CILow: 1, CIHigh: none}, 7, "2 [1, ...] never recovered: 1 of 8"},
		{stats.Summary{N: 5, Censored: 9, Median: none, CILow: 8, CIHigh: none}, 5, "> limit [8, ...] never recovered: 9 of 14"},
		{stats.Summary{Censored: 3, Median: none, CILow: none, CIHigh: none}, 0, "> limit [n/a] never recovered: 3 of 3"},
		{stats.Summary{Median: none, CILow: none, CIHigh: none}, 4, "n/a"},
		{stats.Summary{N: 7, Median: 0.019, CILow: 0.01, CIHigh: 0.03, Doubt: 0.02}, 7, "0.019? [0.01, 0.03]"},
		{stats.Summary{N: 7, Median: 0.02, CILow: 0.01, CIHigh: 0.03, Doubt: 0.02}, 7, "0.02 [0.01, 0.03]"},
		{stats.Summary{Censored: 3, Median: none, CILow: none, CIHigh: none, Doubt: 0.02}, 0,
			"> limit [n/a] never recovered: 3 of 3"},
	} {
		if got := new(Legend).Estimate(metric.Downtime, c.s, c.trials); got != c.want {
			t.Errorf("%+v: %q, want %q", c.s, got, c.want)
		}
	}
	cut := stats.Summary{N: 7, Censored: 1, Median: 2, CILow: 1, CIHigh: none}
	if got, want := new(Legend).Estimate(metric.Election, cut, 7), "2 [1, ...] n=7+1"; got != want {
		t.Errorf("%+v: %q, want %q", cut, got, want)
	}
	beyond := stats.Summary{N: 4, Censored: 6, Median: none, CILow: 333.3, CIHigh: none}
	if got, want := new(Legend).Estimate(metric.Knee, beyond, 10), "beyond [333.3, ...] n=4+6"; got != want {
		t.Errorf("%+v: %q, want %q", beyond, got, want)
	}
	for v, want := range map[float64]string{
		0: "0", 0.0125: "0.013", 1: "1", 28.07: "28.07", 38.1: "38.1", 104.24: "104.2", 1511: "1511",
		12345.6: "12346", -3.25: "-3.25", 99999999: "99999999",
	} {
		if got := console.Number(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

// TestLegend: what the figures of a table need is explained once, and the largest doubt counts.
func TestLegend(t *testing.T) {
	l := &Legend{}
	figure := stats.Summary{N: 7, Median: 0.02, CILow: 0.01, CIHigh: 0.03}
	for _, doubt := range []float64{0, 0.01} {
		figure.Doubt = doubt
		if l.Estimate(metric.Downtime, figure, 7); l.Notes() != nil {
			t.Errorf("doubt %v: %q", doubt, l.Notes())
		}
	}
	for _, doubt := range []float64{0.03, 0.0412, 0.04} {
		figure.Doubt = doubt
		l.Estimate(metric.Downtime, figure, 30)
	}
	want := []string{ownNote, "?: smaller than the clock error of the hosts (0.041 ms)"}
	if got := l.Notes(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
