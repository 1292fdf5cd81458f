package host_test

import (
	"os"
	"syscall"
)

// killSelf ends this process as SIGKILL does.
func killSelf() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }

// stopSelf stops this process until somebody lets it go on.
func stopSelf() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) }

// crashSelf ends this process as a bug in C code would.
func crashSelf() { _ = syscall.Kill(os.Getpid(), syscall.SIGSEGV) }

// limitMemory lets this process have little more than it has.
func limitMemory() {
	limit := syscall.Rlimit{Cur: 4 << 30, Max: 4 << 30}
	_ = syscall.Setrlimit(syscall.RLIMIT_AS, &limit)
}
