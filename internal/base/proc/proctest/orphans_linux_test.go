package proctest

import (
	"os"
	"testing"
)

func TestIsAlive(t *testing.T) {
	t.Parallel()
	if !isAlive(os.Getpid()) || isAlive(1<<30) {
		t.Error("wrong about this process or about none")
	}
}
