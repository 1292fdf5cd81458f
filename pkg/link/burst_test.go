package link

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// anyBurst is one that Check accepts, the ends of every range included.
func anyBurst(t *rapid.T) *Burst {
	p := func(name string) float64 {
		return rapid.OneOf(rapid.SampledFrom([]float64{0, 1}), rapid.Float64Range(0, 1)).Draw(t, name)
	}
	b := &Burst{Enter: p("enter"), Leave: p("leave"), Good: p("good"), Bad: p("bad")}
	if b.Good > b.Bad {
		b.Good, b.Bad = b.Bad, b.Good
	}
	if b.Enter+b.Leave == 0 {
		b.Leave = 1
	}
	return b
}

// bursts counts the losses of a link, and the runs of messages that met a bad state.
type bursts struct{ lost, bad, runs int }

func (n *Network) bursts(f Flow, count int) (b bursts) {
	before := false
	for range count {
		if n.Send(&f, 0, 0, nil).Lost {
			b.lost++
		}
		if f.bad {
			b.bad++
		}
		if f.bad && !before {
			b.runs++
		}
		before = f.bad
	}
	return b
}

// TestBurst_AchievesItsRateAndLength: the share of loss, the share of messages that
// meet a bad state, and the mean length of a run of those, each in the interval
// that 99.9 % of all seeds hit.
func TestBurst_AchievesItsRateAndLength(t *testing.T) {
	t.Parallel()
	const z, count, links = 3.2905, 50_000, 20
	for _, b := range []Burst{
		{Enter: 0.01, Leave: 0.2, Good: 0, Bad: 1}, {Enter: 0.002, Leave: 0.05, Good: 0.01, Bad: 0.5},
		{Enter: 0.5, Leave: 0.5, Good: 0.1, Bad: 0.1}, {Enter: 0.9, Leave: 0.8, Good: 0.2, Bad: 0.7},
	} {
		n := Network{Latency: Constant(ms), Burst: &b, Seed: 11}
		if err := n.Check(); err != nil {
			t.Fatal(err)
		}
		var sum bursts
		for to := range uint32(links) {
			one := n.bursts(n.Flow(0, 1, 0, to+2), count)
			sum.lost, sum.bad, sum.runs = sum.lost+one.lost, sum.bad+one.bad, sum.runs+one.runs
		}
		pi := b.Enter / (b.Enter + b.Leave)
		memory := 1 - b.Enter - b.Leave // the correlation of a state with the next
		total := float64(count * links)
		within := func(what string, got, want, variance float64) {
			t.Helper()
			if spread := z * math.Sqrt(variance); math.Abs(got-want) > spread {
				t.Errorf("%+v: %s %.5f, want %.5f ± %.5f", b, what, got, want, spread)
			}
		}
		// Of a chain's mean: the variance of one, times (1 + memory) / (1 - memory).
		chain := pi * (1 - pi) * (1 + memory) / (1 - memory)
		within("bad share", float64(sum.bad)/total, pi, chain/total)
		coins := (1-pi)*b.Good*(1-b.Good) + pi*b.Bad*(1-b.Bad)
		within("loss", float64(sum.lost)/total, n.LossRate(),
			(coins+(b.Bad-b.Good)*(b.Bad-b.Good)*chain)/total)
		// The length of a run is geometric.
		within("length of a run", float64(sum.bad)/float64(sum.runs), 1/b.Leave,
			(1-b.Leave)/(b.Leave*b.Leave)/float64(sum.runs))
	}
}

// TestBurst_IsStationary: the first message of a link is no better off than others.
func TestBurst_IsStationary(t *testing.T) {
	t.Parallel()
	n := Network{Latency: Constant(ms), Burst: &Burst{Enter: 0.003, Leave: 0.01, Bad: 1}, Seed: 4}
	const links = 20_000
	lost := 0
	for to := range uint32(links) {
		f := n.Flow(0, 1, 0, to+2)
		if n.Send(&f, 0, 0, nil).Lost {
			lost++
		}
	}
	if lo, hi := binomialRange(links, n.LossRate()); lost < lo || lost > hi {
		t.Errorf("%d of %d first messages lost, want %d to %d", lost, links, lo, hi)
	}
}

// TestBurst_WithoutMemoryIsLoss: equal rates in both states, or states that are
// drawn anew for each message, lose as independent loss does.
func TestBurst_WithoutMemoryIsLoss(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, sent := anyNetwork(t), anySchedule(t)
		if n.Burst == nil {
			n.Loss, n.Burst = 0, anyBurst(t)
		}
		b := *n.Burst
		b.Good = b.Bad
		n.Burst = &b
		same := n
		same.Loss, same.Burst = b.Bad, nil
		want := fates(same, same.Flow(0, 1, 0, 2), sent)
		for i, got := range fates(n, n.Flow(0, 1, 0, 2), sent) {
			if got != want[i] {
				t.Fatalf("message %d: %+v, want %+v", i+1, got, want[i])
			}
		}
		if n.LossRate() != same.LossRate() {
			t.Fatalf("loss rate %v, want %v", n.LossRate(), same.LossRate())
		}
	})
}

// TestSkip_IsLikeSending: a receiver or a host can ask for the fate of one message
// without those before.
func TestSkip_IsLikeSending(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, sent := anyNetwork(t), anySchedule(t)
		n.Unordered = true
		all := fates(n, n.Flow(0, 1, 0, 2), sent)
		for i, want := range all {
			f := n.Flow(0, 1, 0, 2)
			n.Skip(&f, uint64(i))
			if got := n.Send(&f, sent[i], 0, nil); got != want {
				t.Fatalf("message %d by itself: %+v, want %+v", i+1, got, want)
			}
		}
	})
}

// TestSkip_FindsTheState by looking back, also where states alternate.
func TestSkip_FindsTheState(t *testing.T) {
	t.Parallel()
	for _, b := range []Burst{
		{Enter: 0.02, Leave: 0.1, Bad: 1}, {Enter: 0.6, Leave: 0.7, Bad: 1}, {Enter: 0.95, Leave: 0.9, Bad: 1},
		{Enter: 1, Leave: 1, Bad: 1}, {Enter: 0.01, Leave: 0, Bad: 1},
	} {
		n := Network{Latency: Constant(ms), Burst: &b, Seed: 8}
		for to := range uint32(10) {
			all := n.Flow(0, 1, 0, to+2)
			for k := range uint64(300) {
				f := n.Flow(0, 1, 0, to+2)
				if n.Skip(&f, k); f.bad != all.bad || f.Sent != all.Sent {
					t.Fatalf("%+v, link to %d: after %d messages %+v, want %+v", b, to+2, k, f, all)
				}
				n.Send(&all, 0, 0, nil)
			}
		}
	}
}

func TestLossRate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		n    Network
		want float64
	}{
		{Network{}, 0}, {Network{Loss: 0.25}, 0.25},
		{Network{Burst: &Burst{Enter: 0.1, Leave: 0.3, Good: 0, Bad: 1}}, 0.25},
		{Network{Burst: &Burst{Enter: 0.1, Leave: 0.3, Good: 0.2, Bad: 0.6}}, 0.3},
		{Network{Burst: &Burst{Enter: 0, Leave: 0.3, Good: 0.2, Bad: 0.6}}, 0.2},
		{Network{Burst: &Burst{Enter: 0.1, Leave: 0, Good: 0.2, Bad: 0.6}}, 0.6},
	} {
		if got := test.n.LossRate(); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%+v loses %v, want %v", test.n.Burst, got, test.want)
		}
	}
}

func TestBurstCheck(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		b    Burst
		want string
	}{
		"good":        {Burst{0.01, 0.2, 0, 0.5}, ""},
		"alternating": {Burst{1, 1, 0, 1}, ""},
		"never bad":   {Burst{0, 0.2, 0, 1}, ""},
		"always bad":  {Burst{0.1, 0, 0, 1}, ""},
		"enter":       {Burst{-0.1, 0.2, 0, 1}, "p_enter: -0.1, expected a probability from 0 to 1"},
		"leave":       {Burst{0.1, 1.2, 0, 1}, "p_leave: 1.2, expected a probability"},
		"good state":  {Burst{0.1, 0.2, math.NaN(), 1}, "good: NaN, expected a probability"},
		"bad state":   {Burst{0.1, 0.2, 0, 2}, "bad: 2, expected a probability"},
		"stuck":       {Burst{0, 0, 0, 1}, "the state would never change"},
		"swapped":     {Burst{0.1, 0.2, 0.5, 0.1}, "bad 0.1 is below good 0.5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantError(t, test.b.Check(), test.want)
		})
	}
}

// TestBurst_LuckIsFixed: results that were published must come out again.
func TestBurst_LuckIsFixed(t *testing.T) {
	t.Parallel()
	n := Network{
		Latency: Uniform(ms, 3*ms), Duplication: 0.05, Seed: 1<<53 - 1,
		Burst: &Burst{Enter: 0.05, Leave: 0.25, Good: 0.01, Bad: 0.75},
	}
	f := n.Flow(1, 7, 2, 9)
	h := fnv.New64a()
	for k := range 10_000 {
		fate := n.Send(&f, time.Duration(k)*time.Microsecond, 0, nil)
		bits := uint64(fate.Due) << 2
		if fate.Lost {
			bits |= 1
		}
		if fate.CopyLost {
			bits |= 2
		}
		h.Write(binary.LittleEndian.AppendUint64(nil, bits))
	}
	if got, want := h.Sum64(), uint64(0x49c9f80f033bf87f); got != want {
		t.Errorf("hash of 10000 fates %#x, want %#x", got, want)
	}
}
