package wire

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/link"
)

// TestQueue: packets leave in the order in which they are due, and of one instant in that in which they
// came, whatever comes and goes between.
func TestQueue(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var q queue
	var want []waiting
	taken := map[int32]bool{}
	for step := range 20_000 {
		if len(want) == 0 || r.IntN(5) < 3-step/10_000 {
			slot, ok := q.room()
			if !ok || taken[slot] {
				t.Fatalf("slot %d: %v, taken %v", slot, ok, taken[slot])
			}
			taken[slot] = true
			w := waiting{due: time.Duration(r.IntN(100)), slot: slot, order: q.order}
			want = append(want, w)
			q.push(w)
			continue
		}
		i := 0
		for k := range want {
			if want[k].before(&want[i]) {
				i = k
			}
		}
		if due, ok := q.next(); !ok || due != want[i].due {
			t.Fatalf("next is due at %v, want %v", due, want[i].due)
		}
		if got := q.pop(); got != want[i] {
			t.Fatalf("got %+v, want %+v", got, want[i])
		}
		q.release(want[i].slot)
		delete(taken, want[i].slot)
		want = slices.Delete(want, i, i+1)
	}
	q.clear()
	if _, ok := q.next(); ok || len(q.free) != len(q.chunks)*chunk {
		t.Errorf("after clear: %d of %d slots are free", len(q.free), len(q.chunks)*chunk)
	}
}

// TestQueue_IsBounded: there is room for so many packets, and no more.
func TestQueue_IsBounded(t *testing.T) {
	t.Parallel()
	q := queue{chunks: make([][]byte, mostSlots/chunk-1)}
	for i := range chunk {
		if _, ok := q.room(); !ok {
			t.Fatalf("no room for slot %d", i)
		}
	}
	if _, ok := q.room(); ok {
		t.Error("there is room for more than the most")
	}
}

// packet is one for an end, whose last byte is a mark.
func packet(to uint32, mark byte) []byte {
	b := make([]byte, 28)
	address := Address(to).As4()
	b[0] = 0x45
	copy(b[16:], address[:])
	b[27] = mark
	return b
}

// put gives the model a packet.
func put(t *testing.T, m *model, from uint32, p []byte, sent time.Duration) {
	t.Helper()
	slot, ok := m.queue.room()
	if !ok {
		t.Fatal("no room")
	}
	n := copy(m.queue.bytes(slot), p)
	m.take(from, slot, m.queue.bytes(slot)[:n], sent, 0, true)
}

// balance checks that every copy of the packets of a link is accounted for.
func balance(t *testing.T, s *Stats) {
	t.Helper()
	in, out := uint64(0), uint64(s.Waiting)
	for _, l := range s.Links {
		in += l.Packets + l.Duplicated
		out += l.Delivered + l.Lost + l.Cut + l.Refused + l.Overflowed
	}
	if in != out {
		t.Errorf("%d copies, %d accounted for: %+v", in, out, s)
	}
}

// TestModel: the k-th packet of a link is lost, delayed and duplicated as the network model says of the
// k-th message of such a link, and none is forgotten.
func TestModel(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]link.Network{
		"loss":        {Latency: link.Constant(5 * time.Millisecond), Loss: 0.3},
		"bursts":      {Latency: link.Uniform(0, 9*time.Millisecond), Burst: &link.Burst{Enter: 0.1, Leave: 0.3, Bad: 0.9}},
		"duplication": {Latency: link.Uniform(0, 9*time.Millisecond), Loss: 0.2, Duplication: 0.4, Unordered: true},
		"bandwidth":   {Latency: link.Constant(time.Millisecond), Bandwidth: 1e5, Loss: 0.1},
		"variation":   {Latency: link.Constant(time.Millisecond), Variation: &link.Variation{Sigma: 0.5, Over: time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n.Seed = 11
			if err := n.Check(); err != nil {
				t.Fatal(err)
			}
			m := newModel(3)
			m.begin(&n, 0)
			type arrival struct {
				due  time.Duration
				mark byte
			}
			var want, got []arrival
			flow := n.Flow(Plane, 1, 0, 3)
			for k := range 250 {
				sent := time.Duration(k) * 100 * time.Microsecond
				put(t, m, 1, packet(3, byte(k)), sent)
				put(t, m, 2, packet(3, byte(k)), sent) // another link draws for itself
				fate := n.Send(&flow, sent, 28, nil)
				if !fate.Lost {
					want = append(want, arrival{fate.Due, byte(k)})
				}
				if fate.Duplicated && !fate.CopyLost {
					want = append(want, arrival{fate.CopyDue, byte(k)})
				}
			}
			balance(t, m.stats())
			for {
				w, l, ok := m.due(time.Hour)
				if !ok {
					break
				}
				if l.From == 1 {
					got = append(got, arrival{w.due, m.queue.bytes(w.slot)[27]})
				}
				m.delivered(&w, l, w.due+time.Millisecond, true)
			}
			slices.SortStableFunc(want, func(a, b arrival) int { return cmp.Compare(a.due, b.due) })
			if !slices.Equal(got, want) {
				t.Errorf("%d arrivals, want %d:\n%v\n%v", len(got), len(want), got, want)
			}
			s := m.stats()
			balance(t, s)
			if l := s.Link(1, 3); l.Packets != 250 || l.Bytes != 250*28 || int(l.Delivered) != len(want) ||
				l.Late.Max != time.Millisecond || s.Late.Max != time.Millisecond || s.Waiting != 0 {
				t.Errorf("%+v, want %d of 250 delivered, 1 ms late", s, len(want))
			}
		})
	}
}

// TestModel_Cut: what is on its way on a link is lost when the link is cut, in that direction alone.
func TestModel_Cut(t *testing.T) {
	t.Parallel()
	m := newModel(2)
	m.begin(&link.Network{Latency: link.Constant(10 * time.Millisecond)}, 0)
	arrives := func(from, to uint32, sent time.Duration) bool {
		put(t, m, from, packet(to, 1), sent)
		w, l, ok := m.due(sent + 10*time.Millisecond)
		if ok {
			m.delivered(&w, l, w.due, true)
		}
		return ok
	}
	m.apply(&fault.Effect{Change: &link.Change{At: 5 * time.Millisecond, Links: [][2]uint32{{1, 2}}}})
	m.apply(&fault.Effect{Change: &link.Change{At: 50 * time.Millisecond, Heal: true}})
	for _, c := range []struct {
		from, to uint32
		sent     time.Duration
		want     bool
	}{
		{1, 2, 0, false}, {2, 1, 0, true}, {1, 2, 20 * time.Millisecond, false}, {2, 1, 20 * time.Millisecond, true},
		{1, 2, 45 * time.Millisecond, false}, {1, 2, 50 * time.Millisecond, true},
	} {
		if got := arrives(c.from, c.to, c.sent); got != c.want {
			t.Errorf("%d to %d, sent at %v: arrives %v, want %v", c.from, c.to, c.sent, got, c.want)
		}
	}
	s := m.stats()
	balance(t, s)
	if cut := s.Link(1, 2).Cut; cut != 3 {
		t.Errorf("%d packets were cut, want 3", cut)
	}
	loss := 1.0
	m.apply(&fault.Effect{Override: &link.Override{From: time.Second, To: 2 * time.Second, Loss: &loss}})
	if arrives(1, 2, 1500*time.Millisecond) || !arrives(1, 2, 2*time.Second) {
		t.Error("a flaky link loses what is sent while it is flaky, and nothing after")
	}
}

// TestModel_Strays: what is for no other end is counted and goes nowhere, and draws nothing.
func TestModel_Strays(t *testing.T) {
	t.Parallel()
	m := newModel(2)
	outside := packet(2, 0)
	outside[16] = 192
	sixth := packet(2, 0)
	sixth[0] = 0x60
	for _, p := range [][]byte{packet(3, 0), packet(0, 0), packet(1, 0), outside, sixth, {0x45}, {}} {
		put(t, m, 1, p, 0)
	}
	if s := m.stats(); s.Devices[0].Strays != 7 || s.Devices[1].Strays != 0 || len(s.Links) != 0 ||
		len(m.queue.free) != len(m.queue.chunks)*chunk {
		t.Errorf("%+v, want 7 strays of end 1, and all slots free", s)
	}
}

// TestModel_NoRoom: a packet without room is counted as lost by the machine, and draws its fate, so that
// the next one keeps its own.
func TestModel_NoRoom(t *testing.T) {
	t.Parallel()
	n := link.Network{Latency: link.Constant(0), Loss: 0.5, Seed: 3}
	m := newModel(2)
	m.begin(&n, 0)
	flow, lost := n.Flow(Plane, 1, 0, 2), uint64(0)
	for range 100 {
		m.take(1, 0, packet(2, 0), 0, 0, false)
		if n.Send(&flow, 0, 28, nil).Lost {
			lost++
		}
	}
	s := m.stats()
	balance(t, s)
	if l := s.Link(1, 2); l.Lost != lost || l.Overflowed != 100-lost || s.LostByMachine() != 100-lost {
		t.Errorf("%+v, want %d of 100 lost by the model, and the others by the machine", l, lost)
	}
}

// TestModel_Early: before the start of the trial, also while it is not known, a packet takes what it would
// take at the start, and no cut is in its way; what is known of a link is not lost by the start.
func TestModel_Early(t *testing.T) {
	t.Parallel()
	m := newModel(2)
	m.begin(&link.Network{Latency: link.Constant(3 * time.Millisecond)}, never)
	m.apply(&fault.Effect{Change: &link.Change{Links: [][2]uint32{{1, 2}}}})
	const now = time.Hour
	for k := range 3 {
		sent := now + time.Duration(k)*time.Second
		put(t, m, 1, packet(2, 0), sent)
		w, l, ok := m.due(sent + 3*time.Millisecond)
		if !ok || w.due != sent+3*time.Millisecond {
			t.Fatalf("packet %d is due at %v, %v, want 3ms after %v", k, w.due, ok, sent)
		}
		m.delivered(&w, l, w.due, true)
		if k == 1 {
			m.start = now + 10*time.Second
		}
	}
	put(t, m, 1, packet(2, 0), m.start)
	if _, _, ok := m.due(m.start + time.Second); ok || m.stats().Link(1, 2).Cut != 1 {
		t.Error("from the start on the link is cut")
	}
}

// TestModel_EarlyBandwidth: what left before the start does not hold up what comes later.
func TestModel_EarlyBandwidth(t *testing.T) {
	t.Parallel()
	m := newModel(2)
	m.begin(&link.Network{Latency: link.Constant(0), Bandwidth: 28e3}, never) // a packet takes 1 ms
	const now = time.Hour
	at := func(sent time.Duration) time.Duration {
		put(t, m, 1, packet(2, 0), sent)
		w, l, _ := m.due(2 * now)
		m.delivered(&w, l, w.due, true)
		return w.due - sent
	}
	for k := range 100 {
		if took := at(now + time.Duration(k)*time.Second); took != time.Millisecond {
			t.Fatalf("packet %d takes %v, want 1ms", k, took)
		}
	}
	at(now + 100*time.Second)
	m.start = now + 100*time.Second + 250*time.Microsecond
	if took := at(m.start); took != 1750*time.Microsecond {
		t.Errorf("right after another one a packet takes %v, want 1.75ms", took)
	}
	if took := at(m.start + time.Second); took != time.Millisecond {
		t.Errorf("after a second a packet takes %v, want 1ms", took)
	}
}
