package link

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestSend_Recorded: a link goes through the record with the time, from a place of its own,
// and round again; both planes and every incarnation meet the same.
func TestSend_Recorded(t *testing.T) {
	t.Parallel()
	l := Latency{Distribution: "recorded", Every: 10 * ms, Values: []time.Duration{ms, 4 * ms, 2 * ms, 3 * ms}}
	n := Network{Latency: l, Unordered: true, Seed: 5}
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
	if mean := n.Means()(1, 2); mean != 2500*us || l.Average() != mean {
		t.Errorf("mean %v, %v, want 2.5ms", mean, l.Average())
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

func TestReadRecord(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want []time.Duration
		err  string
	}{
		"numbers":   {"# ms\n1\n\n 2.5 \n", []time.Duration{ms, 2500 * us}, ""},
		"durations": {"1ms\n250us\n", []time.Duration{ms, 250 * us}, ""},
		"ping": {"PING a (10.0.0.1) 56(84) bytes of data.\n64 bytes from a: icmp_seq=1 ttl=57 time=20.1 ms\n" +
			"no answer yet for icmp_seq=2\n64 bytes from a: icmp_seq=3 ttl=57 time<1 ms\n--- a ping statistics ---\n",
			[]time.Duration{10050 * us, 500 * us}, ""},
		"empty":     {"# nothing\n", nil, "no delay in it"},
		"words":     {"1\nfast\n", nil, `line 2: "fast", want a delay`},
		"negative":  {"-3\n", nil, "line 1"},
		"too long":  {"90000000\n", nil, "line 1"},
		"no number": {"NaN\n", nil, "line 1"},
	} {
		got, err := ReadRecord(strings.NewReader(test.text))
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, want %q", name, err, test.err)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestRecorded_Check(t *testing.T) {
	t.Parallel()
	wantError(t, (&Latency{Distribution: "recorded", Every: ms}).Check(), "want 1 to 20000")
	wantError(t, (&Latency{Distribution: "recorded", Values: []time.Duration{ms}}).Check(), "want 1ms or more")
	inside := Latency{Distribution: "recorded", Every: ms, Values: []time.Duration{ms}}
	wantError(t, inside.CheckSpan(), "depends on no link")
}
