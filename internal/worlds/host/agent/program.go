package agent

import (
	"io"
	"os/exec"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
)

// A Program is an agent's program as its host has it: a child, or one on another
// machine. It reads what is written here, and its output is read here.
type Program interface {
	io.ReadWriter
	SetWriteDeadline(time.Time) error
	// CloseWrite ends its input, at which it ends by itself.
	CloseWrite() error
	// Done is closed when it has ended, or nothing more is heard of it. Obituary then says
	// why.
	Done() <-chan struct{}
	Obituary() string
	// Kill ends it at once. Close does, and leaves nothing of it here.
	Kill()
	Close()
}

// Start starts a program, found as a shell finds it, as a child.
func Start(s *proc.Spawner, c proc.Command) (Program, error) {
	path, err := exec.LookPath(c.Path)
	if err != nil {
		return nil, err
	}
	c.Path = path
	child, err := s.Start(c)
	if err != nil {
		return nil, err
	}
	return command{child}, nil
}

// A command is a child.
type command struct{ *proc.Child }

func (c command) Read(b []byte) (int, error)          { return c.Stdout.Read(b) }
func (c command) Write(b []byte) (int, error)         { return c.Stdin.Write(b) }
func (c command) SetWriteDeadline(at time.Time) error { return c.Stdin.SetWriteDeadline(at) }
func (c command) CloseWrite() error                   { return c.Stdin.Close() }
func (c command) Kill()                               { c.Child.Kill() }
func (c command) Obituary() string                    { return c.Epitaph() }
