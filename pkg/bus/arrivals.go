package bus

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// arrivals are when the messages of a connection came to its socket, which the library does not
// tell. It counts messages as it reads them, all of what one call has read before the next call, so
// that a count between two calls says which messages the first has brought, or ended. A nil one
// notes nothing.
type arrivals struct {
	nc atomic.Pointer[nats.Conn] // nil: it is being made, and no message comes

	mu     sync.Mutex
	past   []arrival // of messages that nobody has taken yet, by calls before the last one
	read   uint64    // messages until the last call
	last   time.Time // when what the last call read came
	handed uint64    // messages that were taken
}

// An arrival is of the messages up to a number, which came then.
type arrival struct {
	upTo uint64
	came time.Time
}

// reads says that the next call is about to read.
func (a *arrivals) reads() {
	if a == nil {
		return
	}
	nc := a.nc.Load()
	if nc == nil {
		return
	}
	n := atomic.LoadUint64(&nc.InMsgs)
	a.mu.Lock()
	if n > a.read {
		a.read = n
		if n > a.handed {
			a.past = append(a.past, arrival{n, a.last})
		}
	}
	a.mu.Unlock()
}

// came says when what was read just now came.
func (a *arrivals) came(at time.Time) {
	a.mu.Lock()
	a.last = at
	a.mu.Unlock()
}

// next is when the message came that is taken next; zero if that is not known.
func (a *arrivals) next() time.Time {
	if a == nil {
		return time.Time{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.handed++
	for len(a.past) > 0 && a.past[0].upTo < a.handed {
		a.past = a.past[1:]
	}
	if len(a.past) > 0 {
		return a.past[0].came
	}
	return a.last
}
