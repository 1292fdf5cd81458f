package guard_test

import (
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/guard"
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
