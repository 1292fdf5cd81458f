// Package fault has what fails in a machine under the programs of a system: its disk, its clock and its
// processor. It needs no root: a disk is a file system of this program, mounted in a namespace.
package fault

import (
	"errors"
	"time"
)

// A DiskState is what is wrong with a disk. The zero value is nothing.
type DiskState struct {
	Slow time.Duration `json:"slow,omitempty"` // what each write, and each fsync, takes in addition
	Hung bool          `json:"hung,omitempty"` // what reads or writes files waits until it is over
	Full bool          `json:"full,omitempty"` // what takes space fails with ENOSPC
}

// ErrNotLinux is why a fault cannot be had.
var ErrNotLinux = errors.New("faults of machines need Linux")
