package queue

import (
	"context"
	"fmt"
	"time"
)

// Until says when a worker ends by itself. Its zero value is never.
type Until struct {
	Idle time.Duration // after so long without work, or without its queue; 0: never for that reason
	// Done is when there were runs, and all of them are over, or the queue has been away for a minute.
	Done bool
}

// awayForGood is how long a queue may be away before Until.Done takes it to be over: that of a hub which was
// started for one run is.
const awayForGood = time.Minute

// betweenAgents is how long after nodes of a run over several hosts a worker waits for more of them, such
// as those of the next round, before it takes that run to be over.
const betweenAgents = time.Minute

// A tally is what a worker knows about the end of its work. The worker's mutex guards it.
type tally struct {
	active time.Time // when it last had work
	first  uint64    // the number of the queue's last announcement of a run when it came
	runs   bool      // whether there was a run
	agent  time.Time // when the last agent ended; zero: there was none
	over   string    // why the worker ends; "": it does not
	end    context.CancelFunc
}

// begin notes what is there when the worker comes. End ends the worker.
func (w *worker) begin(ctx context.Context, end context.CancelFunc) error {
	_, last, err := w.link.announced(ctx)
	w.mu.Lock()
	w.tally.active, w.tally.first, w.tally.end = time.Now(), last, end
	w.mu.Unlock()
	if w.cfg.Until != (Until{}) { // also while the queue does not answer
		go func() {
			for ctx.Err() == nil {
				pause(ctx, w.rest())
			}
		}()
	}
	return err
}

// worked notes that the worker has, or had, something to do.
func (w *worker) worked() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tally.active = time.Now()
}

// rest ends a worker that has waited for work, or for its queue, long enough, and returns for how long it may
// wait yet.
func (w *worker) rest() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	t, left := &w.tally, awayForGood/10
	if w.turn == ofAgent || w.feed != nil && w.feed.holds() > 0 {
		t.active = time.Now()
	}
	some := t.runs || !t.agent.IsZero()
	if w.cfg.Until.Done && some && w.turn != ofAgent && w.link.away() >= awayForGood {
		w.leaves("there were runs, and the queue is away")
	}
	if idle := w.cfg.Until.Idle; idle > 0 {
		if left = idle - time.Since(t.active); left <= 0 {
			w.leaves(fmt.Sprintf("there was no work for %v", idle))
		}
		if w.cfg.Until.Done {
			left = min(left, awayForGood/10)
		}
	}
	return max(left, 0)
}

// finished notes which runs are in the queue, and ends the worker if all are over. Last is the number
// of the last announcement of one.
func (w *worker) finished(names []string, last uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := &w.tally
	t.runs = t.runs || len(names) > 0 || last > t.first
	if !w.cfg.Until.Done || len(names) > 0 || w.turn != nobody {
		return
	}
	if t.runs && t.agent.IsZero() || !t.agent.IsZero() && time.Since(t.agent) >= betweenAgents {
		w.leaves("all runs are over")
	}
}

// leaves ends the worker. Who calls it holds w.mu, so that no agent begins meanwhile.
func (w *worker) leaves(why string) {
	if w.tally.over == "" {
		w.tally.over = why
		w.cfg.Say(fmt.Sprintf("worker %s ends: %s", w.name, why))
		w.tally.end()
	}
}
