package link

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestSend_Recorded: a link goes through the record with the time, from a place of its own,
// and round again; both planes and every incarnation meet the same.
func TestSend_Recorded(t *testing.T) {
	t.Parallel()
	l := &Recorded{Every: 10 * ms, Values: []time.Duration{ms, 4 * ms, 2 * ms, 3 * ms}}
	n := Network{Latency: Latency{l}, Unordered: true, Seed: 5}
	if err := n.Check(); err != nil {
		t.Fatal(err)
	}
	begun := map[int]int{}
	for from := uint32(1); from <= 40; from++ {
		f := n.Flow(0, from, 0, from+1)
		first := n.Send(&f, 9*ms, 0, nil).Due - 9*ms
		at := slices.Index(l.Values, first)
		begun[at]++
		for k := 1; k < 9; k++ {
			sent := time.Duration(k) * 10 * ms
			other := n.Flow(1, from, 3, from+1)
			got, want := n.Send(&f, sent, 0, nil).Due-sent, l.Values[(at+k)%4]
			if got != want || n.Send(&other, sent, 0, nil).Due-sent != want {
				t.Fatalf("link %d, step %d: %v, want %v", from, k, got, want)
			}
		}
	}
	if len(begun) != 4 {
		t.Errorf("links begin at %v, want all four places", begun)
	}
	if d, bounded := n.Bound(); d != 4*ms || !bounded {
		t.Errorf("bound %v, %v", d, bounded)
	}
	if mean := n.Means()(1, 2); mean != 2500*us || n.Latency.Average() != mean {
		t.Errorf("mean %v, %v, want 2.5ms", mean, n.Latency.Average())
	}
	slow := Constant(70 * ms)
	f := n.Flow(0, 1, 0, 2)
	if due := n.Send(&f, 0, 0, &Override{Latency: &slow}).Due; due != 70*ms {
		t.Errorf("a fault's latency: %v", due)
	}
	n.Variation = &Variation{Sigma: 1}
	f = n.Flow(0, 1, 0, 2)
	if due := n.Send(&f, 0, 0, nil).Due; slices.Contains(l.Values, due) {
		t.Errorf("a variation leaves the record as it is: %v", due)
	}
}

// TestSend_RecordedLoss: what is sent in a lost interval is lost, with all of its copies and on both planes,
// unless the link or a fault has a loss of its own. Losses move no other draw.
func TestSend_RecordedLoss(t *testing.T) {
	t.Parallel()
	l := Latency{Law: &Recorded{Every: 10 * ms, Values: []time.Duration{ms, Lost, Lost, 3 * ms}}}
	n := Network{Latency: l, Unordered: true, Duplication: 0.5, Seed: 5}
	if err := n.Check(); err != nil {
		t.Fatal(err)
	}
	if !n.Loses() || n.LossRate() != 0.5 || !n.Uneven() {
		t.Errorf("loses %v, %v, uneven %v", n.Loses(), n.LossRate(), n.Uneven())
	}
	if d, bounded := n.Bound(); d != 3*ms || !bounded || l.Average() != 2*ms || n.Means()(1, 2) != 2*ms {
		t.Errorf("bound %v, mean %v", d, l.Average())
	}
	copies := 0
	for from := uint32(1); from <= 40; from++ {
		var fates string
		for plane := range uint8(2) {
			f := n.Flow(plane, from, 0, 99)
			var now strings.Builder
			for k := range 8 {
				sent := time.Duration(k)*10*ms + ms
				fate := n.Send(&f, sent, 0, nil)
				if fate.Lost {
					now.WriteByte('x')
				} else {
					fmt.Fprint(&now, fate.Due-sent)
				}
				if fate.Duplicated {
					if copies++; fate.CopyLost != fate.Lost {
						t.Fatalf("a copy has another fate: %+v", fate)
					}
				}
			}
			if fates = now.String() + fates; !strings.Contains(strings.Repeat("1msxx3ms", 5), now.String()) {
				t.Fatalf("link %d: %s", from, fates)
			}
		}
		if fates[:len(fates)/2] != fates[len(fates)/2:] {
			t.Errorf("the planes of link %d: %s", from, fates)
		}
	}
	if copies < 100 {
		t.Errorf("%d copies", copies)
	}

	none, slow := 0.0, Constant(70*ms)
	own := n
	own.Links = []Own{{Links: [][2]uint32{{1, 2}}, Loss: &none}}
	f, g, h := n.Flow(0, 1, 0, 2), n.Flow(0, 1, 0, 2), own.Flow(0, 1, 0, 2)
	for k := range 4 {
		sent := time.Duration(k) * 10 * ms
		if n.Send(&f, sent, 0, &Override{Loss: &none}).Lost || own.Send(&h, sent, 0, nil).Lost {
			t.Error("lost, where nothing may be")
		}
		want := n.Flow(0, 1, 0, 2)
		n.Skip(&want, uint64(k))
		got := n.Send(&g, sent, 0, &Override{Latency: &slow})
		if got.Due != sent+70*ms || got.Lost != n.Send(&want, sent, 0, nil).Lost {
			t.Errorf("a fault's latency: %+v", got)
		}
	}
	n.Loss = 0.5
	if n.LossRate() != 0.75 {
		t.Errorf("a loss besides: %v", n.LossRate())
	}
}

// TestSend_RecordedLink: a link may have a record of its own.
func TestSend_RecordedLink(t *testing.T) {
	t.Parallel()
	l := Latency{Law: &Recorded{Every: 10 * ms, Values: []time.Duration{5 * ms, Lost}}}
	n := Network{Latency: Constant(ms), Links: []Own{{Links: [][2]uint32{{1, 2}}, Latency: &l}}, Seed: 3}
	if err := n.Check(); err != nil {
		t.Fatal(err)
	}
	if n.LossRate() != 0 || !n.Loses() || !n.Uneven() || n.Means()(1, 2) != 5*ms {
		t.Errorf("loses %v, uneven %v, mean %v", n.Loses(), n.Uneven(), n.Means()(1, 2))
	}
	f, back := n.Flow(0, 1, 0, 2), n.Flow(0, 2, 0, 1)
	lost := 0
	for k := range 10 {
		sent := time.Duration(k) * 10 * ms
		switch fate := n.Send(&f, sent, 0, nil); {
		case fate.Lost:
			lost++
		case fate.Due != sent+5*ms:
			t.Errorf("%+v, sent at %v", fate, sent)
		}
		if fate := n.Send(&back, sent, 0, nil); fate.Lost || fate.Due != sent+ms {
			t.Errorf("the way back: %+v, sent at %v", fate, sent)
		}
	}
	if lost != 5 {
		t.Errorf("%d of 10 lost", lost)
	}
	l.Law = &Recorded{Every: 10 * ms, Pairs: []Pair{{1, 2, Record{5 * ms, Lost}}}}
	wantError(t, n.Check(), "a record for each pair is for network.latency alone")
}

// TestSend_Pairs: each link goes through its own record, and all begin at one place, so that an outage that befell
// several pairs befalls them together.
func TestSend_Pairs(t *testing.T) {
	t.Parallel()
	values := func(d time.Duration) []time.Duration { return []time.Duration{d, d, Lost, d, d + ms, d} }
	l := Latency{Law: &Recorded{Every: 10 * ms, Pairs: []Pair{{1, 2, values(ms)}, {2, 1, values(2 * ms)},
		{1, 3, values(3 * ms)[:4]}, {3, 1, values(4 * ms)}, {2, 3, values(5 * ms)}, {3, 2, values(6 * ms)}}}}
	begun := map[int]bool{}
	for seed := range uint64(40) {
		n := Network{Latency: l, Seed: seed}
		if err := n.Check(); err != nil {
			t.Fatal(err)
		}
		at := -1
		for _, p := range l.Law.(*Recorded).Pairs {
			if len(p.Values) < 6 {
				continue
			}
			f := n.Flow(0, p.From, 0, p.To)
			for k := range 12 {
				sent := time.Duration(k) * 10 * ms
				if fate := n.Send(&f, sent, 0, nil); fate.Lost {
					if first := (2 - k + 12) % 6; at >= 0 && at != first {
						t.Errorf("link %d>%d begins at %d, others at %d", p.From, p.To, first, at)
					} else {
						at = first
					}
				} else if d := fate.Due - sent; d != p.Values[0] && d != p.Values[4] {
					t.Errorf("link %d>%d: %v", p.From, p.To, d)
				}
			}
		}
		begun[at] = true
		if n.Means()(2, 3) != 5200*us || n.LossRate() < 0.18 || n.LossRate() > 0.19 {
			t.Fatalf("mean %v, loss %v", n.Means()(2, 3), n.LossRate())
		}
	}
	if len(begun) != 4 {
		t.Errorf("trials begin at %v, want all four places of the shortest record", begun)
	}
	if d, bounded := l.Bound(); d != 7*ms || !bounded {
		t.Errorf("bound %v", d)
	}
	if l.Covers(3) != nil || (&Latency{}).Covers(9) != nil {
		t.Error("three processes are covered")
	}
	wantError(t, l.Covers(4), "no record from 1 to 4, and 4 processes need one: add a file 1-4.txt, or run fewer nodes")
	if text := l.Literal(); !strings.Contains(text, "pairs: [{link: [1, 2], values: [1ms, 1ms, lost, 1ms, 2ms, 1ms]}, {") {
		t.Error(text)
	}
}

func TestRecorded_Check(t *testing.T) {
	t.Parallel()
	wantError(t, (&Latency{Law: &Recorded{Every: ms}}).Check(), "expected 1 to 200000")
	wantError(t, (&Latency{Law: &Recorded{Values: []time.Duration{ms}}}).Check(), "expected 1ms or more")
	all := Latency{Law: &Recorded{Every: ms, Values: []time.Duration{Lost, Lost}}}
	wantError(t, all.Check(), "all of it is lost, expected a delay")
	all = Latency{Law: &Recorded{Every: ms, Values: []time.Duration{ms, -2}}}
	wantError(t, all.Check(), "expected a duration")
	wantError(t, (&Latency{Law: &Quantiles{Values: []time.Duration{Lost, ms}}}).Check(), "expected a duration")
	for text, pairs := range map[string][]Pair{
		"pair [1, 1]: expected two processes":            {{1, 1, []time.Duration{ms}}},
		"pair [0, 1]: expected two processes":            {{0, 1, []time.Duration{ms}}},
		"pair [1, 2]: expected two processes, each pair": {{1, 2, []time.Duration{ms}}, {1, 2, []time.Duration{ms}}},
		"pair [1, 2]: 0 values":                          {{1, 2, nil}},
		"more than 4000000 values in all pairs":          many(21),
	} {
		wantError(t, (&Latency{Law: &Recorded{Every: ms, Pairs: pairs}}).Check(), text)
	}
	both := Latency{Law: &Recorded{Every: ms, Values: Record{ms}, Pairs: []Pair{{1, 2, Record{ms}}}}}
	wantError(t, both.Check(), "values and pairs: leave one of them out")
	inside := Latency{Law: &Recorded{Every: ms, Values: []time.Duration{ms}}}
	wantError(t, inside.CheckSpan(), "depends on no link")
}

// many are records of links from 1, each as long as may be.
func many(links int) (out []Pair) {
	values := slices.Repeat([]time.Duration{ms}, MostRecorded)
	for to := range links {
		out = append(out, Pair{1, uint32(to + 2), values})
	}
	return out
}

// TestSend_Blocks: a record that is resampled keeps its order within a block, and continues at places of its own, which all
// pairs share. What is drawn anew begins with the next block.
func TestSend_Blocks(t *testing.T) {
	t.Parallel()
	var one, two Record
	for i := range 100 {
		one, two = append(one, time.Duration(i+1)*ms), append(two, time.Duration(i+101)*ms)
	}
	l := Latency{Law: &Recorded{Every: 10 * ms, Block: 50 * ms, Pairs: []Pair{{1, 2, one}, {2, 1, two}}}}
	n := Network{Latency: l, Unordered: true, Seed: 7}
	if err := n.Check(); err != nil {
		t.Fatal(err)
	}
	course := func(from, to uint32, redraw int) (out []int) {
		f := n.Flow(0, from, 0, to)
		for k := range 60 {
			if k == redraw {
				f.Redraw(98, time.Duration(k)*10*ms)
			}
			sent := time.Duration(k) * 10 * ms
			out = append(out, int((n.Send(&f, sent, 0, nil).Due-sent)/ms))
		}
		return out
	}
	there, back, other := course(1, 2, -1), course(2, 1, -1), course(1, 2, 12)
	places := map[int]bool{}
	for k, at := range there {
		if back[k] != at+100 {
			t.Fatalf("at %d one pair is at %d, the other at %d", k, at, back[k])
		}
		if k%5 == 0 {
			places[at] = true
		} else if at != there[k-1]%100+1 {
			t.Errorf("within a block %d follows %d", at, there[k-1])
		}
		if (k < 15) != (other[k] == at) && k%5 == 0 {
			t.Errorf("at %d, drawn anew at 12: %d, before %d", k, other[k], at)
		}
	}
	if len(places) < 10 {
		t.Errorf("blocks begin at %d places", len(places))
	}
	for block, want := range map[time.Duration]string{5 * ms: "block 5ms, expected a time from every (10ms)"} {
		l := Recorded{Every: 10 * ms, Block: block, Values: one}
		wantError(t, (&Network{Latency: Latency{Law: &l}}).Check(), want)
	}
}
