//go:build unix

package guesttest

import (
	"os/exec"
	"syscall"
)

// detach has a process leave the group of this one.
func detach(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
