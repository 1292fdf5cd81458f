package check

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// queue is what a server does that takes a time for each request, which come as a Poisson
// process: the operations of so many seconds.
func queue(seed uint64, rate float64, service time.Duration, seconds float64) (ops []trace.Operation) {
	r := rand.New(rand.NewPCG(seed, 1))
	var at, free time.Duration
	for {
		at += time.Duration(r.ExpFloat64() / rate * float64(time.Second))
		if at.Seconds() > seconds {
			return ops
		}
		begin := max(at, free)
		free = begin + service
		ops = append(ops, trace.Operation{Cause: at, Begin: at, End: begin, Status: trace.Completed})
	}
}

// TestOverload: a load beyond capacity is told, also if the trial ended before all was
// served; one within it is not, however long its queues become.
func TestOverload(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rate    float64
		seconds float64
		told    int // of 200 seeds, at least
		most    int
	}{
		"nothing":                {0.001, 1, 0, 0},
		"half of what it can":    {100, 5, 0, 0},
		"nearly all that it can": {190, 5, 0, 1},
		"all that it can":        {200, 5, 0, 5},
		"a quarter more":         {250, 5, 160, 200},
		"twice as much":          {400, 1, 199, 200},
		"for too short a time":   {400, 0.05, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := 0
			for seed := range uint64(200) {
				if overload(queue(seed, test.rate, 5*time.Millisecond, test.seconds)) != "" {
					told++
				}
			}
			if told < test.told || told > test.most {
				t.Errorf("%d of 200 loads are unstable, want %d to %d", told, test.told, test.most)
			}
		})
	}
	ops := queue(1, 400, 5*time.Millisecond, 1)
	for i := range ops {
		if ops[i].End > time.Second {
			ops[i].End, ops[i].Status = -1, trace.Pending
		}
	}
	if why := overload(ops); !strings.Contains(why, "201.2 were granted per second, and 193 waited") {
		t.Errorf("reason %q", why)
	}
}
