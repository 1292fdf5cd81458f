package twin

import (
	"math"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// about are n values around a middle.
func about(middle float64, n int) (list []float64) {
	for i := range n {
		list = append(list, middle+math.Sin(float64(7*i)))
	}
	return list
}

// TestPredictions: the headline says how far the simulation is off where it is furthest, with an interval that
// contains the true difference, and counts the figures in which it found none.
func TestPredictions(t *testing.T) {
	t.Parallel()
	e, err := experiment.Parse("e.yaml", []byte("problem: mutex\nalgorithms: [central]\ntransport: nats\n"+
		"sweep: [{vary: nodes, over: [3, 5]}]\n"), experiment.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	metrics := []*metric.Metric{metric.Named("waiting_ms")}
	same := pair{about(100, 20), about(200, 20), about(100, 400)}
	for i := range same.controls { // no correlation
		same.controls[i] = 100 + math.Cos(float64(3*i*i))
	}
	shorter := same
	shorter.values = about(125, 20)
	constant := pair{about(100, 20), about(100, 20), about(100, 40)}
	for _, list := range [][]float64{constant.controls, constant.more} {
		for i := range list {
			list[i] = 100
		}
	}
	for _, c := range []struct {
		name  string
		pairs []pair
		want  string
		off   []float64
	}{
		{"two cells", []pair{same, shorter}, "by at most -20.0 % [-20.3, -19.8] (waiting_ms of central/nodes=5); " +
			"no difference was found in 1 of 2 figures", []float64{0, -0.2}},
		{"one", []pair{shorter, {}}, "differs from the measured one by -20.0 % [-20.3, -19.8] (waiting_ms of central/nodes=3)",
			[]float64{-0.2}},
		{"a simulation without chance", []pair{constant, {}}, "differs from the measured one by ", []float64{0}},
		{"nothing", []pair{{}, {}}, "nothing can be compared", nil},
	} {
		list := predictions(e, metrics, c.pairs)
		if text := headline(list); !strings.Contains(text, c.want) {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
		if len(list) != len(c.off) {
			t.Fatalf("%s: %d predictions", c.name, len(list))
		}
		for i, p := range list {
			if !(p.off.Low <= c.off[i] && c.off[i] <= p.off.High) || p.off.Width() > 0.02 {
				t.Errorf("%s: off by %+v, want %v", c.name, p.off, c.off[i])
			}
		}
	}
}
