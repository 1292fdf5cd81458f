package guard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// A goroutine that a plugin has left behind is named by the function that started it;
// others are not the plugin's.
func TestStrays(t *testing.T) {
	if err := guard.Strays(&stranger{}); err != nil {
		t.Errorf("none was started: %v", err)
	}
	end := make(chan int)
	defer close(end)
	(&stranger{}).start(end)
	if err := guard.Strays(&stranger{}); err == nil || !strings.Contains(err.Error(), "start has started a goroutine") {
		t.Errorf("%v, want it to name what start has started", err)
	}
}

type stranger struct{}

func (*stranger) Receive(algo.Env, algo.ID, algo.Message) {}

func (*stranger) start(end chan int) { go func() { <-end }() }

// Of those that ran here, the one that has left a goroutine behind is named.
func TestIdlers(t *testing.T) {
	guard.Meet(&stranger{}, "election/test-stranger")
	end := make(chan int)
	(&stranger{}).start(end)
	if name, err := guard.Idlers(); err == nil || name != "election/test-stranger" {
		t.Errorf("%q, %v", name, err)
	}
	close(end)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		_, err := guard.Idlers()
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("none is left: %v", err)
		}
	}
}
