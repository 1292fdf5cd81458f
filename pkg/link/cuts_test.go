package link

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// cutAt is the oracle: the state of the link from i to j from instant t to the
// next, by going through all that was said of it, one change after another.
func cutAt(changes []Change, i, j uint32, t time.Duration) bool {
	cut := false
	for at := time.Duration(0); at <= t; at++ {
		for _, c := range changes { // of one instant: in the order of Add
			if c.At != at {
				continue
			}
			if c.Groups == nil && c.Links == nil && c.Heal {
				cut = false
				continue
			}
			group := map[uint32]int{}
			for g, members := range c.Groups {
				for _, p := range members {
					group[p] = g + 1 // the others: 0
				}
			}
			if group[i] != group[j] || slices.Contains(c.Links, [2]uint32{i, j}) {
				cut = !c.Heal
			}
		}
	}
	return cut
}

// anyChange is about groups, links or, a heal, everything.
func anyChange(horizon int, processes uint32) *rapid.Generator[Change] {
	return rapid.Custom(func(t *rapid.T) Change {
		c := Change{
			At:   time.Duration(rapid.IntRange(0, horizon).Draw(t, "at")),
			Heal: rapid.Bool().Draw(t, "heal"),
		}
		switch kind := rapid.SampledFrom([]string{"groups", "links", "all"}).Draw(t, "kind"); {
		case kind == "links":
			c.Links = rapid.SliceOfN(anyLink(processes), 1, 12).Draw(t, "links")
		case kind == "groups" || !c.Heal:
			c.Groups = make([][]uint32, rapid.IntRange(1, 3).Draw(t, "groups"))
			for p := uint32(1); p <= processes; p++ {
				if g := rapid.IntRange(-1, len(c.Groups)-1).Draw(t, "side"); g >= 0 {
					c.Groups[g] = append(c.Groups[g], p)
				}
			}
		}
		return c
	})
}

func anyLink(processes uint32) *rapid.Generator[[2]uint32] {
	return rapid.Custom(func(t *rapid.T) [2]uint32 {
		p := rapid.Uint32Range(1, processes)
		return [2]uint32{p.Draw(t, "from"), p.Draw(t, "to")}
	})
}

func TestSevered_AgreesWithTheOracle(t *testing.T) {
	t.Parallel()
	const horizon, processes = 12, 5
	rapid.Check(t, func(t *rapid.T) {
		changes := rapid.SliceOfN(anyChange(horizon, processes), 0, 8).Draw(t, "changes")
		var c Cuts
		for _, change := range changes {
			c.Add(change)
		}
		if c.Whole() != (len(changes) == 0) {
			t.Fatalf("%d changes, whole: %v", len(changes), c.Whole())
		}
		directed := slices.ContainsFunc(changes, func(c Change) bool { return c.Links != nil })
		i := rapid.Uint32Range(1, processes).Draw(t, "i")
		j := rapid.Uint32Range(1, processes).Draw(t, "j")
		for from := time.Duration(0); from <= horizon; from++ {
			want := false
			for to := from; to <= horizon; to++ {
				want = want || cutAt(changes, i, j, to)
				if got := c.Severed(i, j, from, to); got != want {
					t.Fatalf("link %d to %d in [%d, %d]: severed %v, want %v\n%+v",
						i, j, from, to, got, want, changes)
				}
				if !directed && c.Severed(j, i, from, to) != want {
					t.Fatalf("groups cut link %d-%d in one direction alone", i, j)
				}
			}
		}
	})
}

func TestSevered(t *testing.T) {
	t.Parallel()
	halves := [][]uint32{{1, 2}, {3, 4}}
	alone := [][]uint32{{1}}
	cut := func(at time.Duration, groups [][]uint32) Change { return Change{At: at, Groups: groups} }
	heal := func(at time.Duration, groups [][]uint32) Change {
		return Change{At: at, Heal: true, Groups: groups}
	}
	cutLinks := func(at time.Duration, links ...[2]uint32) Change { return Change{At: at, Links: links} }
	type window struct {
		i, j     uint32
		from, to time.Duration
		want     bool
	}
	for name, test := range map[string]struct {
		changes []Change
		windows []window
	}{
		"never cut": {nil, []window{{1, 2, math.MinInt64, math.MaxInt64, false}}},
		"a half-open interval": {[]Change{cut(10, halves), heal(20, nil)}, []window{
			{1, 3, 0, 9, false}, {1, 3, 0, 10, true}, {1, 3, 10, 10, true}, {1, 3, 19, 19, true},
			{1, 3, 19, 30, true}, {1, 3, 0, 30, true}, {1, 3, 20, 20, false}, {1, 3, 20, 30, false},
		}},
		"never healed": {[]Change{cut(10, halves)}, []window{
			{1, 3, 10, 10, true}, {3, 1, 99, math.MaxInt64, true}, {1, 2, 0, 99, false},
		}},
		"the unlisted are a group": {[]Change{cut(10, halves)}, []window{
			{1, 5, 10, 11, true}, {3, 5, 10, 11, true}, {5, 6, 10, 11, false},
		}},
		"one against all": {[]Change{cut(10, alone)}, []window{
			{1, 2, 10, 11, true}, {2, 3, 10, 11, false}, {1, 1, 10, 11, false},
		}},
		"out of order": {[]Change{heal(20, nil), cut(10, halves)}, []window{
			{1, 3, 5, 9, false}, {1, 3, 15, 15, true}, {1, 3, 20, 25, false},
		}},
		"heal of one side": {[]Change{cut(10, [][]uint32{{1}, {2}, {3}}), heal(20, alone)}, []window{
			{1, 2, 25, 30, false}, {1, 3, 25, 30, false}, {2, 3, 25, 30, true},
		}},
		"two cuts, one heal": {[]Change{cut(10, halves), cut(15, alone), heal(20, alone)}, []window{
			{1, 2, 14, 14, false}, {1, 2, 15, 15, true}, {1, 2, 20, 20, false},
			{1, 3, 20, 20, false}, // the last word on a link holds
			{2, 3, 20, 20, true},
		}},
		"cut again while cut": {[]Change{cut(10, halves), cut(12, halves), heal(20, nil)}, []window{
			{1, 3, 9, 10, true}, {1, 3, 13, 13, true}, {1, 3, 20, 20, false},
		}},
		"healed as it is cut": {[]Change{cut(10, halves), heal(10, nil)}, []window{
			{1, 3, 5, 15, false}, {1, 3, 10, 10, false}, {1, 3, 10, 15, false},
		}},
		"cut as it is healed": {[]Change{cut(10, halves), heal(20, nil), cut(20, halves)}, []window{
			{1, 3, 20, 20, true}, {1, 3, 25, 30, true},
		}},
		"one way": {[]Change{cutLinks(10, [2]uint32{1, 2}), heal(20, nil)}, []window{
			{1, 2, 5, 10, true}, {2, 1, 5, 15, false}, {1, 3, 5, 15, false}, {1, 2, 20, 25, false},
		}},
		"links healed one by one": {[]Change{
			cutLinks(10, [2]uint32{1, 2}, [2]uint32{2, 1}, [2]uint32{1, 3}),
			{At: 20, Heal: true, Links: [][2]uint32{{1, 2}, {3, 1}}},
		}, []window{{1, 2, 19, 19, true}, {1, 2, 20, 25, false}, {2, 1, 20, 25, true}, {1, 3, 20, 25, true}}},
		"a link among groups": {[]Change{cut(10, halves), cutLinks(15, [2]uint32{1, 2}), heal(20, halves)},
			[]window{{1, 3, 20, 20, false}, {1, 2, 20, 20, true}, {2, 1, 20, 20, false}}},
		"groups heal a link": {[]Change{cutLinks(10, [2]uint32{1, 3}), heal(20, halves)},
			[]window{{1, 3, 15, 15, true}, {1, 3, 20, 20, false}}},
		"a cut without groups": {[]Change{cut(10, nil)}, []window{{1, 2, 10, 20, false}}},
		"before the start":     {[]Change{cut(-10, halves)}, []window{{1, 3, 0, 0, true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c Cuts
			for _, change := range test.changes {
				c.Add(change)
			}
			for _, w := range test.windows {
				if got := c.Severed(w.i, w.j, w.from, w.to); got != w.want {
					t.Errorf("link %d-%d in [%d, %d]: severed %v", w.i, w.j, w.from, w.to, got)
				}
			}
		})
	}
}

func TestCuts_AddKeepsTheOrderOfAnInstant(t *testing.T) {
	t.Parallel()
	var c Cuts
	for i, at := range []time.Duration{5, 3, 5, 9, 3, 5} {
		c.Add(Change{At: at, Groups: [][]uint32{{uint32(i)}}})
	}
	var got []uint32
	for _, change := range c.changes {
		got = append(got, change.Groups[0][0])
	}
	if want := []uint32{1, 4, 0, 2, 5, 3}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

func TestChange_SurvivesATrace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var want Change
		if rapid.Bool().Draw(t, "directed") {
			want.Links = rapid.SliceOfN(anyLink(math.MaxUint32), 1, 9).Draw(t, "links")
		} else {
			members := rapid.SliceOfN(rapid.Uint32(), 1, 4)
			if want.Groups = rapid.SliceOfN(members, 0, 4).Draw(t, "groups"); len(want.Groups) == 0 {
				want.Groups = nil
			}
		}
		text := want.String()
		got, err := ParseChange(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q reads as %v, want %v", text, got, want)
		}
	})
	for _, test := range []struct {
		c    Change
		want string
	}{
		{Change{Groups: [][]uint32{{1, 2}, {3}}}, "1 2|3"},
		{Change{Links: [][2]uint32{{1, 2}, {3, 4}}}, "1>2 3>4"},
		{Change{Heal: true, At: 9}, ""},
	} {
		if got := test.c.String(); got != test.want {
			t.Errorf("written as %q, want %q", got, test.want)
		}
	}
	for text, want := range map[string]string{
		"1 x": "groups", "-1": "groups", "1|4294967296": "groups", "1,2": "groups", "[1]": "groups",
		"1>": "expected FROM>TO", ">2": "expected FROM>TO", "1>2 3": "expected FROM>TO", "1>2>3": "expected FROM>TO",
		"1>4294967296": "expected FROM>TO", "1>2|3>4": "expected FROM>TO", "1 > 2": "expected FROM>TO",
	} {
		c, err := ParseChange(text)
		if wantError(t, err, want); !reflect.DeepEqual(c, Change{}) {
			t.Errorf("%q reads as %+v", text, c)
		}
	}
}

// FuzzParseChange: what can be read is written back so that it reads the same.
func FuzzParseChange(f *testing.F) {
	for _, text := range []string{"", "1 2|3 4", "1>2 3>4", "|", "1|", "1>2|3", "a>b", "  7  "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseChange(text)
		if err != nil {
			return
		}
		again, err := ParseChange(c.String())
		if err != nil || c.String() != again.String() {
			t.Fatalf("%q reads as %+v, then as %+v (%v)", text, c, again, err)
		}
	})
}

// BenchmarkSevered asks of a network of 1000 processes in which each hears a few
// others alone, cut and healed again and again.
func BenchmarkSevered(b *testing.B) {
	const processes = 1000
	var links [][2]uint32
	for p := uint32(1); p <= processes; p++ {
		for q := uint32(1); q <= processes; q++ {
			if (p+q)%10 > 0 {
				links = append(links, [2]uint32{p, q})
			}
		}
	}
	var c Cuts
	for at := range time.Duration(100) {
		c.Add(Change{At: at, Links: links, Heal: at%2 > 0})
	}
	for b.Loop() {
		c.Severed(500, 501, 98, 98)
	}
}
