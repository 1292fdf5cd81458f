package transport

import (
	"errors"
	"time"
)

// None is the connection of a process that exchanges no messages: of a system whose servers and clients have
// connections of their own.
type None struct{}

var _ Conn = None{}

// Join hears nothing.
func (None) Join(string, uint32, int) (<-chan Message, error) { return nil, nil }

// Send is an error.
func (None) Send(uint32, []byte) error { return errors.New("this process has no connection") }

// Flush has nothing to wait for.
func (None) Flush(time.Duration) error { return nil }

// Faults is nothing.
func (None) Faults() []string { return nil }

// Dropped is nothing.
func (None) Dropped() (int, error) { return 0, nil }

// Close has nothing to end.
func (None) Close() {}
