package host_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc/proctest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestTrial_Lag: in a chain in which one thing leads to the next, each happens on nodes
// when it does in simulation, later by what the algorithm took for events before and by as much as
// it says, to the nanosecond: also where the nodes are stopped again and again, as by a quota.
func TestTrial_Lag(t *testing.T) {
	t.Parallel()
	p := plan(t, "election/test-chain", 3, harness.Scenario{Plot: &harness.ColdStart{}},
		map[string]any{"hops": int64(8), "pause": ms(5)})
	p.Network.Latency = link.Uniform(ms(3), ms(7))
	fired := func(list trace.List) (at, lag []time.Duration) {
		handled, led := time.Duration(0), map[uint32]bool{1: true} // whom the chain has reached
		for i := range list {
			switch r := &list[i]; r.Type {
			case trace.Deliver:
				led[r.Process] = true
			case trace.Handled:
				if led[r.Process] { // else it is the start of one for which nothing waits
					handled += time.Duration(r.Arg)
				}
			case trace.Timeout:
				at, lag = append(at, r.At-r.Lag()-handled), append(lag, r.Lag())
			}
		}
		return at, lag
	}
	want, _ := fired(simulate(t, p).Trace)
	for _, test := range []struct{ stopped, work time.Duration }{{0, 0}, {ms(8), 0}, {0, ms(5)}, {ms(8), ms(5)}} {
		p.Params["work"] = test.work
		marker, marked := mark(t)
		m := newMachine(t, 3, marked)
		poll(t, 20*time.Second, func() error {
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan struct{})
			go func() {
				defer close(done)
				for ctx.Err() == nil && test.stopped > 0 {
					halt(marker, test.stopped)
				}
			}()
			o, err := attempt(context.Background(), m, p)
			cancel()
			<-done
			must(t, err)
			at, lag := fired(o.Trace)
			if len(at) != len(want) { // invalid for another reason
				return fmt.Errorf("%d of %d timers fired: %s", len(at), len(want), o.Reason)
			}
			for i := range at {
				if at[i] != want[i] {
					t.Errorf("timer %d: %v without its lag of %v, simulated at %v", i, at[i], lag[i], want[i])
				}
			}
			if got, least := o.quality.Usage.Handling, time.Duration(len(at))*test.work*99/100; got < least || got == 0 {
				t.Errorf("%v in handlers, which worked for %v", got, least)
			}
			if last := lag[len(lag)-1]; last <= 0 || test.stopped > 0 && last < test.stopped {
				return fmt.Errorf("a lag of %v in the end", last)
			}
			return nil
		})
	}
}

// halt stops the processes that bear the mark for so long, and lets them run as long.
func halt(marker string, d time.Duration) {
	pids, _ := proctest.Orphans(marker)
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		for _, pid := range pids {
			_ = syscall.Kill(pid, sig) // it may be gone
		}
		time.Sleep(d) // how long they stand is what is tested
	}
}
