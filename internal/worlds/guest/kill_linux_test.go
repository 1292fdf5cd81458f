package guest_test

import (
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc/proctest"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/internal/worlds/guest"
	"github.com/conclave-bench/conclave/internal/worlds/guest/guesttest"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestTrial_Killed: a kill of the program at any instant spoils the present trial or the next one, and no other.
// A trial that is not spoiled has the same outcome as without kills.
func TestTrial_Killed(t *testing.T) {
	mark := bounded(t)
	guest.SetLimit(20 * time.Second)
	if err := guest.Load([]guest.Plugin{plugin(guesttest.Deed{})}); err != nil {
		t.Fatal(err)
	}
	want := simulate(t, lock, 1)
	if want.Status != trace.OK {
		t.Fatal(want.Reason)
	}
	kills, over, ended := slowtest.Times(15, 50), make(chan bool), make(chan int)
	go func() {
		killed := 0
		defer func() { ended <- killed }()
		for killed < kills {
			select {
			case <-over:
				return
			case <-time.After(time.Duration(rand.IntN(60)) * time.Millisecond):
			}
			list, _ := proctest.Orphans(mark)
			for _, pid := range list {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it ends already, perhaps
				killed++
			}
		}
	}()
	spoiled, fine := 0, 0
	for killed := -1; killed < 0; {
		select {
		case killed = <-ended:
			if spoiled == 0 || spoiled > killed {
				t.Errorf("%d trials are spoiled by %d kills", spoiled, killed)
			}
		default:
		}
		o := simulate(t, lock, 1)
		switch {
		case o.Status == trace.OK && o.Messages() == want.Messages() && o.End.Events == want.End.Events:
			fine++
		case o.Status == trace.Failed && strings.Contains(o.Reason, "SIGKILL"):
			spoiled++
		default:
			t.Errorf("%s: %s, %d events", o.Status, o.Reason, o.End.Events)
			close(over)
			<-ended
			return
		}
	}
	t.Logf("%d trials are spoiled, %d are not", spoiled, fine)
}
