package proc

import (
	"context"
	"os"
	"os/exec"
	"time"
)

// Interruptible is a program that gets an interrupt when ctx ends, so that it tidies up and ends what it has
// started, and is killed if it has not ended 10 s later.
func Interruptible(ctx context.Context, program string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, args...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 10 * time.Second
	return c
}
