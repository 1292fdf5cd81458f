package queue

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/conclave-bench/conclave/internal/runs/work"
)

// waiting is a worker that may end by itself, for as long as the names of runs say.
func waiting(t *testing.T, until Until, names *[]string) (w *worker, ctx context.Context) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	f := &fakes{runs: func() ([]string, error) { return *names, nil }}
	w = &worker{name: "lab1", cfg: WorkerConfig{Until: until, Say: func(string) {}},
		link: &link{names: fakeNames{f: f}, note: func(string) {}}}
	if err := w.begin(ctx, cancel); err != nil {
		t.Fatal(err)
	}
	return w, ctx
}

// TestUntil_Idle: a worker ends when it had no block and no agent for so long, and not before.
func TestUntil_Idle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var none []string
		w, ctx := waiting(t, Until{Idle: 10 * time.Minute}, &none)
		on := func(d time.Duration, ended bool) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if (ctx.Err() != nil) != ended {
				t.Fatalf("ended: %v, want %v", ctx.Err(), ended)
			}
		}
		on(9*time.Minute, false)
		w.worked()
		on(9*time.Minute, false)
		w.mu.Lock()
		w.feed = &feed{held: map[int]*held{1: {}}}
		w.mu.Unlock()
		on(time.Hour, false)
		w.mu.Lock()
		w.feed = &feed{fresh: []work.Block{}}
		w.mu.Unlock()
		w.worked()
		if !w.take(ofAgent) {
			t.Fatal("no turn for an agent")
		}
		on(time.Hour, false)
		w.leave(ofAgent)
		w.worked()
		on(9*time.Minute, false)
		on(time.Minute, true)
	})
}

// TestUntil_Done: a worker ends when the runs are over that were there since it came; one that comes
// before any run waits for it, and one with nodes of a run over several hosts waits for the next round.
func TestUntil_Done(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var names []string
		w, ctx := waiting(t, Until{Done: true}, &names)
		look := func(last uint64, ended bool, of ...string) {
			t.Helper()
			if w.finished(of, last); (ctx.Err() != nil) != ended {
				t.Fatalf("%v, %d: ended: %v, want %v", of, last, ctx.Err(), ended)
			}
		}
		look(0, false)
		look(1, false, "a")
		if !w.take(ofQueue) {
			t.Fatal("no turn for the queue")
		}
		look(1, false)
		w.leave(ofQueue)
		look(1, true)

		w, ctx = waiting(t, Until{Done: true}, &names)
		look(2, true) // a run came and went between two looks

		w, ctx = waiting(t, Until{Done: true}, &names)
		w.tally.agent = time.Now()
		look(0, false)
		time.Sleep(betweenAgents)
		look(0, true)

		w, ctx = waiting(t, Until{Done: true}, &names)
		w.link.down.Store(time.Now().UnixNano())
		time.Sleep(time.Hour) // before there was a run
		look(0, false)
		look(1, false, "a")
		w.link.down.Store(0)
		time.Sleep(time.Hour)
		look(1, false, "a")
		w.link.down.Store(time.Now().UnixNano())
		time.Sleep(awayForGood - time.Second)
		look(1, false, "a")
		time.Sleep(awayForGood)
		look(1, true, "a") // the queue of one run is gone

		w, ctx = waiting(t, Until{}, &names)
		look(5, false)
	})
}
