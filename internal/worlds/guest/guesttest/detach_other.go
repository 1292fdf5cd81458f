//go:build !unix

package guesttest

import "os/exec"

// detach is not possible on this system.
func detach(*exec.Cmd) {}
