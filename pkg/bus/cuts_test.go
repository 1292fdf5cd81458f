package bus

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// cutAt is the oracle: the state of the link between i and j from instant t to
// the next, by going through all that was said of it, one change after another.
func cutAt(changes []Change, i, j uint32, t time.Duration) bool {
	cut := false
	for at := time.Duration(0); at <= t; at++ {
		for _, c := range changes { // of one instant: in the order of Add
			if c.At != at {
				continue
			}
			if c.Groups == nil && c.Heal {
				cut = false
				continue
			}
			group := map[uint32]int{}
			for g, members := range c.Groups {
				for _, p := range members {
					group[p] = g + 1 // the others: 0
				}
			}
			if group[i] != group[j] {
				cut = !c.Heal
			}
		}
	}
	return cut
}

func TestSevered_AgreesWithTheOracle(t *testing.T) {
	t.Parallel()
	const horizon, processes = 12, 5
	rapid.Check(t, func(t *rapid.T) {
		changes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Change {
			c := Change{
				At:   time.Duration(rapid.IntRange(0, horizon).Draw(t, "at")),
				Heal: rapid.Bool().Draw(t, "heal"),
			}
			if c.Heal && rapid.Bool().Draw(t, "all") {
				return c
			}
			c.Groups = make([][]uint32, rapid.IntRange(1, 3).Draw(t, "groups"))
			for p := uint32(1); p <= processes; p++ {
				if g := rapid.IntRange(-1, len(c.Groups)-1).Draw(t, "side"); g >= 0 {
					c.Groups[g] = append(c.Groups[g], p)
				}
			}
			return c
		}), 0, 8).Draw(t, "changes")
		var c Cuts
		for _, change := range changes {
			c.Add(change)
		}
		if c.Whole() != (len(changes) == 0) {
			t.Fatalf("%d changes, whole: %v", len(changes), c.Whole())
		}
		i := rapid.Uint32Range(1, processes).Draw(t, "i")
		j := rapid.Uint32Range(1, processes).Draw(t, "j")
		for from := time.Duration(0); from <= horizon; from++ {
			want := false
			for to := from; to <= horizon; to++ {
				want = want || cutAt(changes, i, j, to)
				if got := c.Severed(i, j, from, to); got != want {
					t.Fatalf("link %d-%d in [%d, %d]: severed %v, want %v\n%+v",
						i, j, from, to, got, want, changes)
				}
				if c.Severed(j, i, from, to) != want {
					t.Fatalf("link %d-%d is cut in one direction alone", i, j)
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

func TestGroups_SurviveATrace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.SliceOfN(rapid.Uint32(), 1, 4)
		groups := rapid.SliceOfN(members, 0, 4).Draw(t, "groups")
		text := Change{Groups: groups}.String()
		change, err := ParseChange(text)
		got := change.Groups
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if len(groups) == 0 {
			groups = nil
		}
		if !reflect.DeepEqual(got, groups) {
			t.Fatalf("%q reads as %v, want %v", text, got, groups)
		}
	})
	if got := (Change{Groups: [][]uint32{{1, 2}, {3}}}).String(); got != "1 2|3" {
		t.Errorf("written as %q, want %q", got, "1 2|3")
	}
	for _, text := range []string{"1 x", "-1", "1|4294967296", "1,2", "[1]"} {
		if got, err := ParseChange(text); err == nil {
			t.Errorf("%q reads as %v", text, got)
		}
	}
}
