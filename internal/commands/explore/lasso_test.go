package explore

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestFindLasso: what repeats at the end of a trial is found, from where it begins, each round of it once.
func TestFindLasso(t *testing.T) {
	t.Parallel()
	expires := func(p uint32) trace.Record { return trace.Record{Type: trace.Timeout, Process: p, Text: "retry"} }
	sends := func(p, q uint32, seq uint64) trace.Record {
		return trace.Record{Type: trace.Send, Process: p, Peer: q, Kind: 1, Seq: seq}
	}
	enters := func(p uint32) trace.Record { return trace.Record{Type: trace.Granted, Process: p} }
	timed := func(list trace.List) trace.List {
		for i := range list {
			list[i].At = time.Duration(i) * time.Millisecond
		}
		return list
	}
	rounds := func(n int, before ...trace.Record) trace.List {
		list := trace.List(before)
		for i := range n {
			list = append(list, expires(2), sends(2, 1, uint64(i)), sends(2, 3, uint64(i)))
		}
		return timed(list)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	mixed := trace.List{enters(1), enters(2), enters(3)}
	for range 300 {
		mixed = append(mixed, []trace.Record{expires(1), expires(2), sends(1, 2, rng.Uint64())}[rng.IntN(3)])
	}
	long := rounds(20_000, enters(1), enters(3))
	for name, test := range map[string]struct {
		list trace.List
		want string // "": nothing repeats
	}{
		"nothing at all":   {nil, ""},
		"nothing twice":    {timed(trace.List{enters(1), enters(2), enters(3), expires(1), expires(2)}), ""},
		"it ends":          {append(rounds(50), timed(trace.List{enters(1)})...), ""},
		"a few at the end": {timed(append(mixed[:3:3], expires(1), expires(1))), ""},
		"rounds": {rounds(30, enters(1), enters(3)), "from 2ms on this repeats:\n  p2 times out: retry\n" +
			"  p2 sends B to p1\n  p2 sends B to p3"},
		"very many": {long, "from 2ms on this repeats:\n  p2 times out: retry\n  p2 sends B to p1\n  p2 sends B to p3"},
		"cut short": {rounds(30, enters(1))[:89], "from 1ms on this repeats:\n  p2 times out: retry\n" +
			"  p2 sends B to p1\n  p2 sends B to p3"},
	} {
		got := ""
		if l, ok := FindLasso(test.list); ok {
			got = l.Text(test.list, []string{"A", "B"})
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	l, ok := FindLasso(timed(mixed))
	got := l.Text(mixed, []string{"A", "B"})
	if !ok || l.Exact || l.From != 3 || !strings.HasPrefix(got, "from 3ms on only this happens, repeatedly:\n") ||
		strings.Count(got, "\n") != 3 {
		t.Errorf("mixed: %+v: %s", l, got)
	}
}
