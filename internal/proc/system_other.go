//go:build !linux && !darwin

package proc

import (
	"errors"
	"fmt"
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

func childAttr() *syscall.SysProcAttr { return nil }

func closeStrangeFilesOnExec() {}

func awaitExit(*os.Process) {}

func signalGroup(int, syscall.Signal) error { return errNoChildren }

func exitSignal(*os.ProcessState) string { return "" }

func isTooManyFiles(error) bool { return false }

func isTooManyProcesses(error) bool { return false }
