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
// its delivery until it sends it on. Who sends it or enters without holding it has
// made another: that is as it should be when the former is gone, with a process
// that crashed or with a message that was lost, and otherwise doubles it.
type tokens struct {
	kind   int                // of the messages that hand it on; negative: there is no token
	strict bool               // there may never be two
	held   []uint32           // by ID - 1
	flying map[copies]transit // algorithms that double it can have very many
	count  int                // in existence

	lost, doubled int
}

// A transit is a token on its way.
type transit struct {
	left    int  // copies of the message that are on their way
	arrived bool // one of them has arrived
}

func newTokens(s *harness.Setup) tokens {
	t := tokens{kind: -1, flying: map[copies]transit{}}
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
		t.flying[copiesOf(r)] = transit{left: 1}
		return false
	case trace.Duplicate:
		if f, ok := t.flying[copiesOf(r)]; ok {
			f.left++
			t.flying[copiesOf(r)] = f
		}
		return false
	}
	f, ok := t.flying[copiesOf(r)]
	if !ok {
		return false
	}
	if r.Type == trace.Deliver && !f.arrived {
		f.arrived = true
		t.held[r.Process-1]++
	}
	if f.left--; f.left > 0 {
		t.flying[copiesOf(r)] = f
		return false
	}
	if lost = !f.arrived; lost {
		t.count--
		t.lost++
	}
	delete(t.flying, copiesOf(r))
	return lost
}

// granted is p, who enters.
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
	for c, f := range t.flying {
		if !f.arrived {
			to = min(to, c.to)
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
