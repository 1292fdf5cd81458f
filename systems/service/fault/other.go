//go:build !linux

package fault

import (
	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/systems/service"
)

// A Disk needs Linux.
type Disk struct{}

// Mount is ErrNotLinux.
func Mount(*proc.Spawner, string, string) (*Disk, error) { return nil, ErrNotLinux }

// Set is ErrNotLinux.
func (*Disk) Set(DiskState) error { return ErrNotLinux }

// Close does nothing.
func (*Disk) Close() error { return nil }

// A Processor needs Linux.
type Processor struct{}

// NewProcessor is ErrNotLinux.
func NewProcessor(func() []int, string) (*Processor, error) { return nil, ErrNotLinux }

// How says that there is no limit.
func (*Processor) How() string { return ErrNotLinux.Error() }

// Set is ErrNotLinux.
func (*Processor) Set(float64) error { return ErrNotLinux }

// Close does nothing.
func (*Processor) Close() error { return nil }

func ownMemory(c service.Command, env []string) service.Command {
	c.Env = append(c.Env, env...)
	return c
}
