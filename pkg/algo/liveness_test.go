package algo_test

import (
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// TestConnectivity: which links are enough for what. "1-2" is a link in both directions,
// "1>2" in one.
func TestConnectivity(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		nodes           int
		links, down     string
		parts, inParts  bool // with a majority, and where none is needed
		majority, reach bool
	}{
		"whole":                   {3, "1-2 1-3 2-3", "", true, true, true, true},
		"one of one":              {1, "", "", true, true, true, true},
		"nobody":                  {1, "", "1", false, false, false, false},
		"a link is cut":           {3, "1-2 2-3", "", false, false, true, true},
		"half a link":             {3, "1-2 2-3 1>3", "", false, false, true, true},
		"one apart":               {3, "1-2", "", true, true, true, true},
		"all apart":               {3, "", "", false, true, false, false},
		"a majority is live":      {3, "1-2", "3", true, true, true, true},
		"half is no majority":     {4, "1-2 3-4", "", false, true, false, false},
		"star":                    {5, "1-2 1-3 1-4 1-5", "", false, false, false, true},
		"star of a bare majority": {5, "1-2 1-3", "", false, false, false, true},
		"its centre is down":      {5, "1-2 1-3 1-4 1-5", "1", false, true, false, false},
		"one way does not count":  {3, "1>2 1>3", "", false, false, false, false},
		"old leader behind a bridge, openraft 2078": {5, "1-2 1-3 2-3 3-5", "", false, false, true, true},
		"path":                          {5, "1-2 2-3 3-4 4-5", "", false, false, false, true},
		"ring":                          {5, "1-2 2-3 3-4 4-5 5-1", "", false, false, false, true},
		"majority among many half ones": {5, "2-4 2-5 4-5 1-2 1-4 3-5 3-2", "", false, false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			links := strings.Fields(test.links)
			has := func(word string) bool {
				for _, l := range links {
					if l == word {
						return true
					}
				}
				return false
			}
			digit := func(p algo.ID) string { return string(rune('0' + p)) }
			link := func(p, q algo.ID) bool {
				a, b := digit(p), digit(q)
				if strings.Contains(test.down, a) || strings.Contains(test.down, b) {
					return false
				}
				return p == q || has(a+"-"+b) || has(b+"-"+a) || has(a+">"+b)
			}
			for c, want := range map[algo.Connectivity]bool{algo.InParts: test.parts,
				algo.MajorityConnected: test.majority, algo.QuorumConnected: test.reach, algo.Unpromised: false} {
				if got := c.Holds(test.nodes, true, link); got != want {
					t.Errorf("%v: %t", c, got)
				}
			}
			if got := algo.InParts.Holds(test.nodes, false, link); got != test.inParts {
				t.Errorf("without a majority, %v: %t", algo.InParts, got)
			}
		})
	}
}

// TestMajorityConnected: against all subsets, on every graph of five, and in time where
// there are a hundred.
func TestMajorityConnected(t *testing.T) {
	t.Parallel()
	const n = 5
	for graph := range 1 << 10 {
		var both [n][n]bool
		bit := 0
		for p := range n {
			both[p][p] = true
			for q := range p {
				both[p][q] = graph>>bit&1 == 1
				both[q][p] = both[p][q]
				bit++
			}
		}
		want := false
		for set := range 1 << n {
			size, connected := 0, true
			for p := range n {
				if set>>p&1 == 1 {
					size++
				}
				for q := range n {
					connected = connected && (set>>p&1 == 0 || set>>q&1 == 0 || both[p][q])
				}
			}
			want = want || connected && 2*size > n
		}
		if got := algo.MajorityConnected.Holds(n, true, func(p, q algo.ID) bool {
			return both[p-1][q-1]
		}); got != want {
			t.Fatalf("graph %b: %t", graph, got)
		}
	}
	halves := func(p, q algo.ID) bool { return (p <= 50) == (q <= 50) }
	most := func(p, q algo.ID) bool { return (p <= 51) == (q <= 51) || p == 1 }
	if algo.MajorityConnected.Holds(100, true, halves) || !algo.MajorityConnected.Holds(100, true, most) {
		t.Error("halves of a hundred are a majority, or 51 are none")
	}
}

// TestLiveOf: what is promised, and how long that is.
func TestLiveOf(t *testing.T) {
	t.Parallel()
	s := algo.Spec{}
	if l := s.LiveOf(5, nil); l.Under != algo.Unpromised ||
		l.Text() != "no time by which there is a leader" {
		t.Errorf("%+v: %s", l, l.Text())
	}
	s.Promises.Live = algo.Steady
	l := s.LiveOf(5, nil)
	if l.Under != algo.InParts || l.Timeouts != 50 || l.Text() != "a leader within 50 time-outs while all "+
		"live processes of each part of the network reach each other in both directions" {
		t.Errorf("%+v: %s", l, l.Text())
	}
	l.Learns = true
	if !strings.HasSuffix(l.Text(), "directions; a process that came back counts as down until it names a leader") {
		t.Errorf("%+v: %s", l, l.Text())
	}
	second := algo.Params{"t": time.Second}
	if a, b := l.Within(second, time.Millisecond), l.Within(nil, time.Millisecond); a != 50*time.Second ||
		b != 200*time.Millisecond {
		t.Errorf("%v and %v, want 50 s and 200 ms", a, b)
	}
	if a := l.Within(algo.Params{"t": time.Duration(1<<63 - 1)}, 0); a < 24*time.Hour || a+a < a {
		t.Errorf("%v for the longest time-out", a)
	}
}
