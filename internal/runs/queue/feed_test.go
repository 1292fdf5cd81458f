package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/pkg/results"
)

// TestFeed_Share: one block of real trials; of simulated ones first one for each core, and then as many as
// the worker finishes in a second, but an eighth of those that wait at most.
func TestFeed_Share(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		virtual        bool
		cores, pending int
		done           int
		busy           time.Duration
		want           int
	}{
		{false, 4, 1000, 0, 0, 1}, {false, 4, 1000, 100, time.Second, 1}, // real
		{true, 4, 1000, 0, 0, 4},                     // it knows nothing yet
		{true, 4, 1000, 100, 10 * time.Second, 10},   // 100 ms each
		{true, 4, 1000, 2, 10 * time.Second, 4},      // 5 s each
		{true, 4, 40, 100, time.Second, 5},           // few are left
		{true, 4, 8, 100, time.Second, 4},            // likewise
		{true, 1, 99999, 100, time.Millisecond, 256}, // not without end
		{true, 1, 1000, 1, 0, 125},
	} {
		f, _ := newFeed(t.Context(), t)
		f.run.Virtual, f.worker.cores, f.pending, f.done, f.busy = c.virtual, c.cores, c.pending, c.done, c.busy
		if got := f.share(); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// TestFeed_Hold: a worker says every third of the time that it has that it is at work on a block,
// until it gives it back. A block that comes once more, since the worker was taken for dead, is
// begun once.
func TestFeed_Hold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, _ := newFeed(t.Context(), t)
		hold := func(m *message) {
			t.Helper()
			if err := f.hold(t.Context(), m); err != nil {
				t.Error(err)
			}
		}
		pass := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		first := block(t, 3)
		hold(first)
		if want := []work.Block{{Number: 3, Trials: []int{2, 1}, Orders: []int{5, 6}}}; f.holds() != 1 ||
			!reflect.DeepEqual(f.fresh, want) || f.pending != 40 {
			t.Errorf("%d are held, %+v are to begin, %d wait", f.holds(), f.fresh, f.pending)
		}
		pass(ackWait/3 - time.Millisecond)
		if got := first.done(); got != "" {
			t.Errorf("too early: %s", got)
		}
		pass(ackWait / 3)
		if got := first.done(); got != "at work" {
			t.Errorf("%q after a third of the time", got)
		}
		again := block(t, 3)
		again.meta.NumPending = 0
		hold(again)
		pass(ackWait)
		if got := again.done(); got != "at work; at work; at work" || first.done() != "at work" ||
			f.holds() != 1 || len(f.fresh) != 1 || f.pending != 0 {
			t.Errorf("%q and %q; %d are held, %d are to begin, %d wait", first.done(), got, f.holds(),
				len(f.fresh), f.pending)
		}
		other := block(t, 4)
		hold(other)
		f.giveBack()
		if f.held != nil || !strings.HasSuffix(again.done(), "; nak") || other.done() != "nak" {
			t.Errorf("given back: %q, %q", again.done(), other.done())
		}
		late := block(t, 5)
		hold(late)
		pass(time.Minute)
		if got := late.done(); got != "nak" || len(f.fresh) != 2 || f.holds() != 0 ||
			strings.Count(again.done(), "work") > 3 {
			t.Errorf("%q of one that came late, %q of one before", got, again.done())
		}
	})
}

// TestFeed_Hold_Ended: a worker that ends is no longer at work.
func TestFeed_Hold_Ended(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		f, _ := newFeed(ctx, t)
		m := block(t, 3)
		if err := f.hold(ctx, m); err != nil {
			t.Error(err)
		}
		end()
		time.Sleep(time.Minute)
		if got := m.done(); got != "" {
			t.Error(got)
		}
	})
}

// TestFeed_Hold_Tries: a block that was begun too often without being finished fails, with what is
// known of why; where workers fail, and do not only come and go, it is too often sooner.
func TestFeed_Hold_Tries(t *testing.T) {
	t.Parallel()
	const why = " times and never finished: each worker died, stopped responding, was ended or failed"
	for _, c := range []struct {
		delivered uint64
		trouble   string
		want      string
	}{
		{mostTries, "", ""}, {mostErrors + 1, "", ""}, {mostErrors, "no room", ""},
		{mostTries + 1, "", "it was begun 20" + why},
		{mostErrors + 1, "no room", "it was begun 5" + why + "; this one said: no room"},
	} {
		ctx, end := context.WithCancel(t.Context())
		f, at := newFeed(ctx, t)
		f.worker.trouble = c.trouble
		m := block(t, 9)
		m.meta.NumDelivered = c.delivered
		if err := f.hold(ctx, m); err != nil {
			t.Error(err)
		}
		end()
		if c.want == "" {
			if f.holds() != 1 || len(at.published) != 0 {
				t.Errorf("%+v: %d are held, %d results", c, f.holds(), len(at.published))
			}
			continue
		}
		got := at.parcels(t)
		if len(got) != 1 || got[0].Failed != c.want || got[0].Of != 9 ||
			got[0].Worker != "lab1" || f.holds() != 0 || len(f.fresh) != 0 || m.done() != "ack" {
			t.Errorf("%+v: %+v, %d are held, %s", c, got, f.holds(), m.done())
		}
	}
}

// TestFeed_Hold_Useless: what is not signed, or no block, is set aside and named; what JetStream does
// not know is an error.
func TestFeed_Hold_Useless(t *testing.T) {
	t.Parallel()
	unsigned, garbled, strange := block(t, 3), block(t, 3), block(t, 3)
	unsigned.header = nil
	garbled.data = []byte("{")
	garbled.header = secret.message(garbled.subject, garbled.data).Header
	strange.wrong = errors.New("no message of JetStream")
	for m, want := range map[*message]string{unsigned: "it is not signed",
		garbled: "unexpected end of JSON input"} {
		f, at := newFeed(t.Context(), t)
		if err := f.hold(t.Context(), m); err != nil {
			t.Error(err)
		}
		said := "a block on conclave.trials.queued-1.3 is set aside: " + want
		if len(at.published) != 1 || at.published[0].Subject != "conclave.aside.trials.queued-1.3" ||
			at.published[0].Header.Get(asideWhy) != want || m.done() != "ack, and sure" || f.holds() != 0 ||
			!slices.Equal(at.asked, []string{said}) {
			t.Errorf("%s: %+v, %q, %s", want, at.published, at.asked, m.done())
		}
	}
	f, at := newFeed(t.Context(), t)
	if err := f.hold(t.Context(), strange); !errors.Is(err, strange.wrong) || f.holds() != 0 ||
		len(at.published) != 0 {
		t.Errorf("%v, %d are held", err, f.holds())
	}
}

// TestFeed_Fetch: blocks that come one shortly after the other are taken together, and those that
// come later as they come; what fails is tried again a little later.
func TestFeed_Fetch(t *testing.T) {
	t.Parallel()
	late, died := &batch{}, of()
	broken := block(t, 3)
	broken.wrong = errors.New("no message of JetStream")
	died.failed = errors.New("the server has died")
	for _, c := range []struct {
		name  string
		batch *batch
		holds int
		takes time.Duration
		fails bool
	}{
		{"none", of(), 0, 0, false},
		{"one, and then", late, 2, together, false},
		{"no server", &batch{refused: errors.New("no server")}, 0, idle, false},
		{"a server that dies", died, 0, idle, false},
		{"one that is broken", of(broken, block(t, 4)), 0, 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			f, at := newFeed(ctx, t)
			at.batches = []*batch{c.batch}
			f.pending = 80
			if c.batch == late {
				late.messages = make(chan jetstream.Msg)
				go func() {
					for i, after := range []time.Duration{0, together / 2, together} {
						time.Sleep(after)
						late.messages <- block(t, i+1)
					}
					close(late.messages)
				}()
			}
			begun := time.Now()
			if err := f.fetch(ctx); (err != nil) != c.fails {
				t.Errorf("%s: %v", c.name, err)
			}
			if took := time.Since(begun); took != c.takes || c.batch.most != 4 {
				t.Errorf("%s: it takes %v, want %v; asked for %d", c.name, took, c.takes, c.batch.most)
			}
			synctest.Wait()
			if f.holds() != c.holds {
				t.Errorf("%s: %d are held, want %d", c.name, f.holds(), c.holds)
			}
			time.Sleep(together)
			synctest.Wait()
			if c.batch == late && f.holds() != 3 {
				t.Errorf("%s: %d are held in the end", c.name, f.holds())
			}
			end()
		})
	}
}

// TestFeed_Next: what a worker does next: blocks that have come, others that it asks for; nothing
// more if it is to end, if its machine is wanted for something else, or if other runs wait and it
// has no block.
func TestFeed_Next(t *testing.T) {
	t.Parallel()
	gone, broken := errors.New("no such stream"), errors.New("no message of JetStream")
	runs := func(names ...string) func(*feed, *fakes) {
		return func(_ *feed, at *fakes) { at.runs = func() ([]string, error) { return names, nil } }
	}
	for _, c := range []struct {
		name  string
		set   func(*feed, *fakes)
		want  []int // repetitions
		fails error
		asked string // of NATS
		turn  turn
	}{
		{"they have come", func(f *feed, _ *fakes) {
			f.fresh, f.held[7] = []work.Block{{Number: 7}, {Number: 8}}, &held{}
		}, []int{7, 8}, nil, "", ofQueue},
		{"its machine is wanted", func(f *feed, _ *fakes) { f.worker.wanted = true }, nil, nil, "", nobody},
		{"its machine is wanted, and it has a block", func(f *feed, at *fakes) {
			f.worker.wanted, f.held[7], at.batches = true, &held{}, []*batch{of(block(t, 9))}
		}, []int{9}, nil, "blocks", ofQueue},
		{"one comes", func(_ *feed, at *fakes) { at.batches = []*batch{of(block(t, 9))} }, []int{9}, nil,
			"blocks", ofQueue},
		{"one comes late", func(_ *feed, at *fakes) { at.batches = []*batch{of(), of(), of(block(t, 9))} },
			[]int{9}, nil, "blocks, runs, blocks, runs, blocks", ofQueue},
		{"the run is over", runs(), nil, nil, "blocks, runs", ofQueue},
		{"another run is alone", runs("queued-2"), nil, nil, "blocks, runs", ofQueue},
		{"another run waits", runs("queued-1", "queued-2"), nil, nil, "blocks, runs", ofQueue},
		{"another run waits, and it has a block", func(f *feed, at *fakes) {
			runs("queued-1", "queued-2")(f, at)
			f.held[7], at.batches = &held{}, []*batch{of(), of(), of(block(t, 9))}
		}, []int{9}, nil, "blocks, blocks, blocks", ofQueue},
		{"the runs are not known", func(_ *feed, at *fakes) {
			at.runs = func() ([]string, error) { return nil, gone }
		}, nil, gone, "blocks, runs", ofQueue},
		{"a block is broken", func(_ *feed, at *fakes) {
			m := block(t, 3)
			m.wrong = broken
			at.batches = []*batch{of(m)}
		}, nil, broken, "blocks", ofQueue},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			f, at := newFeed(ctx, t)
			f.worker.turn = ofQueue
			c.set(f, at)
			blocks, err := f.Next(ctx)
			var got []int
			for _, b := range blocks {
				got = append(got, b.Number)
			}
			if !slices.Equal(got, c.want) || !errors.Is(err, c.fails) {
				t.Errorf("%s: %v, %v, want %v, %v", c.name, got, err, c.want, c.fails)
			}
			asked := strings.Join(at.asked, ", ")
			if asked != c.asked || f.worker.turn != c.turn || len(f.fresh) != 0 {
				t.Errorf("%s: it asks for %q, want %q; the turn is of %d", c.name, asked, c.asked, f.worker.turn)
			}
			if f.worker.lock.RLocked() != (got != nil) {
				t.Errorf("%s: it has the machine: %v", c.name, f.worker.lock.RLocked())
			}
			end()
			if blocks, err := f.Next(ctx); blocks != nil || err != nil || strings.Join(at.asked, ", ") != asked {
				t.Errorf("%s: when it is to end %v, %v", c.name, blocks, err)
			}
		})
	}
}

// TestFeed_Claim: real trials have the machine for themselves, and simulated ones share it. Who
// waits for it leaves off when it is to end; who has no block leaves it.
func TestFeed_Claim(t *testing.T) {
	t.Parallel()
	for _, virtual := range []bool{false, true} {
		ctx, end := context.WithCancel(t.Context())
		f, _ := newFeed(ctx, t)
		f.run.Virtual = virtual
		f.fresh = []work.Block{{Number: 1}}
		if _, err := f.Next(ctx); err != nil {
			t.Error(err)
		}
		other := flock.New(f.worker.lock.Path())
		shared, err := other.TryRLock()
		if err != nil || shared != virtual {
			t.Errorf("virtual %v: another one shares it: %v, %v", virtual, shared, err)
		}
		_ = other.Unlock()
		if alone, err := other.TryLock(); err != nil || alone {
			t.Errorf("virtual %v: another one has it alone: %v, %v", virtual, alone, err)
		}
		end()
		if _, err := f.Next(ctx); err != nil { // it holds nothing
			t.Error(err)
		}
		if alone, err := other.TryLock(); err != nil || !alone {
			t.Errorf("virtual %v: it is not left: %v", virtual, err)
		}
		if err := f.claim(ctx); err != nil {
			t.Errorf("virtual %v: to end is no error: %v", virtual, err)
		}
		_ = other.Close()
		f.worker.lock = flock.New(t.TempDir() + "/none/lock")
		if err := f.claim(t.Context()); err == nil {
			t.Errorf("virtual %v: what cannot be locked is", virtual)
		}
	}
}

// three is a block.
var three = work.Block{Number: 3, Trials: []int{1}, Orders: []int{3}}

// TestFeed_Yield: what came of a block goes out before the block is finished, and traces before the
// rows that name them.
func TestFeed_Yield(t *testing.T) {
	t.Parallel()
	for _, virtual := range []bool{true, false} {
		f, at := newFeed(t.Context(), t)
		f.run.Virtual = virtual
		m, other := block(t, 3), block(t, 4)
		for _, b := range []*message{m, other} {
			if err := f.hold(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		at.publish = func(context.Context) error {
			if len(at.stored) != 1 || strings.Contains(m.done(), "ack") {
				t.Errorf("%d traces are there, and the block is finished: %s", len(at.stored), m.done())
			}
			return nil
		}
		y := work.Yield{Block: work.Block{Number: 3, Trials: []int{5, 6}}, Of: 3, Last: true,
			Rows: []results.Trial{{Trial: 5}, {Trial: 6}}, Traces: map[int][]byte{6: []byte("a trace")}}
		if !virtual {
			y.Ran = &results.Worker{Host: "lab1", Bus: map[string]any{"kind": "udp"}}
		}
		if err := f.Yield(y); err != nil {
			t.Fatal(err)
		}
		all := at.parcels(t)
		if len(all) != 1 {
			t.Fatalf("%+v", all)
		}
		got := all[0]
		rows, err := results.DecodeTrials(got.rows, func(int) results.Design { return results.Design{} })
		if err != nil || len(rows) != 2 || rows[1].Trial != 6 || !reflect.DeepEqual(got.Ran, y.Ran) {
			t.Errorf("virtual %v: %v, %+v of %+v", virtual, err, rows, got.Ran)
		}
		packed := at.stored["queued-1.3.6"]
		trace, err := unpack(packed, 100)
		if err != nil || string(trace) != "a trace" || len(got.Files) != 1 || got.Files[6] != digest(packed) {
			t.Errorf("a trace %q, %v, of %v", trace, err, got.Files)
		}
		if got.Block.Number != 3 || got.Worker != "lab1" || got.Stored != "" || got.Failed != "" {
			t.Errorf("%+v", got)
		}
		if !strings.HasSuffix(m.done(), "ack, and sure") || strings.Contains(other.done(), "ack") ||
			f.holds() != 1 || f.held[4] == nil || f.worker.status().Blocks != 1 {
			t.Errorf("%s; %d are held, %d are done", m.done(), f.holds(), f.worker.blocks)
		}
		f.giveBack()
	}
}

// TestFeed_Yield_Late: a worker that is to end has a moment to hand in what it has done.
func TestFeed_Yield_Late(t *testing.T) {
	t.Parallel()
	for _, takes := range []time.Duration{closeTimeout - time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			f, at := newFeed(ctx, t)
			m := block(t, 3)
			if err := f.hold(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			end()
			begun := time.Now()
			at.publish = func(ctx context.Context) error { // NATS is slow
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(time.Until(begun.Add(takes))):
					return nil
				}
			}
			err := f.Yield(work.Yield{Block: three, Of: 3, Last: true})
			took, acked := time.Since(begun), strings.Contains(m.done(), "ack")
			if takes > closeTimeout {
				if took != closeTimeout || f.holds() != 1 || acked ||
					!strings.HasPrefix(fmt.Sprint(err), "send block 3: ") {
					t.Errorf("too late: %v after %v, %d are held", err, took, f.holds())
				}
			} else if err != nil || took < takes || took >= closeTimeout || f.holds() != 0 || !acked {
				t.Errorf("in time: %v after %v, %d are held", err, took, f.holds())
			}
			f.giveBack()
		})
	}
}

// TestFeed_Yield_Done: what is done is no longer said to be at work.
func TestFeed_Yield_Done(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, _ := newFeed(t.Context(), t)
		begun := time.Now()
		m := block(t, 3)
		if err := f.hold(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if err := f.Yield(work.Yield{Block: three, Of: 3, Last: true}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := m.done(); got != "ack, and sure" || m.until.Sub(begun) != askTimeout {
			t.Errorf("%s, within %v", got, m.until.Sub(begun))
		}
	})
}

// TestFeed_Yield_Unsent: a block whose files cannot be stored is not finished.
func TestFeed_Yield_Unsent(t *testing.T) {
	t.Parallel()
	f, at := newFeed(t.Context(), t)
	at.put = errors.New("no room")
	m := block(t, 3)
	if err := f.hold(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	err := f.Yield(work.Yield{Block: three, Of: 3, Last: true,
		Traces: map[int][]byte{6: []byte("a trace")}})
	if !errors.Is(err, at.put) || fmt.Sprint(err) != "send the trace of trial 6: no room" || f.holds() != 1 ||
		len(at.published) != 0 || strings.Contains(m.done(), "ack") {
		t.Errorf("%v, %d results, %s", err, len(at.published), m.done())
	}
	f.giveBack()
}

// TestFeed_Send: what is too large for a message lies in a file, of which the message has the digest.
func TestFeed_Send(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 2*inMessage)
	random := rand.New(rand.NewPCG(1, 1))
	for i := range noise {
		noise[i] = byte('a' + random.IntN(26))
	}
	p := &parcel{Block: three, Of: 3, Worker: "lab1", Files: map[int]string{1: "x"}, rows: noise}
	f, at := newFeed(t.Context(), t)
	if err := f.send(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	packed := at.stored["queued-1.3.rows"]
	want := parcel{Block: three, Of: 3, Worker: "lab1", Stored: digest(packed), rows: []byte{}}
	if got := at.parcels(t); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("%+v, want one parcel of a digest", got)
	}
	data, err := unpack(packed, mostUnpacked)
	if err != nil {
		t.Fatal(err)
	}
	if stored, err := openParcel(data); err != nil || !reflect.DeepEqual(stored, p) {
		t.Errorf("%v, or another parcel is in the file", err)
	}
	f, at = newFeed(t.Context(), t)
	at.put = errors.New("no room")
	if err := f.send(t.Context(), p); fmt.Sprint(err) != "send block 3: no room" || len(at.published) != 0 {
		t.Errorf("%v, %d results", err, len(at.published))
	}
	f, at = newFeed(t.Context(), t)
	refused := errors.New("the stream is sealed")
	at.publish = func(context.Context) error { return refused }
	if err := f.send(t.Context(), p); !errors.Is(err, refused) ||
		!strings.HasPrefix(fmt.Sprint(err), "send block 3: ") {
		t.Error(err)
	}
}
