package link

import (
	"slices"
	"testing"
	"time"
)

// TestMatrix_Between: a way has the messages of the trials, or the probes where there were none; its losses
// are their share; and one on which nothing arrived is none.
func TestMatrix_Between(t *testing.T) {
	t.Parallel()
	ms := func(list ...time.Duration) []time.Duration {
		for i := range list {
			list[i] *= time.Millisecond
		}
		return Percentiles(list)
	}
	m := Matrix{Hosts: []Lodge{{Name: "a"}, {Name: "b"}}, Routes: []Route{
		{Phase: Before, From: "a", To: "b", Sent: 4, Lost: 1, Delays: ms(100, 200, 300)},
		{Phase: During, From: "a", To: "b", Sent: 3, Delays: ms(-1, 2, 3)},
		{Phase: Before, From: "b", To: "a", Sent: 4, Lost: 1, Delays: ms(30, 20, 10)},
		{Phase: During, From: "b", To: "a", Sent: 2},
		{Phase: During, From: "a", To: "a", Sent: 1, Lost: 1},
	}}
	there, back := m.Between("a", "b"), m.Between("b", "a")
	if most, _ := there.Latency.Bound(); most != 3*time.Millisecond || there.Loss != nil ||
		there.Latency.Law.(*Quantiles).Values[0] != 0 {
		t.Errorf("there %v, loss %v: want the messages, and no delay below 0", there.Latency.Law, there.Loss)
	}
	if back.Latency.Average() != 20*time.Millisecond || *back.Loss != 0.25 {
		t.Errorf("back %v, loss %v: want the probes", back.Latency.Average(), *back.Loss)
	}
	if m.Between("a", "a") != nil {
		t.Error("a way on which nothing arrived has delays")
	}
	short := m.Condensed()
	if len(short.Routes) != 2 || short.Check() != nil || short.Between("b", "a").Latency.Average() != back.Latency.Average() {
		t.Errorf("condensed: %v, %v", short, short.Check())
	}
	short.Join(&m)
	if n := len(short.Routes); n != 7 || short.Routes[0].Part != 1 || short.Routes[n-1].Part != 1 {
		t.Errorf("joined: %d routes", n)
	}
	short.Routes[0].Delays = slices.Clone(short.Routes[0].Delays[:5])
	if short.Check() == nil {
		t.Error("5 percentiles are taken for 101")
	}
}

// TestRoute_State: a delay that the clocks can be wrong by is told from one that is known.
func TestRoute_State(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]Route{
		Silent: {Sent: 3}, Measured: {Delays: Percentiles([]time.Duration{4, 5, 6}), ClockError: 4},
		Swallowed: {Delays: Percentiles([]time.Duration{4, 5, 6}), ClockError: 5},
	} {
		if got := r.State(); got != want {
			t.Errorf("%v: %s, want %s", r, got, want)
		}
	}
}

// TestNetwork_Real: nothing happens to messages, whatever algorithms reckon with.
func TestNetwork_Real(t *testing.T) {
	t.Parallel()
	n := Network{Latency: Constant(time.Second), Real: true, AtMost: time.Second}
	f := n.Flow(0, 1, 0, 2)
	for k := range 100 {
		sent := time.Duration(k)
		if fate := n.Send(&f, sent, 10, nil); fate.Due != sent || fate.Lost || fate.Duplicated {
			t.Fatalf("message %d: %+v", k, fate)
		}
	}
	if d, bounded := n.Bound(); d != time.Second || bounded {
		t.Errorf("bound %v, %v: want what is reckoned with, and no promise", d, bounded)
	}
}
