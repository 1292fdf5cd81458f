package bully_test

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/plugins/election/bully"
)

// TestLowerCoordinator is pitfall P12, also long after the last election: 5 of five
// declares itself, 4 asks 5, and neither follows 2.
func TestLowerCoordinator(t *testing.T) {
	t.Parallel()
	for _, now := range []time.Duration{0, time.Hour} {
		for _, test := range []struct {
			self algo.ID
			want string
		}{
			{5, "T'- leader=5/0 COORDINATOR{}>1 COORDINATOR{}>2 COORDINATOR{}>3 COORDINATOR{}>4"},
			{4, "ELECTION{{0 1}}>5 leader=0/0 T+"},
		} {
			r := algotest.NewTranscript(t, id, 5, algo.Config{ID: test.self}, nil)
			r.Now = now
			r.Hears(2, bully.Coordinator{}, test.want)
		}
	}
}
