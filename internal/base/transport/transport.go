// Package transport is what carries messages between the processes of a trial: the
// frames that cross it, the connection that a node has to it, and what each transport
// is, declared once.
package transport

import "time"

// A Message is what a connection hears.
type Message struct {
	From  uint32 // as the transport has checked it; 0: it could not tell
	Where string // for errors: the address at which it was heard
	Data  []byte // a frame
	// Came is when it came to the socket of this process; zero if that is not known.
	Came time.Time
}

// A Conn is the connection of one process. It never reconnects: a message may have been
// lost meanwhile, so that the trial is spoilt anyhow. Send may be used by one goroutine
// at a time, the rest by any.
type Conn interface {
	// Join takes part in a trial of n processes as self, and hears what is sent to it.
	// When it returns, whatever others send is heard.
	Join(trial string, self uint32, n int) (<-chan Message, error)
	// Send hands data, of at most MaxFrame bytes, to process to of the trial. The caller
	// may change data when Send returns.
	Send(to uint32, data []byte) error
	// Flush waits until all that was sent has left, and says whether anything went wrong
	// so far.
	Flush(timeout time.Duration) error
	// Faults is what went wrong so far, any of which spoils a trial.
	Faults() []string
	// Dropped is how many messages were thrown away because nobody took them.
	Dropped() (int, error)
	// Close ends the connection.
	Close()
}
