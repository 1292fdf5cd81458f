package link

import (
	"cmp"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func probability(p float64) *float64 { return &p }

func anySpell(horizon int64, processes uint32) *rapid.Generator[Override] {
	return rapid.Custom(func(t *rapid.T) Override {
		s := Override{From: time.Duration(rapid.Int64Range(0, horizon).Draw(t, "from"))}
		if rapid.Bool().Draw(t, "ends") {
			s.To = s.From + time.Duration(rapid.Int64Range(1, horizon).Draw(t, "for"))
		}
		if rapid.Bool().Draw(t, "some links") {
			s.Links = rapid.SliceOfN(anyLink(processes), 0, 8).Draw(t, "links")
		}
		if rapid.Bool().Draw(t, "loses") {
			s.Loss = probability(rapid.Float64Range(0, 1).Draw(t, "loss"))
		}
		if s.Loss == nil || rapid.Bool().Draw(t, "lasts") {
			l := anyLatency(t)
			s.Latency = &l
		}
		if err := s.Check(); err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		return s
	})
}

// TestOn_AgreesWithTheOracle: of all overrides, the one that began last of those that are
// meant, in whatever order they became known.
func TestOn_AgreesWithTheOracle(t *testing.T) {
	t.Parallel()
	const horizon, processes = 12, 3
	rapid.Check(t, func(t *rapid.T) {
		overrides := rapid.SliceOfN(anySpell(horizon, processes), 0, 8).Draw(t, "overrides")
		var w Overrides
		for _, s := range overrides {
			w.Add(s)
		}
		if err := w.Check(); err != nil || w.Empty() != (len(overrides) == 0) {
			t.Fatalf("%d overrides, fair: %v, %v", len(overrides), w.Empty(), err)
		}
		slices.SortStableFunc(overrides, func(a, b Override) int { return cmp.Compare(a.From, b.From) })
		for at := time.Duration(-1); at <= 2*horizon; at++ {
			for from := uint32(1); from <= processes; from++ {
				for to := uint32(1); to <= processes; to++ {
					var want *Override
					for i, s := range overrides {
						if s.From <= at && (s.To == 0 || at < s.To) &&
							(s.Links == nil || slices.Contains(s.Links, [2]uint32{from, to})) {
							want = &overrides[i]
						}
					}
					got := w.On(from, to, at)
					if (got == nil) != (want == nil) || got != nil && !reflect.DeepEqual(*got, *want) {
						t.Fatalf("link %d to %d at %d: %+v, want %+v", from, to, at, got, want)
					}
				}
			}
		}
	})
}

// TestSend_ASpellChangesWhatItNames, at the instants that it covers, and neither
// the luck nor anything else.
func TestSend_ASpellChangesWhatItNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, sent := anyNetwork(t), anySchedule(t)
		n.Unordered = true // with copies on a FIFO link, others must wait
		s := anySpell(int64(20*ms), 2).Draw(t, "override")
		var w Overrides
		w.Add(s)
		changed := n
		if s.Loss != nil {
			changed.Loss, changed.Burst = *s.Loss, nil
		}
		if s.Latency != nil {
			changed.Latency = *s.Latency
		}
		fair := fates(n, n.Flow(0, 1, 0, 2), sent)
		foul := fates(changed, changed.Flow(0, 1, 0, 2), sent)
		for i, got := range fatesIn(n, n.Flow(0, 1, 0, 2), sent, &w) {
			want := fair[i]
			if w.On(1, 2, sent[i]) != nil {
				want = foul[i]
			}
			if got != want {
				t.Fatalf("message %d, sent at %v: %+v, want %+v", i+1, sent[i], got, want)
			}
		}
	})
}

// TestSend_AchievesTheLossOfASpell, on the links of the override and during it alone.
func TestSend_AchievesTheLossOfASpell(t *testing.T) {
	t.Parallel()
	const count = 100_000
	n := Network{Latency: Constant(ms), Loss: 0.02, Seed: 5}
	var w Overrides
	w.Add(Override{From: count / 4, To: count / 2, Links: [][2]uint32{{1, 2}}, Loss: probability(0.3)})
	for _, link := range [][2]uint32{{1, 2}, {2, 1}} {
		f := n.Flow(0, link[0], 0, link[1])
		var during, lost, lostDuring int
		for at := range time.Duration(count) {
			override := w.On(link[0], link[1], at)
			switch fate := n.Send(&f, at, 0, override); {
			case override != nil:
				during++
				if fate.Lost {
					lostDuring++
				}
			case fate.Lost:
				lost++
			}
		}
		if want := map[uint32]int{1: count / 4}[link[0]]; during != want {
			t.Errorf("link %v: %d messages met the override, want %d", link, during, want)
		}
		if lo, hi := binomialRange(during, 0.3); lostDuring < lo || lostDuring > hi {
			t.Errorf("link %v: %d of %d lost in the override, want %d to %d", link, lostDuring, during, lo, hi)
		}
		if lo, hi := binomialRange(count-during, 0.02); lost < lo || lost > hi {
			t.Errorf("link %v: %d of %d lost besides, want %d to %d", link, lost, count-during, lo, hi)
		}
	}
}

func TestSpell_String(t *testing.T) {
	t.Parallel()
	slow := Constant(20 * ms)
	skewed := Latency{Law: &Lognormal{Median: 2 * ms, Sigma: 0.5, Max: 9 * ms}}
	listed := Latency{Law: &Quantiles{Values: []time.Duration{0, ms}}}
	link := [][2]uint32{{1, 2}}
	for _, test := range []struct {
		s    Override
		want string
	}{
		{Override{Links: link, Loss: probability(0.3), Latency: &slow}, "1>2 loss 0.3 latency 20ms"},
		{Override{Links: append(link, [2]uint32{2, 1}), Loss: probability(1)}, "1>2 2>1 loss 1"},
		{Override{From: 5, To: 9, Loss: probability(0)}, "all loss 0"},
		{Override{Latency: &skewed}, "all latency lognormal median 2ms sigma 0.5 max 9ms"},
		{Override{Latency: &listed}, "all latency quantiles values [0s 1ms]"},
	} {
		if got := test.s.String(); got != test.want {
			t.Errorf("written as %q, want %q", got, test.want)
		}
	}
}

// TestSpell_SurvivesJSON: no link at all does not become every link.
func TestSpell_SurvivesJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := anySpell(100, 4).Draw(t, "override")
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Override
		if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s reads as %+v (%v), want %+v", text, got, err, want)
		}
	})
}

// TestSend_Copy: each message that meets the override arrives twice, the second time when it says; others once.
func TestSend_Copy(t *testing.T) {
	t.Parallel()
	n := Network{Latency: Constant(ms), Unordered: true}
	f := n.Flow(0, 1, 0, 2)
	var w Overrides
	w.Add(Override{From: 2 * ms, To: 3 * ms, Copy: 5 * ms})
	for at, want := range map[time.Duration]Fate{
		ms: {Due: 2 * ms}, 2 * ms: {Due: 3 * ms, Duplicated: true, CopyDue: 7 * ms}, 3 * ms: {Due: 4 * ms},
	} {
		got := n.Send(&f, at, 10, w.On(1, 2, at))
		want.Seq = got.Seq
		if got != want {
			t.Errorf("sent at %v: %+v, want %+v", at, got, want)
		}
	}
	if got := (&Override{Copy: 5 * ms}).String(); got != "all copy 5ms" {
		t.Errorf("it is called %q", got)
	}
}

func TestSpellCheck(t *testing.T) {
	t.Parallel()
	loss := probability(0.5)
	slow, wrong := Constant(ms), Latency{Law: &Pareto{}}
	far := Latency{Law: &Regions{Places: Places}}
	for name, test := range map[string]struct {
		s    Override
		want string
	}{
		"loss":          {Override{Loss: loss}, ""},
		"latency":       {Override{From: 1, To: 2, Latency: &slow}, ""},
		"copy":          {Override{Copy: ms}, ""},
		"copy before":   {Override{Copy: -ms}, "copy: -1ms, expected a delay above 0"},
		"nothing":       {Override{To: 1}, "changes nothing: expected a loss, a latency or a copy"},
		"ends at once":  {Override{From: 2, To: 2, Loss: loss}, "from 2ns to 2ns: ends before it begins"},
		"ends before":   {Override{From: 2, To: 1, Loss: loss}, "ends before it begins"},
		"loss above 1":  {Override{Loss: probability(1.5)}, "loss: 1.5, expected a probability"},
		"no number":     {Override{Loss: probability(math.NaN())}, "loss: NaN, expected a probability"},
		"wrong latency": {Override{Latency: &wrong}, "pareto with min 0s"},
		"regions":       {Override{Latency: &far}, "expected a distribution that depends on no link"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantError(t, test.s.Check(), test.want)
			var w Overrides
			w.Add(test.s)
			wantError(t, w.Check(), test.want)
		})
	}
}

func BenchmarkOn(b *testing.B) {
	var fair, over, on Overrides
	for at := range time.Duration(1000) {
		over.Add(Override{From: at, To: at + 1, Loss: probability(0.5)})
		on.Add(Override{From: at, Links: [][2]uint32{{1, 2}, {2, 1}}, Loss: probability(0.5)})
	}
	for _, test := range []struct {
		name string
		w    *Overrides
	}{{"fair", &fair}, {"over", &over}, {"on", &on}} {
		b.Run(test.name, func(b *testing.B) {
			for b.Loop() {
				test.w.On(1, 2, 2000)
			}
		})
	}
}
