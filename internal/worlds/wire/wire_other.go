//go:build !linux

package wire

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/pkg/fault"
)

// A Wire is a network with some ends. This system has none.
type Wire struct{}

// Available is why this system has no wire, an *Unavailable.
func Available() error {
	return &Unavailable{why: "network namespaces and TUN devices are Linux's; run it on Linux, or leave " +
		"wire out", cause: errors.ErrUnsupported}
}

// Enter is Available.
func Enter() (code int, done bool, err error) { return 0, false, Available() }

// Run is Available.
func Run(io.Reader, io.Writer, int) error { return Available() }

// Open is Available.
func Open(*proc.Spawner, Config) (*Wire, error) { return nil, Available() }

// Begin is Available.
func (*Wire) Begin(Plan) error { return Available() }

// Keep is Available.
func Keep(*proc.Spawner, Config, string) (*Wire, error) { return nil, Available() }

// Start is Available.
func (*Wire) Start(time.Duration) error { return Available() }

// Apply is Available.
func (*Wire) Apply(fault.Effect) error { return Available() }

// Stats is Available.
func (*Wire) Stats() (*Stats, error) { return nil, Available() }

// Failed is Available.
func (*Wire) Failed() error { return Available() }

// Done is nil: nothing ends.
func (*Wire) Done() <-chan struct{} { return nil }

// Net is nil.
func (*Wire) Net(uint32) *os.File { return nil }

// Do is Available.
func (*Wire) Do(uint32, func() error) error { return Available() }

// Pid is 0.
func (*Wire) Pid() int { return 0 }

// Close does nothing.
func (*Wire) Close() {}
