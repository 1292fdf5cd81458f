package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// tokens follows the token of an algorithm that has one. A process holds it from
// its delivery until it sends it on. A process that sends it or enters without holding it has
// made another: that is as it should be when the former is gone, with a process
// that crashed or with a message that was lost, and otherwise doubles it.
type tokens struct {
	kind   int            // of the messages that hand it on; negative: there is no token
	strict bool           // there may never be two
	held   []uint32       // by ID - 1
	flying transits[bool] // whether a copy has arrived; algorithms that double it can have very many
	count  int            // in existence

	lost, doubled int
}

func newTokens(s *harness.Setup) tokens {
	t := tokens{kind: -1}
	if s.Alg.Spec.Token == "" {
		return t
	}
	t.kind = slices.Index(s.Alg.Codec.Kinds(), s.Alg.Spec.Token)
	survives := &s.Alg.Spec.Survives
	t.strict = s.InModel && !survives.Loss && survives.CrashesOf(s.Nodes, s.Params) == 0
	t.held = make([]uint32, s.Nodes)
	holder := s.Holder
	if holder == algo.None {
		holder = s.Graph.Peers()[0]
	}
	if !slices.Contains(s.Crashed, holder) {
		t.held[holder-1], t.count = 1, 1
	}
	return t
}

// message follows a message that hands the token on. It says whether the token is
// lost with it.
func (t *tokens) message(j *Judge, r *trace.Record) (lost bool) {
	switch r.Type {
	case trace.Send:
		if p := r.Process; t.held[p-1] == 0 {
			t.another(j, p, r.At, "sends")
		}
		t.held[r.Process-1]--
		t.flying.send(r, false)
		return false
	case trace.Duplicate:
		t.flying.again(r)
		return false
	}
	arrived, last := t.flying.end(r)
	if arrived == nil {
		return false
	}
	if r.Type == trace.Deliver && !*arrived {
		*arrived = true
		t.held[r.Process-1]++
	}
	if lost = last && !*arrived; lost {
		t.count--
		t.lost++
	}
	return lost
}

// granted is p, which enters.
func (t *tokens) granted(j *Judge, p algo.ID, at time.Duration) {
	if t.kind >= 0 && t.held[p-1] == 0 {
		t.another(j, uint32(p), at, "enters with")
	}
}

// another is a token of p's own making.
func (t *tokens) another(j *Judge, p uint32, at time.Duration, does string) {
	if t.count > 0 {
		t.doubled++
		if t.strict {
			j.violate(tokenUniqueness, "p%d %s a second token at %v: one %s", p, does, at, t.where())
		}
	}
	t.held[p-1]++
	t.count++
}

// where is a token.
func (t *tokens) where() string {
	if i := slices.IndexFunc(t.held, func(n uint32) bool { return n > 0 }); i >= 0 {
		return fmt.Sprintf("is with p%d", i+1)
	}
	to := ^uint32(0) // the least: a map has no order, and a reason must be the same each time
	for receiver, arrived := range t.flying.all() {
		if !arrived {
			to = min(to, receiver)
		}
	}
	return fmt.Sprintf("is on its way to p%d", to)
}

// crash takes the tokens of p out of the world.
func (t *tokens) crash(p algo.ID) {
	if t.kind < 0 {
		return
	}
	t.lost += int(t.held[p-1])
	t.count -= int(t.held[p-1])
	t.held[p-1] = 0
}

// metrics is none where there is no token.
func (t *tokens) metrics() []metric.Value {
	if t.kind < 0 {
		return nil
	}
	return []metric.Value{metric.TokensLost.Of(float64(t.lost)), metric.TokensDoubled.Of(float64(t.doubled))}
}
