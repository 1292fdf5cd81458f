package proc

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// A netThread is the thread that forks, as far as network namespaces go: a child has that of the
// thread. The zero value is a thread in the namespace of this process.
type netThread struct {
	home *os.File // the namespace of this process, once the thread was in another
	away bool
}

// enter has the thread in a namespace; nil: that of this process.
func (n *netThread) enter(ns *os.File) (err error) {
	if ns == nil {
		return n.goHome()
	}
	if n.home == nil {
		if n.home, err = os.Open("/proc/thread-self/ns/net"); err != nil {
			return fmt.Errorf("network namespace: %w", err)
		}
	}
	if err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter network namespace: %w", err)
	}
	n.away = true
	return nil
}

func (n *netThread) goHome() error {
	if !n.away {
		return nil
	}
	if err := unix.Setns(int(n.home.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("leave network namespace: %w", err)
	}
	n.away = false
	return nil
}

// leave gives the thread back. In a foreign namespace it ends with its goroutine instead.
func (n *netThread) leave() {
	if n.goHome() == nil {
		runtime.UnlockOSThread()
	}
	if n.home != nil {
		_ = n.home.Close() // nothing was written
	}
}
