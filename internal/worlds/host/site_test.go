package host

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A lab is an agent of which only the clock and the records are asked for.
type lab struct {
	agent.Agent
	before, after clock.Course // of now, and of a span of time
	err           error
	records       trace.List
}

func (l *lab) Name() string { return "lab" }

func (l *lab) Course(from, to time.Duration) (clock.Course, error) {
	if from < to {
		return l.after, l.err
	}
	return l.before, l.err
}

func (l *lab) Clock() string          { return "" }
func (l *lab) Compare([]string) error { return nil }
func (l *lab) Compared(_, _ time.Duration) (agent.Comparisons, error) {
	return agent.Comparisons{}, nil
}

func (l *lab) Records(_ agent.Ref, from uint64, list []trace.Record) ([]trace.Record, uint64, error) {
	return append(list, l.records[from:]...), uint64(len(l.records)), nil
}

// another is what is known of a clock so far ahead, by answers that took so long: from a second
// ago until in nine.
func another(t *testing.T, ahead, answer time.Duration) clock.Course {
	t.Helper()
	var samples []clock.Sample
	from := clock.Monotonic() - time.Second
	to := from + 10*time.Second
	for at := from; at < to; at += time.Millisecond {
		theirs := at + answer/2 + ahead
		samples = append(samples, clock.Sample{Asked: at, Heard: theirs, Answered: theirs, Got: at + answer})
	}
	l, err := clock.Fit(samples, from)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// labs is a trial of a process on each of such machines, in which any message takes so long.
func labs(latency link.Latency, list ...*lab) *trial {
	s := &harness.Setup{Plan: harness.Plan{Nodes: len(list), Network: link.Network{Latency: latency}}}
	t := &trial{setup: s, machine: &Machine{}}
	for i, l := range list {
		t.machine.hosts = append(t.machine.hosts, Host{Agent: l})
		t.sites = append(t.sites, &site{index: i, agent: l})
		t.nodes = append(t.nodes, &node{Ref: agent.Ref{ID: algo.ID(i + 1)}, site: t.sites[i], ready: true})
	}
	return t
}

// TestCompareClocks: a time between two hosts must be known to 200 µs, or to half of the mean latency of
// the fastest link where that is more.
func TestCompareClocks(t *testing.T) {
	t.Parallel()
	const µs, ms = time.Microsecond, time.Millisecond
	// The fastest link, from California to Oregon, takes 11.25 ms.
	far := link.Latency{Law: &link.Regions{Places: []string{"california", "tokyo", "oregon"}}}
	for name, c := range map[string]struct {
		latency link.Latency
		answer  time.Duration
		err     error
		want    string
	}{
		"200 µs, as least": {link.Constant(0), 385 * µs, nil, ""},
		"more than 200 µs": {link.Constant(200 * µs), 400 * µs, nil, "between lab and lab is known only to 205µs (limit 200µs)"},
		"half of a link":   {link.Constant(20 * ms), 19900 * µs, nil, ""},
		"more": {link.Constant(20 * ms), 20100 * µs, nil,
			"(limit 10ms): the network between them is too slow for links of such latency, or was " +
				"busy for a moment: use a latency of 21ms or more"},
		"of the fastest": {far, 11200 * µs, nil, ""},
		"more than that": {far, 11270 * µs, nil, "limit 5.625ms"},
		"set":            {far, 0, clock.ErrSet, "the clock of lab: its answers contradict each other"},
		"no answer":      {far, 0, errors.New("no answer from it"), "the clock of lab: no answer"},
	} {
		exact := &lab{after: another(t, time.Hour, 2*µs)}
		tr := labs(c.latency, exact, &lab{after: another(t, -time.Hour, c.answer), err: c.err}, exact)
		tr.start = clock.Monotonic()
		tr.compareClocks(8 * time.Second)
		if got := strings.Join(tr.invalid, "; "); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if c.err != nil {
			continue
		}
		// Beyond half an answer of each: what clocks part in a millisecond, and how well each can be read.
		if more := 2*tr.clockError - c.answer/2 - 2*µs; more < -2*µs || more > 4*µs+c.answer/400 {
			t.Errorf("%s: half of the worst time between clocks is known to %v, want %v", name, tr.clockError, c.answer/4)
		}
	}
}

// TestFarClocks: hosts are too far from each other if half an answer of each, at best, is more than what the
// fastest link of any plan bears; the latency that they ask for would do.
func TestFarClocks(t *testing.T) {
	t.Parallel()
	const µs, ms = time.Microsecond, time.Millisecond
	plan := func(latency time.Duration) *harness.Plan {
		return &harness.Plan{Nodes: 3, Network: link.Network{Latency: link.Constant(latency)}}
	}
	for name, c := range map[string]struct {
		answer time.Duration
		plans  []*harness.Plan
		most   time.Duration // 0: near enough
		plan   int
	}{
		"near":              {360 * µs, []*harness.Plan{plan(0)}, 0, 0},
		"far":               {420 * µs, []*harness.Plan{plan(0)}, 200 * µs, 0},
		"slow links":        {9 * ms, []*harness.Plan{plan(10 * ms), plan(30 * ms)}, 0, 0},
		"one that is fast":  {9 * ms, []*harness.Plan{plan(20 * ms), plan(8 * ms)}, 4 * ms, 1},
		"no plan":           {9 * ms, nil, 0, 0},
		"links of a second": {90 * ms, []*harness.Plan{plan(time.Second)}, 0, 0},
	} {
		m := &Machine{hosts: []Host{{Agent: &lab{before: another(t, time.Hour, 20*µs)}},
			{Agent: &lab{before: another(t, time.Hour, c.answer)}}}}
		far, err := m.FarClocks(c.plans)
		if err != nil || (len(far) == 1) != (c.most > 0) {
			t.Errorf("%s: %+v, %v", name, far, err)
			continue
		}
		if c.most == 0 {
			continue
		}
		f := far[0]
		if f.Hosts != [2]int{0, 1} || f.Plan != c.plan || f.Most != c.most || f.Best < c.answer/2 || f.Best > c.answer/2+60*µs {
			t.Errorf("%s: %+v", name, f)
		}
		if bound := mostPairError(f.Wants); bound < f.Best || bound > f.Best*3/2+ms {
			t.Errorf("%s: %v, and %v would do", name, f.Best, f.Wants)
		}
	}
	m := &Machine{hosts: []Host{{Agent: &lab{err: errors.New("no answer from it")}}}}
	if _, err := m.FarClocks(nil); err == nil || err.Error() != "the clock of lab: no answer from it" {
		t.Error(err)
	}
}

// TestRecordsOf: records go by what is known of a clock after the trial, and not by what was
// known before it; and no message may come before it was sent, by more than both clocks can
// be wrong.
func TestRecordsOf(t *testing.T) {
	t.Parallel()
	const µs, ms = time.Microsecond, time.Millisecond
	l := &lab{before: another(t, time.Hour, 20*µs), after: another(t, time.Hour+30*µs, 20*µs)}
	own := &lab{}
	tr := labs(link.Constant(5*ms), own, l)
	if err := tr.fixStart(); err != nil {
		t.Fatal(err)
	}
	tr.compareClocks(8 * time.Second)
	message := func(kind trace.Type, of, peer uint32, at time.Duration) trace.Record {
		return trace.Record{Type: kind, Process: of, Peer: peer, Seq: 1, At: at, Sent: 7 * ms, Due: 12 * ms}
	}
	for _, c := range []struct {
		give trace.Record
		at   time.Duration // by our clock
		want string
	}{
		{trace.Record{Type: trace.Log, Process: 2, At: 12 * ms}, 12*ms - 30*µs, ""},
		{message(trace.Send, 2, 1, 7*ms), 7*ms - 30*µs, ""},
		{message(trace.Deliver, 1, 2, 7*ms-55*µs), 7*ms - 55*µs, "p1 got message 1 of p2 25µs before"},
		{message(trace.Deliver, 1, 2, 12*ms), 12 * ms, ""},
		{message(trace.Deliver, 2, 1, 12*ms+30*µs), 12 * ms, ""},
		{message(trace.Deliver, 2, 1, 7*ms+20*µs), 7*ms - 10*µs, ""},
		{message(trace.Deliver, 2, 1, 7*ms+5*µs), 7*ms - 25*µs, "before it was sent, by clocks that are known to 11"},
	} {
		own.records, l.records = trace.List{c.give}, trace.List{c.give}
		list, _, err := tr.recordsOf(tr.nodes[c.give.Process-1], 0, nil)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.give.At, err, c.want)
		}
		if by := list[0].Due - list[0].Sent - (c.give.Due - c.give.Sent); by.Abs() > 2 {
			t.Errorf("noted at %v: due %v later than it was", c.give.At, by)
		}
		if off := list[0].At - c.at; off.Abs() > 2 {
			t.Errorf("noted at %v: at %v, want %v", c.give.At, list[0].At, c.at)
		}
	}
}
