package check

import (
	"math"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// tokens follows the token of an algorithm that has one: from whom it went to whom,
// whether it was lost, and whether another was made while there was one. What a
// process makes and keeps is seen when it hands it on.
type tokens struct {
	setup   *harness.Setup
	kind    int   // of the messages that hand it on; negative: there is no token
	held    []int // by ID - 1
	flying  int
	lost    int
	doubled int
	at      time.Duration // when there first were two
}

func newTokens(s *harness.Setup) tokens {
	t := tokens{setup: s, kind: -1, held: make([]int, s.Nodes)}
	if s.Alg.Spec.Token == "" {
		return t
	}
	t.kind = slices.Index(s.Alg.Codec.Kinds(), s.Alg.Spec.Token)
	holder := s.Holder
	if holder == algo.None {
		holder = s.Graph.Peers()[0]
	}
	t.held[holder-1] = 1
	return t
}

// message follows the token, and says whether it was lost.
func (t *tokens) message(r *trace.Record) (lost bool) {
	if int(r.Kind) != t.kind || r.Copy > 0 { // the network's copies are for the algorithm to notice
		return false
	}
	switch r.Type {
	case trace.Send:
		if t.held[r.Process-1] == 0 {
			if t.flying > 0 || slices.Max(t.held) > 0 {
				if t.doubled++; t.doubled == 1 {
					t.at = r.At
				}
			}
		} else {
			t.held[r.Process-1]--
		}
		t.flying++
	case trace.Deliver:
		t.flying--
		t.held[r.Process-1]++
	case trace.Lose, trace.Undelivered:
		t.flying--
		t.lost++
		return true
	}
	return false
}

func (t *tokens) crash(p algo.ID) {
	t.lost += t.held[p-1]
	t.held[p-1] = 0
}

// judge objects to a second token where no fault is survived that would call for
// one.
func (t *tokens) judge(j *Judge) {
	s := &t.setup.Alg.Spec.Survives
	if t.doubled > 0 && t.setup.InModel && !s.Loss && s.CrashesOf(t.setup.Nodes) == 0 {
		j.violate(tokenUniqueness, "there are two tokens at %v", t.at)
	}
}

func (t *tokens) metric(name string, n int) Metric {
	if t.kind < 0 {
		return Metric{name, math.NaN()}
	}
	return Metric{name, float64(n)}
}
