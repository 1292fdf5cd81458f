package proc

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// OwnThread runs f on a goroutine that has a thread for itself, and does not wait for it. It is not the
// first thread of the process, of which /proc/self tells. If f returns false, the thread ends with it:
// what was done to it is not to be met by others.
func OwnThread(f func() (back bool)) {
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != os.Getpid() {
			if f() {
				runtime.UnlockOSThread()
			}
			return
		}
		begun := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(begun)
			if f() {
				runtime.UnlockOSThread()
			}
		}()
		<-begun
		runtime.UnlockOSThread()
	}()
}

// InNet runs f on a thread of its own in a network namespace that the thread enters, and does not wait
// for it. If the thread cannot enter it, f learns why. Where it cannot come back, as in a user namespace
// that does not own the namespace of this process, it ends.
func InNet(enter func() error, f func(err error)) {
	OwnThread(func() (back bool) {
		home, err := os.Open("/proc/thread-self/ns/net")
		if err == nil {
			defer func() { _ = home.Close() }() // nothing was written
			err = enter()
		}
		f(err)
		return err != nil || unix.Setns(int(home.Fd()), unix.CLONE_NEWNET) == nil
	})
}

// startIn starts a process in a network namespace, from a thread that lasts as long as the process: the
// process ends with the thread.
func startIn(r spawnRequest) {
	ns := int(r.command.Net.Fd())
	InNet(func() error { return unix.Setns(ns, unix.CLONE_NEWNET) }, func(err error) {
		if err != nil {
			r.result <- spawnResult{nil, fmt.Errorf("enter network namespace: %w", err)}
			return
		}
		started := r.start()
		if r.result <- started; started.err == nil {
			<-r.over
		}
	})
}
