package conform_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/commands/conform"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// Beg asks for a vote, Grant gives it, and Refund returns it. Try counts.
type (
	Beg    struct{ Try uint64 }
	Grant  struct{ Try uint64 }
	Refund struct{ Try uint64 }
)

// Kind is BEG.
func (Beg) Kind() string { return "BEG" }

// Kind is GRANT.
func (Grant) Kind() string { return "GRANT" }

// Kind is REFUND.
func (Refund) Kind() string { return "REFUND" }

func init() {
	algo.RegisterMutex(algo.Spec{
		Name: "test-begs-for-ever", Summary: "broken",
		Paper:    algo.Paper{Authors: "X", Title: "X", Year: 2000},
		Messages: []algo.Message{Beg{}, Grant{}, Refund{}}, Promises: algo.Promises{StarvationFree: true},
		Claims: []algo.Claim{{
			Metric: "messages/entry", Load: "light", Source: algo.Derived, Text: "3(N-1)",
			Bound: algo.Exactly(func(n int) float64 { return 3 * float64(n-1) }),
		}},
		Breaks: "by itself",
	}, func(c algo.Config) algo.Mutex { return &beggar{Config: c} })
}

// A plea is a wish of one process.
type plea struct {
	by  algo.ID
	try uint64
}

// A beggar enters with the votes of a majority. It returns those that it has and asks anew when they do
// not come; a REFUND that overtakes its BEG loses a vote for good, so that all ask anew without end.
type beggar struct {
	algo.Config
	try    uint64
	votes  int
	inside bool
	given  plea
	queue  []plea
}

func (n *beggar) Request(env algo.Env) {
	n.try++
	n.votes = 0
	for _, p := range n.Peers {
		env.Send(p, Beg{n.try})
	}
	env.SetTimer("retry", 20*time.Millisecond+time.Duration(env.Rand().Int64N(int64(20*time.Millisecond))))
}

func (n *beggar) refund(env algo.Env) {
	for _, p := range n.Peers {
		env.Send(p, Refund{n.try})
	}
}

func (n *beggar) Timeout(env algo.Env, _ algo.Timer) {
	if !n.inside {
		n.refund(env)
		n.Request(env)
	}
}

func (n *beggar) Release(env algo.Env) {
	n.inside = false
	n.refund(env)
}

func (n *beggar) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Beg:
		n.queue = append(n.queue, plea{from, m.Try})
	case Refund:
		if n.given == (plea{from, m.Try}) {
			n.given = plea{}
		}
		if i := slices.Index(n.queue, plea{from, m.Try}); i >= 0 {
			n.queue = slices.Delete(n.queue, i, i+1)
		}
	case Grant:
		if n.votes++; m.Try == n.try && !n.inside && n.votes > len(n.Peers)/2 {
			n.inside = true
			env.CancelTimer("retry")
			env.Granted()
		} else if m.Try != n.try {
			n.votes--
		}
	}
	if n.given.by == algo.None && len(n.queue) > 0 {
		n.given, n.queue = n.queue[0], n.queue[1:]
		env.Send(n.given.by, Grant{n.given.try})
	}
}

// TestLivelock: the kit ends at the third schedule in which processes ask anew without end, and says
// once what they do.
func TestLivelock(t *testing.T) {
	t.Parallel()
	said := map[string]string{}
	err := conform.Verify("mutex/test-begs-for-ever", conform.Options{
		Schedules: 1_000_000, // which would take hours
		Progress: func(r conform.Rule, err error) {
			if err != nil {
				said[r.Name] = err.Error()
			}
		},
	})
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	text := said["Liveness"]
	stuck, broken := strings.Count(text, ": timeout: "), strings.Count(said["Safety"], ": violation: ")
	if stuck < 1 || stuck > 3 || broken > 3 || stuck < 3 && broken < 3 {
		t.Errorf("%d schedules without an end and %d that break a promise, want 3 of either", stuck, broken)
	}
	if n := strings.Count(text, "\nfrom "); n != 1 {
		t.Errorf("the cycle is told %d times, want once", n)
	}
	for _, want := range []string{"times out: retry", " sends REFUND to ", " sends BEG to "} {
		if strings.Count(text, want) == 0 {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if lines := strings.Count(text, "\n"); lines > 60 {
		t.Errorf("%d lines", lines)
	}
	if strings.Contains(err.Error(), "<nil>") {
		t.Errorf("a stray <nil> in:\n%v", err)
	}
	t.Log(text)
}
