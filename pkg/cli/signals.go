package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// interruptible returns a context that the first SIGINT or SIGTERM ends, with an
// interruption as its cause. A second one ends this process at once: children
// notice that by themselves. Call stop when nothing is left to interrupt.
func (s *streams) interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case got := <-signals:
			cancel(&interruption{got})
			s.say("interrupted: finished work is being written; interrupt again to stop at once")
		case <-done:
			return
		}
		select {
		case got := <-signals:
			os.Exit((&interruption{got}).Exit())
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}
