package link

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestReadRecord_File: of 200 pings 50 had no answer; duplicates and answers out of order change nothing.
func TestReadRecord_File(t *testing.T) {
	t.Parallel()
	f, err := os.Open("../../configs/faults/pings/1-2.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := ReadRecord(f)
	if err != nil || len(got) != 200 {
		t.Fatalf("%v: %d intervals", err, len(got))
	}
	var gone []int
	for i, d := range got {
		if d == Lost {
			gone = append(gone, i+1)
		} else if d < 6*ms || d > 8*ms {
			t.Errorf("number %d: %v, want half of 12 to 16 ms", i+1, d)
		}
	}
	var want []int
	for i := 1; i <= 200; i++ {
		if i >= 41 && i <= 60 || i >= 118 && i <= 139 || slices.Contains([]int{7, 23, 77, 90, 91, 152, 178, 199}, i) {
			want = append(want, i)
		}
	}
	if !slices.Equal(gone, want) {
		t.Errorf("lost %v, want %v", gone, want)
	}
	l := Latency{Law: &Recorded{Every: 200 * ms, Values: got}}
	if rate := (&Network{Latency: l}).LossRate(); rate != 0.25 {
		t.Errorf("loss %v, want 0.25", rate)
	}
}

// apart is how far apart the answers of upTo are. Sequence numbers begin again after 65535, and answers may come out
// of order, so that no more than half of that can be told.
const apart = 30_000

// upTo is what ping prints of answers 1, 30001, 60001 and so on, and n.
func upTo(n int, answer func(seq int, time string) string) (text string) {
	for seq := 1; seq < n; seq += apart {
		text += answer(seq%65536, "=4")
	}
	return text + answer(n%65536, "=4")
}

// sparse is the record of upTo.
func sparse(n int) []time.Duration {
	out := slices.Repeat([]time.Duration{Lost}, n)
	for i := 0; i < n; i += apart {
		out[i] = 2 * ms
	}
	out[n-1] = 2 * ms
	return out
}

func TestReadRecord(t *testing.T) {
	t.Parallel()
	const head = "PING a (10.0.0.1) 56(84) bytes of data.\n"
	answer := func(seq int, times string) string {
		return fmt.Sprintf("64 bytes from a: icmp_seq=%d ttl=57 time%s ms\n", seq, times)
	}
	sum := func(sent, received int) string {
		return fmt.Sprintf("\n--- a ping statistics ---\n%d packets transmitted, %d received, 1%% packet loss, time 9ms\n"+
			"rtt min/avg/max/mdev = 20.1/20.1/20.1/0 ms\n", sent, received)
	}
	two, four := "=4.00", "=8.0"
	for name, test := range map[string]struct {
		text string
		want []time.Duration
		err  string
	}{
		"numbers":   {"# ms\n1\n\n 2.5 \n", []time.Duration{ms, 2500 * us}, ""},
		"durations": {"1ms\n250us\nlost\n2ms\n", []time.Duration{ms, 250 * us, Lost, 2 * ms}, ""},
		"ping": {head + answer(1, "=20.1") + "no answer yet for icmp_seq=2\n" + answer(3, "<1") + "--- a ping statistics ---\n",
			[]time.Duration{10050 * us, Lost, 500 * us}, ""},
		"a gap":             {head + answer(1, two) + answer(4, four), []time.Duration{2 * ms, Lost, Lost, 4 * ms}, ""},
		"at the beginning":  {head + answer(3, two), []time.Duration{Lost, Lost, 2 * ms}, ""},
		"at the end":        {head + answer(1, two) + sum(3, 1), []time.Duration{2 * ms, Lost, Lost}, ""},
		"a part of it":      {answer(71, two) + answer(73, four), []time.Duration{2 * ms, Lost, 4 * ms}, ""},
		"the end of it":     {answer(3, two) + sum(3, 1), []time.Duration{Lost, Lost, 2 * ms}, ""},
		"late after all":    {head + "no answer yet for icmp_seq=1\n" + answer(2, four) + answer(1, two), []time.Duration{2 * ms, 4 * ms}, ""},
		"out of order":      {head + answer(3, four) + answer(1, two) + answer(2, two), []time.Duration{2 * ms, 2 * ms, 4 * ms}, ""},
		"out of order, cut": {answer(73, four) + answer(71, two), []time.Duration{2 * ms, Lost, 4 * ms}, ""},
		"twice": {head + answer(1, two) + strings.TrimSpace(answer(1, four)) + " (DUP!)\n" + answer(2, four) + sum(2, 2),
			[]time.Duration{2 * ms, 4 * ms}, ""},
		"round again": {answer(65534, two) + answer(65535, two) + answer(1, four) + answer(0, two),
			[]time.Duration{2 * ms, 2 * ms, 2 * ms, 4 * ms}, ""},
		"unreachable": {head + answer(1, two) + "From 10.0.0.9 icmp_seq=2 Destination Host Unreachable\n" +
			"2 packets transmitted, 1 received, +1 errors, 50% packet loss, time 1001ms\n", []time.Duration{2 * ms, Lost}, ""},
		"macOS": {"PING a (10.0.0.1): 56 data bytes\n" + answer(0, two) + "Request timeout for icmp_seq 1\n" + answer(2, four) +
			"3 packets transmitted, 2 packets received, 33.3% packet loss\n", []time.Duration{2 * ms, Lost, 4 * ms}, ""},
		"BusyBox": {"PING a (10.0.0.1): 56 data bytes\n64 bytes from a: seq=0 ttl=57 time=4.000 ms\n64 bytes from a: seq=2 ttl=57 " +
			"time=8.000 ms\n", []time.Duration{2 * ms, Lost, 4 * ms}, ""},
		"Windows": {"\nPinging a [10.0.0.1] with 32 bytes of data:\r\nReply from 10.0.0.1: bytes=32 time=4ms TTL=57\r\n" +
			"Request timed out.\r\nReply from 10.0.0.1: bytes=32 time<1ms TTL=57\r\n\r\nPing statistics for 10.0.0.1:\r\n" +
			"    Packets: Sent = 3, Received = 2, Lost = 1 (33% loss),\r\nApproximate round trip times in milli-seconds:\r\n" +
			"    Minimum = 0ms, Maximum = 4ms, Average = 2ms\r\n", []time.Duration{2 * ms, Lost, 500 * us}, ""},
		"as many as there may be": {upTo(MostRecorded, answer), sparse(MostRecorded), ""},

		"empty":           {"# nothing\n", nil, "no delay in it"},
		"none came":       {head + "no answer yet for icmp_seq=1\n" + sum(9, 0), nil, "no delay in it"},
		"words":           {"1\nfast\n", nil, `line 2: "fast", expected a delay`},
		"negative":        {"-3\n", nil, "line 1"},
		"too long":        {"90000000\n", nil, "line 1"},
		"no number":       {"NaN\n", nil, "line 1"},
		"a bad time":      {head + answer(1, "=1.2.3"), nil, "line 2: time=1.2.3 is no number"},
		"a bad number":    {head + answer(70000, two), nil, "line 2: sequence number 70000, expected 0 to 65535"},
		"before all":      {answer(1, two) + answer(65535, two), nil, "line 2: sequence number 65535 comes behind 1"},
		"two pings":       {head + answer(1, two) + head + answer(1, two), nil, "line 3: a second ping begins"},
		"too many":        {upTo(MostRecorded+1, answer), nil, "line 8: sequence numbers from 1 to 200001, expected at most 200000"},
		"too many in all": {head + answer(1, two) + sum(MostRecorded+1, 1), nil, "200001 packets in its summary, expected at most 200000"},
		"numbers and not": {head + answer(1, two) + "Request timed out.\n", nil, "some lines have a sequence number, and some have none"},
		"answers are gone": {head + answer(1, two) + answer(2, two) + sum(5, 3), nil,
			"the summary says 5 sent and 3 received, but 2 numbers are in it, and 2 answers: it is not whole"},
		"more than were sent": {head + answer(1, two) + answer(4, two) + sum(3, 2), nil, "the summary says 3 sent and 2 received, but 4"},
	} {
		got, err := ReadRecord(strings.NewReader(test.text))
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, want %q", name, err, test.err)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got[:min(9, len(got))], test.want[:min(9, len(test.want))])
		}
	}
}

// TestReadSeries: what is no record of a network is refused in a sentence that says what to do, and gaps are kept.
func TestReadSeries(t *testing.T) {
	t.Parallel()
	const head = "PING a (10.0.0.1) 56(84) bytes of data.\n"
	const mtr = "x 0 33000\nh 0 10.0.0.9\np 0 300 33000\nx 1 33001\nh 1 10.0.0.1\np 1 4000 33001\nx 0 33002\nx 1 33003\n" +
		"x 1 33005\np 1 8000 33005\nd 1 a.example\n"
	for name, test := range map[string]struct {
		text string
		want []time.Duration
		err  string
	}{
		"ping": {head + "64 bytes from a: icmp_seq=1 ttl=57 time=4.00 ms\n64 bytes from a: icmp_seq=4 ttl=57 time=8.00 ms\n",
			[]time.Duration{2 * ms, Lost, Lost, 4 * ms}, ""},
		"with instants": {head + "[1764288000.1] 64 bytes from a: icmp_seq=1 ttl=57 time=4.00 ms\n" +
			"[1764288001.1] no answer yet for icmp_seq=2\n[1764288002.1] 64 bytes from a: icmp_seq=3 ttl=57 time=4.00 ms\n",
			[]time.Duration{2 * ms, Lost, 2 * ms}, ""},
		"mtr":   {mtr, []time.Duration{2 * ms, Lost, 4 * ms}, ""},
		"plain": {"1.5\nlost\n2ms\n", []time.Duration{1500 * us, Lost, 2 * ms}, ""},

		"German": {head + "64 Bytes von a: icmp_seq=1 ttl=57 Zeit=4,00 ms\n", nil, "line 2: \"64 Bytes von a: icmp_seq=1 ttl=57 Zeit=4,00 ms\": a time " +
			"in the format of another language, expected time=12.3 ms; repeat it with LC_ALL=C ping"},
		"a comma":      {head + "64 bytes from a: icmp_seq=1 ttl=57 time=4,00 ms\n", nil, "in the format of another language"},
		"one answer":   {head + "64 bytes from a: icmp_seq=1 ttl=57 time=4.00 ms\n", nil, "one delay is no record"},
		"one line":     {"4\n", nil, "one delay is no record: expected two or more, as ping -c 1000 prints them; for a constant delay write latency: 4ms"},
		"zero":         {head + "64 bytes from a: icmp_seq=1 ttl=57 time=0.000 ms\n", nil, "line 2: a delay of 0, which no network has"},
		"a plain zero": {"4\n0\n", nil, "line 2: a delay of 0"},
		"negative":     {head + "64 bytes from a: icmp_seq=1 ttl=57 time=-3.1 ms\n", nil, "a negative time, expected one above 0"},
		"a report": {"Start: 2026-11-27T10:00:00+0000\nHOST: a Loss% Snt Last Avg Best Wrst StDev\n", nil,
			"expected what mtr --raw prints: a report has no order"},
	} {
		got, err := ReadSeries(strings.NewReader(test.text))
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, want %q", name, err, test.err)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
