package link

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// anyNetwork is a network with a latency of any distribution and any kind of loss.
func anyNetwork(t *rapid.T) Network {
	n := Network{
		Duplication: rapid.Float64Range(0, 1).Draw(t, "duplication"),
		Unordered:   rapid.Bool().Draw(t, "unordered"),
		Seed:        rapid.Uint64().Draw(t, "seed"),
	}
	if rapid.IntRange(0, 7).Draw(t, "by regions") == 0 {
		n.Latency = anyRegions(t)
	} else {
		n.Latency = anyLatency(t)
	}
	if rapid.Bool().Draw(t, "bursts") {
		n.Burst = anyBurst(t)
	} else {
		n.Loss = rapid.Float64Range(0, 1).Draw(t, "loss")
	}
	if err := n.Check(); err != nil {
		t.Fatalf("%+v: %v", n, err)
	}
	return n
}

// anySchedule is when messages are handed over: not decreasing, often at once.
func anySchedule(t *rapid.T) []time.Duration {
	gaps := rapid.SliceOfN(rapid.Int64Range(0, int64(2*time.Millisecond)), 1, 50).Draw(t, "gaps")
	out, at := make([]time.Duration, len(gaps)), time.Duration(0)
	for i, gap := range gaps {
		if gap%3 > 0 {
			at += time.Duration(gap)
		}
		out[i] = at
	}
	return out
}

func fates(n Network, f Flow, sent []time.Duration) []Fate { return fatesIn(n, f, sent, &Overrides{}) }

// fatesIn are those of messages from process 1 to process 2 in a overrides.
func fatesIn(n Network, f Flow, sent []time.Duration, w *Overrides) []Fate {
	out := make([]Fate, len(sent))
	for i, at := range sent {
		out[i] = n.Send(&f, at, 0, w.On(1, 2, at))
	}
	return out
}

func TestSend_FIFOIsNeverOvertaken(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, sent := anyNetwork(t), anySchedule(t)
		n.Unordered = true
		free := fates(n, n.Flow(0, 1, 0, 2), sent)
		n.Unordered = false
		fifo := fates(n, n.Flow(0, 1, 0, 2), sent)
		last := time.Duration(0) // due of the copy before, a lost one included
		follow := func(k int, copied string, due, drawn time.Duration) {
			if due != max(last, drawn) {
				t.Fatalf("%s %d, sent at %v: due %v; its latency ends at %v, the one before is due %v",
					copied, k, sent[k-1], due, drawn, last)
			}
			last = due
		}
		for i, f := range fifo {
			if f.Seq != uint64(i+1) {
				t.Fatalf("message %d has number %d", i+1, f.Seq)
			}
			follow(i+1, "message", f.Due, free[i].Due)
			if f.Duplicated {
				follow(i+1, "copy of", f.CopyDue, free[i].CopyDue)
			}
			if f.Lost != free[i].Lost || f.Duplicated != free[i].Duplicated ||
				f.CopyLost != free[i].CopyLost {
				t.Fatalf("the order of the link changed the luck: %+v, %+v", f, free[i])
			}
		}
	})
}

func TestSend_DelayIsADelayOfTheDistribution(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, sent := anyNetwork(t), anySchedule(t)
		flow := n.Flow(1, 3, 2, 1)
		latency := &n.Latency
		if flow.condition != nil && flow.law != nil {
			latency = &Latency{flow.law}
		}
		least, most := latency.Draw(0), latency.Draw(math.MaxUint64)
		for i, f := range fates(n, flow, sent) {
			delays := []time.Duration{f.Due - sent[i]}
			if f.Duplicated {
				delays = append(delays, f.CopyDue-sent[i])
			} else if f.CopyDue != 0 || f.CopyLost {
				t.Fatalf("message %d has no copy, but %+v", i+1, f)
			}
			for _, delay := range delays {
				if delay < least || n.Unordered && delay > most {
					t.Fatalf("message %d: delay %v, want %v to %v", i+1, delay, least, most)
				}
			}
		}
	})
}

// TestSend_DoesNotDependOnOthers sends on several links of both planes in any
// order and compares each link with itself alone.
func TestSend_DoesNotDependOnOthers(t *testing.T) {
	t.Parallel()
	type link struct {
		plane                 uint8
		from, incarnation, to uint32
	}
	rapid.Check(t, func(t *rapid.T) {
		n := anyNetwork(t)
		order := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) link {
			return link{
				rapid.Uint8Range(0, 1).Draw(t, "plane"), rapid.Uint32Range(1, 3).Draw(t, "from"),
				rapid.Uint32Range(0, 1).Draw(t, "incarnation"), rapid.Uint32Range(1, 3).Draw(t, "to"),
			}
		}), 1, 60).Draw(t, "order")
		flows := map[link]*Flow{}
		got, sent := map[link][]Fate{}, map[link][]time.Duration{}
		for i, l := range order {
			if flows[l] == nil {
				f := n.Flow(l.plane, l.from, l.incarnation, l.to)
				flows[l] = &f
			}
			at := time.Duration(i) * 100 * time.Microsecond
			sent[l] = append(sent[l], at)
			got[l] = append(got[l], n.Send(flows[l], at, 0, nil))
		}
		for l, fs := range got {
			alone := fates(n, n.Flow(l.plane, l.from, l.incarnation, l.to), sent[l])
			if !slices.Equal(fs, alone) {
				t.Fatalf("link %+v among others: %+v\nalone: %+v", l, fs, alone)
			}
		}
	})
}

// TestSend_LuckStaysWhenTheNetworkChanges: cells of a sweep differ by what is
// swept alone.
func TestSend_LuckStaysWhenTheNetworkChanges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, sent := anyNetwork(t), anySchedule(t)
		n.Unordered = true // with copies on a FIFO link, others must wait
		before := fates(n, n.Flow(0, 1, 0, 2), sent)
		other := n
		other.Latency = anyLatency(t)
		for i, f := range fates(other, other.Flow(0, 1, 0, 2), sent) {
			g := before[i]
			if f.Lost != g.Lost || f.Duplicated != g.Duplicated || f.CopyLost != g.CopyLost {
				t.Fatalf("another latency: message %d met %+v, then %+v", i+1, g, f)
			}
		}
		other = n
		other.Duplication = rapid.Float64Range(0, 1).Draw(t, "other duplication")
		for i, f := range fates(other, other.Flow(0, 1, 0, 2), sent) {
			g := before[i]
			if f.Lost != g.Lost || f.Due != g.Due ||
				f.Duplicated && g.Duplicated && (f.CopyDue != g.CopyDue || f.CopyLost != g.CopyLost) ||
				other.Duplication >= n.Duplication && g.Duplicated && !f.Duplicated {
				t.Fatalf("another duplication: message %d met %+v, then %+v", i+1, g, f)
			}
		}
		other = n
		if n.Burst != nil {
			worse := *n.Burst
			worse.Bad = rapid.Float64Range(worse.Bad, 1).Draw(t, "worse bursts")
			worse.Good = rapid.Float64Range(worse.Good, worse.Bad).Draw(t, "worse between bursts")
			other.Burst = &worse
		} else {
			other.Loss = rapid.Float64Range(n.Loss, 1).Draw(t, "more loss")
		}
		for i, f := range fates(other, other.Flow(0, 1, 0, 2), sent) {
			g := before[i]
			if f.Due != g.Due || f.CopyDue != g.CopyDue || g.Lost && !f.Lost || g.CopyLost && !f.CopyLost {
				t.Fatalf("more loss: message %d met %+v, then %+v", i+1, g, f)
			}
		}
	})
}

func TestFlow_EachHasLuckOfItsOwn(t *testing.T) {
	t.Parallel()
	base := Network{Latency: Uniform(0, time.Second), Loss: 0.5, Seed: 1}
	reseeded := base
	reseeded.Seed = 2
	first := base.Flow(0, 1, 0, 2)
	const count = 10_000
	sent := make([]time.Duration, count)
	want := fates(base, first, sent)
	for name, flow := range map[string]Flow{
		"incarnation":      base.Flow(0, 1, 1, 2),
		"next incarnation": base.Flow(0, 1, 2, 2),
		"plane":            base.Flow(1, 1, 0, 2),
		"sender":           base.Flow(0, 3, 0, 2),
		"receiver":         base.Flow(0, 1, 0, 3),
		"way back":         base.Flow(0, 2, 0, 1),
		"seed":             reseeded.Flow(0, 1, 0, 2),
	} {
		same := 0
		for i, f := range fates(base, flow, sent) {
			if f.Lost == want[i].Lost {
				same++
			}
		}
		if lo, hi := binomialRange(count, 0.5); same < lo || same > hi {
			t.Errorf("another %s: %d of %d messages meet the same, want about half", name, same, count)
		}
	}
	if flow := base.Flow(0, 1, 0, 2); flow != first || flow.Sent != 0 {
		t.Errorf("the same flow is %+v, then %+v", first, flow)
	}
}

// binomialRange is the least and the largest number of successes out of n that
// leave 0.05 % beyond on either side, by the exact distribution.
func binomialRange(n int, p float64) (lo, hi int) {
	if p == 0 || p == 1 {
		k := int(p) * n
		return k, k
	}
	lgamma := func(k int) float64 {
		v, _ := math.Lgamma(float64(k + 1))
		return v
	}
	const tail = 0.0005
	mean, spread := float64(n)*p, math.Sqrt(float64(n)*p*(1-p))
	k := max(0, int(mean-10*spread-10)) // what lies below is too little to matter
	for below := 0.0; below < 1-tail && k <= n; k++ {
		if below <= tail {
			lo = k
		}
		below += math.Exp(lgamma(n) - lgamma(k) - lgamma(n-k) +
			float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	}
	return lo, k - 1
}

func TestBinomialRange(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		n      int
		p      float64
		lo, hi int
	}{ // by summing the probabilities as fractions of whole numbers
		{10, 0.5, 0, 10}, {100, 0.5, 34, 66}, {100_000, 0.5, 49_480, 50_520}, {5, 0, 0, 0}, {5, 1, 5, 5},
	} {
		if lo, hi := binomialRange(test.n, test.p); lo != test.lo || hi != test.hi {
			t.Errorf("n = %d, p = %v: %d to %d, want %d to %d", test.n, test.p, lo, hi, test.lo, test.hi)
		}
	}
}

func TestSend_AchievesLossAndDuplication(t *testing.T) {
	t.Parallel()
	const count = 100_000
	for _, p := range []float64{0, 1e-4, 0.01, 0.05, 1.0 / 3, 0.5, 0.99, 1} {
		for _, link := range [][2]uint32{{1, 2}, {2, 1}, {1, 1}, {100, 4_000_000_000}} {
			n := Network{Latency: Constant(time.Millisecond), Loss: p, Duplication: 1 - p, Seed: 20}
			f := n.Flow(0, link[0], 0, link[1])
			var lost, copies, copiesLost, both, next, nextLost int
			before := false
			for range count {
				fate := n.Send(&f, 0, 0, nil)
				if fate.Lost {
					lost++
				}
				if before {
					next++
					if fate.Lost {
						nextLost++
					}
				}
				before = fate.Lost
				if !fate.Duplicated {
					continue
				}
				copies++
				if fate.CopyLost {
					copiesLost++
				}
				if fate.Lost && fate.CopyLost {
					both++
				}
			}
			within := func(what string, got, of int, p float64) {
				t.Helper()
				if lo, hi := binomialRange(of, p); got < lo || got > hi {
					t.Errorf("p = %v, link %v: %s %d of %d, want %d to %d", p, link, what, got, of, lo, hi)
				}
			}
			within("lost", lost, count, p)
			within("duplicated", copies, count, 1-p)
			within("lost copies", copiesLost, copies, p)
			within("lost with their copies", both, copies, p*p)
			within("lost after a lost one", nextLost, next, p)
		}
	}
}

func TestChance_IsExactAtTheEnds(t *testing.T) {
	t.Parallel()
	for _, u := range []uint64{0, 1, 1 << 11, 1<<63 - 1, 1 << 63, math.MaxUint64} {
		if chance(u, 0) {
			t.Errorf("u = %#x: happens with probability 0", u)
		}
		if !chance(u, 1) {
			t.Errorf("u = %#x: does not happen with probability 1", u)
		}
	}
	if !chance(1<<63-1, 0.5) || chance(1<<63, 0.5) {
		t.Error("the lower half of all u, and no other, is probability 0.5")
	}
}

func TestNetworkCheck(t *testing.T) {
	t.Parallel()
	good := Network{Latency: Constant(0)}
	for name, test := range map[string]struct {
		spoil func(*Network)
		want  string
	}{
		"good":              {func(*Network) {}, ""},
		"certain loss":      {func(n *Network) { n.Loss = 1 }, ""},
		"certain copies":    {func(n *Network) { n.Duplication = 1 }, ""},
		"negative loss":     {func(n *Network) { n.Loss = -0.1 }, "loss: -0.1, expected a probability"},
		"loss above 1":      {func(n *Network) { n.Loss = 1.0000001 }, "loss: 1.0000001, expected"},
		"no number":         {func(n *Network) { n.Loss = math.NaN() }, "loss: NaN, expected"},
		"negative copies":   {func(n *Network) { n.Duplication = -1 }, "duplication: -1, expected"},
		"copies above 1":    {func(n *Network) { n.Duplication = 2 }, "duplication: 2, expected"},
		"no number, copies": {func(n *Network) { n.Duplication = math.NaN() }, "duplication: NaN, expected"},
		"latency":           {func(n *Network) { n.Latency = Latency{} }, "unknown distribution"},
		"bursts":            {func(n *Network) { n.Burst = &Burst{0.01, 0.2, 0, 1} }, ""},
		"bad bursts":        {func(n *Network) { n.Burst = &Burst{2, 0.2, 0, 1} }, "p_enter: 2, expected"},
		"two kinds of loss": {func(n *Network) { n.Loss, n.Burst = 0.1, &Burst{Enter: 1} }, "leave one of them out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := good
			test.spoil(&n)
			wantError(t, n.Check(), test.want)
		})
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("error %v, want none", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("error %v, want one with %q", err, want)
	}
}

// TestSend_LuckIsFixed: results that were published must come out again.
// Without floating point in the latency, on every architecture.
func TestSend_LuckIsFixed(t *testing.T) {
	t.Parallel()
	n := Network{
		Latency: Uniform(time.Millisecond, 3*time.Millisecond),
		Loss:    0.1, Duplication: 0.05, Seed: 1<<53 - 1,
	}
	if err := n.Check(); err != nil {
		t.Fatal(err)
	}
	f := n.Flow(1, 7, 2, 9)
	h := fnv.New64a()
	var b []byte
	for k := range 10_000 {
		fate := n.Send(&f, time.Duration(k)*time.Microsecond, 0, nil)
		bits := uint64(0)
		for i, is := range []bool{fate.Lost, fate.Duplicated, fate.CopyLost} {
			if is {
				bits |= 1 << i
			}
		}
		b = binary.LittleEndian.AppendUint64(b[:0], fate.Seq)
		b = binary.LittleEndian.AppendUint64(b, uint64(fate.Due))
		b = binary.LittleEndian.AppendUint64(b, uint64(fate.CopyDue))
		b = binary.LittleEndian.AppendUint64(b, bits)
		h.Write(b)
	}
	if got, want := h.Sum64(), uint64(0x850df58d1ae8ff4); got != want {
		t.Errorf("hash of 10000 fates %#x, want %#x", got, want)
	}
}

func BenchmarkSend(b *testing.B) {
	for _, test := range []struct {
		name string
		n    Network
	}{
		{"constant", Network{Latency: Constant(time.Millisecond)}},
		{"uniform", Network{Latency: Uniform(0, time.Millisecond)}},
		{"uniform, lossy, duplicating",
			Network{Latency: Uniform(0, time.Millisecond), Loss: 0.01, Duplication: 0.01}},
		{"lognormal", Network{Latency: Latency{Law: &Lognormal{Median: time.Millisecond, Sigma: 0.5}}}},
		{"exponential", Network{Latency: Latency{Law: &Exponential{Mean: time.Millisecond}}}},
		{"uniform, bursts", Network{Latency: Uniform(0, time.Millisecond),
			Burst: &Burst{Enter: 0.01, Leave: 0.2, Bad: 0.5}}},
		{"regions", Network{Latency: Latency{Law: &Regions{Places: Places}}}},
	} {
		b.Run(test.name, func(b *testing.B) {
			f := test.n.Flow(0, 1, 0, 2)
			at := time.Duration(0)
			b.ReportAllocs()
			for b.Loop() {
				at = test.n.Send(&f, at, 0, nil).Due
			}
		})
	}
}

// TestFlow_Pass: what was sent before holds up what is sent later for as long as it would if the clock had
// shown the time between.
func TestFlow_Pass(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]Network{
		"order":     {Latency: Uniform(0, 40*time.Millisecond)},
		"bandwidth": {Latency: Constant(time.Millisecond), Bandwidth: 1000},
	} {
		shown, passed := n.Flow(0, 1, 0, 2), n.Flow(0, 1, 0, 2)
		held := 0
		for k := range 200 {
			now := time.Duration(k) * 7 * time.Millisecond
			want := n.Send(&shown, now, 5, nil)
			got := n.Send(&passed, 0, 5, nil)
			if got.Due != want.Due-now || got.Held != want.Held {
				t.Fatalf("%s: message %d is due after %v, held %v; want %v, %v", name, k, got.Due, got.Held,
					want.Due-now, want.Held)
			}
			if want.Due-now > 40*time.Millisecond || want.Held > 0 {
				held++
			}
			if passed.Pass(7 * time.Millisecond); k == 100 { // also after a long time of nothing
				passed.Pass(time.Hour)
				shown = n.Flow(0, 1, 0, 2)
				n.Skip(&shown, 101)
			}
		}
		if name == "order" && held == 0 {
			t.Errorf("%s: no message waited for another", name)
		}
	}
}
