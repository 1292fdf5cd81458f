//go:build !linux && !darwin

package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

const (
	sigKill = syscall.Signal(9)
	sigTerm = syscall.Signal(15)
	sigCont = syscall.Signal(18)
	sigStop = syscall.Signal(19)
)

// errNoChildren is why this system cannot have child processes.
var errNoChildren = fmt.Errorf("real processes need Linux or macOS; use transport: sim: %w",
	errors.ErrUnsupported)

func childAttr(*Command) *syscall.SysProcAttr { return nil }

func signalSpace(int, syscall.Signal) error { return errNoChildren }

func closeStrangeFilesOnExec() {}

func awaitExit(*os.Process) {}

func signalGroup(int, syscall.Signal) error { return errNoChildren }

func signalOne(int, syscall.Signal) error { return errNoChildren }

// InBackground has nothing to do on this system.
func InBackground() {}

func closeOnExec(*os.File) {}

func sweep(string) {}

func adopt() {}

func exitSignal(*os.ProcessState) string { return "" }

// ReadUsage is not known on this system.
func ReadUsage() Usage { return Usage{} }

func usageOf(*os.ProcessState) Usage { return Usage{} }

func isTooManyFiles(error) bool { return false }

func isTooManyProcesses(error) bool { return false }

// RaiseFileLimit has nothing to raise on this system.
func RaiseFileLimit(need uint64) (have uint64, err error) { return need, nil }

func pollable(f io.Reader) io.Reader { return f }

// Replace is not possible here.
func Replace(string, []string, []string, *os.File) error {
	return errors.New("on this system a program cannot replace itself")
}
