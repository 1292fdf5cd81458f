//go:build !linux

package proc

import (
	"errors"
	"os"
	"runtime"
)

// A netThread is the thread that forks.
type netThread struct{}

func (netThread) enter(ns *os.File) error {
	if ns != nil {
		return errors.New("this system has no network namespaces")
	}
	return nil
}

func (netThread) leave() { runtime.UnlockOSThread() }
