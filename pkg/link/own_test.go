package link

import (
	"math"
	"strings"
	"testing"
	"time"
)

// TestSend_Bandwidth: bytes take their time to leave, one message after the other; what
// was sent meanwhile waits, and the link is free again after a pause.
func TestSend_Bandwidth(t *testing.T) {
	t.Parallel()
	n := Network{Latency: Constant(5 * ms), Bandwidth: 100_000, Duplication: 1} // 10 bytes in 100 µs
	f := n.Flow(0, 1, 0, 2)
	for k, m := range []struct {
		sent time.Duration
		size int
		left time.Duration
	}{
		{0, 100, ms},
		{0, 100, 2 * ms},
		{ms, 50, 2500 * us},    // waits for the others
		{ms, 0, 2500 * us},     // nothing takes no time, but does not overtake
		{9 * ms, 1, 9010 * us}, // the link is free
	} {
		fate := n.Send(&f, m.sent, m.size, nil)
		if want := m.left + 5*ms; fate.Due != want || fate.CopyDue != want {
			t.Errorf("message %d: due %v, its copy %v, want %v", k+1, fate.Due, fate.CopyDue, want)
		}
	}
	other := n.Flow(0, 2, 0, 1)
	if due := n.Send(&other, 0, 100, nil).Due; due != 6*ms {
		t.Errorf("the other direction: due %v, want 6ms", due)
	}
}

const us = time.Microsecond

// TestSend_Own: a link is as it was said to be, and its reverse, of which nothing was
// said, as all are.
func TestSend_Own(t *testing.T) {
	t.Parallel()
	slow, all, fast := Constant(40*ms), 1.0, 0.0
	n := Network{Latency: Constant(ms), Loss: 0.5, Bandwidth: 1000, Links: []Own{
		{Links: [][2]uint32{{1, 2}, {2, 3}}, Latency: &slow, Bandwidth: &fast},
		{Links: [][2]uint32{{3, 1}}, Loss: &all},
	}}
	if err := n.Check(); err != nil {
		t.Fatal(err)
	}
	due := func(from, to uint32, size int) time.Duration {
		f := n.Flow(0, from, 0, to)
		return n.Send(&f, 0, size, nil).Due
	}
	for _, test := range []struct {
		from, to uint32
		want     time.Duration
	}{{1, 2, 40 * ms}, {2, 3, 40 * ms}, {2, 1, 11 * ms}, {3, 1, 11 * ms}} {
		if got := due(test.from, test.to, 10); got != test.want {
			t.Errorf("%d to %d: %v, want %v", test.from, test.to, got, test.want)
		}
		if got, want := n.Means()(test.from, test.to), test.want/40*40; got != min(want, 40*ms) && got != ms {
			t.Errorf("mean of %d to %d: %v", test.from, test.to, got)
		}
	}
	lost := func(from, to uint32) (lost int) {
		f := n.Flow(0, from, 0, to)
		for range 1000 {
			if n.Send(&f, 0, 0, nil).Lost {
				lost++
			}
		}
		return lost
	}
	if got := lost(3, 1); got != 1000 {
		t.Errorf("3 to 1: %d of 1000 lost, want all", got)
	}
	if got := lost(1, 2); got < 400 || got > 600 {
		t.Errorf("1 to 2: %d of 1000 lost, want half", got)
	}
	if d, bounded := n.Bound(); d != 40*ms || bounded {
		t.Errorf("bound %v, %v; want 40ms, and none where messages wait for bandwidth", d, bounded)
	}
	if !n.Uneven() || n.Settled() {
		t.Error("links lose alike, or each has a mean latency")
	}
	wins := 0.0
	f := n.Flow(0, 3, 0, 1)
	if n.Send(&f, 0, 0, &Override{Loss: &wins}).Lost {
		t.Error("a fault's loss does not replace that of the link")
	}
}

func TestBound_Networks(t *testing.T) {
	t.Parallel()
	long := Uniform(ms, 90*ms)
	plain := Network{Latency: Constant(10 * ms)}
	if d, bounded := plain.Bound(); d != 10*ms || !bounded {
		t.Errorf("all links alike: %v, %v", d, bounded)
	}
	own := plain
	own.Links = []Own{{Links: [][2]uint32{{1, 2}}, Latency: &long}}
	if d, bounded := own.Bound(); d != 90*ms || !bounded {
		t.Errorf("one longer: %v, %v", d, bounded)
	}
	varied := plain
	varied.Variation = &Variation{Sigma: 0.5}
	// e^(0.5 × 3.0902 − 0.125) = 4.1374
	if d, bounded := varied.Bound(); math.Abs(float64(d)/1e6-41.374) > 0.01 || bounded {
		t.Errorf("varied: %v, %v; want 41.37 ms, unbounded", d, bounded)
	}
}

func TestOwn_Check(t *testing.T) {
	t.Parallel()
	ok, bad, far := 0.5, 1.5, Latency{Law: &Regions{Places: []string{"tokyo"}}}
	link := [][2]uint32{{1, 2}}
	for want, links := range map[string][]Own{
		"none is named":         {{Loss: &ok}},
		"no property":           {{Links: link}},
		"probability":           {{Links: link, Loss: &bad}},
		"depends on no link":    {{Links: link, Latency: &far}},
		"[1, 2] is named twice": {{Links: link, Loss: &ok}, {Links: link, Bandwidth: &ok}},
	} {
		n := Network{Latency: Constant(ms), Links: links}
		if err := n.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, b := range []float64{-1, math.NaN(), math.Inf(1)} {
		if (&Network{Latency: Constant(ms), Bandwidth: b}).Check() == nil {
			t.Errorf("a bandwidth of %v passes", b)
		}
	}
}
