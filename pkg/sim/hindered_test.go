package sim_test

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// sender has process 1 send to 2 when it is told to elect.
func sender(a *actor, env algo.Env, what string, _ algo.ID, _ algo.Message) {
	if what == "elect" {
		env.Send(2, Note{})
	}
}

func elects(at ...time.Duration) (out []harness.Event) {
	for _, n := range at {
		out = append(out, harness.Event{At: n * ms, Do: harness.DoElect, Node: 1})
	}
	return out
}

// TestSlow_NothingOvertakes: what comes when a process is slow no more waits for what
// came before, as on a process that takes one message after the other.
func TestSlow_NothingOvertakes(t *testing.T) {
	t.Parallel()
	_, list := script(t, 2, sender, nil, append(elects(1, 3),
		harness.Event{At: ms, Do: harness.DoSlow, Node: 2, Args: fault.SlowBy(5 * ms), For: 2 * ms})...)
	same(t, "deliveries", tell(list, trace.Deliver), []string{
		"7ms deliver p2 1 #1", "7ms deliver p2 1 #2",
	})
}

// TestPause_NothingOvertakes: what comes at the instant at which a process goes on
// comes after what was held up.
func TestPause_NothingOvertakes(t *testing.T) {
	t.Parallel()
	_, list := script(t, 2, sender, nil, append(elects(1, 9),
		harness.Event{At: ms, Do: harness.DoPause, Node: 2, For: 9 * ms})...)
	same(t, "deliveries", tell(list, trace.Deliver), []string{
		"10ms deliver p2 1 #1", "10ms deliver p2 1 #2",
	})
}

// TestSlowAndPaused_NothingOvertakes: nor is what a slow process was busy with when it
// was paused.
func TestSlowAndPaused_NothingOvertakes(t *testing.T) {
	t.Parallel()
	_, list := script(t, 2, sender, nil, append(elects(1, 3),
		harness.Event{At: ms, Do: harness.DoSlow, Node: 2, Args: fault.SlowBy(5 * ms), For: 2 * ms},
		harness.Event{At: 3 * ms, Do: harness.DoPause, Node: 2, For: 20 * ms})...)
	same(t, "deliveries", tell(list, trace.Deliver), []string{
		"23ms deliver p2 1 #1", "23ms deliver p2 1 #2",
	})
}

// TestPausedAndSlow_TakesItsTimeOnce: what a slow process was busy with when it was
// paused has had its time.
func TestPausedAndSlow_TakesItsTimeOnce(t *testing.T) {
	t.Parallel()
	_, list := script(t, 2, sender, nil, append(elects(1, 3),
		harness.Event{At: ms, Do: harness.DoSlow, Node: 2, Args: fault.SlowBy(5 * ms), For: 50 * ms},
		harness.Event{At: 3 * ms, Do: harness.DoPause, Node: 2, For: 20 * ms})...)
	same(t, "deliveries", tell(list, trace.Deliver), []string{
		"23ms deliver p2 1 #1", "28ms deliver p2 1 #2",
	})
}

// TestPausedWhileSlow_NothingOvertakes: what comes when it goes on waits behind what came
// when it was paused.
func TestPausedWhileSlow_NothingOvertakes(t *testing.T) {
	t.Parallel()
	_, list := script(t, 2, sender, nil, append(elects(1, 2, 4),
		harness.Event{At: ms, Do: harness.DoSlow, Node: 2, Args: fault.SlowBy(5 * ms), For: 20 * ms},
		harness.Event{At: 5 * ms / 2, Do: harness.DoPause, Node: 2, For: 2 * ms})...)
	same(t, "deliveries", tell(list, trace.Deliver), []string{
		"7ms deliver p2 1 #1", "12ms deliver p2 1 #2", "17ms deliver p2 1 #3",
	})
}

// TestSlow_CatchesUp: a process that is slow no longer ends what it is at, and takes no
// time for what has gathered since.
func TestSlow_CatchesUp(t *testing.T) {
	t.Parallel()
	_, list := script(t, 2, sender, nil, append(elects(1, 2, 3),
		harness.Event{At: ms, Do: harness.DoSlow, Node: 2, Args: fault.SlowBy(5 * ms), For: 4 * ms})...)
	same(t, "deliveries", tell(list, trace.Deliver), []string{
		"7ms deliver p2 1 #1", "7ms deliver p2 1 #2", "7ms deliver p2 1 #3",
	})
}

// TestSlow_CrashFindsAllDown: what waits when a process crashes does not reach its next
// life.
func TestSlow_CrashFindsAllDown(t *testing.T) {
	t.Parallel()
	end, list := script(t, 2, sender, nil, append(elects(1, 2, 3),
		harness.Event{At: ms, Do: harness.DoSlow, Node: 2, Args: fault.SlowBy(5 * ms)},
		harness.Event{At: 5 * ms, Do: harness.DoCrash, Node: 2, For: ms})...)
	same(t, "deliveries", tell(list, trace.Deliver), nil)
	same(t, "what found it down", tell(list, trace.Undelivered), []string{
		"5ms undelivered p2 1 #2", "5ms undelivered p2 1 #3", "7ms undelivered p2 1 #1",
	})
	conserved(t, end, list)
}
