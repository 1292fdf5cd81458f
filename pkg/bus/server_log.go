package bus

import (
	"fmt"
	"sync"
)

// keptError is how many bytes of an error are kept: clients can put what they like
// into some.
const keptError = 512

// serverLog keeps what the NATS server says when something is wrong. The server's
// own logger would end this process at a fatal error.
type serverLog struct {
	mu    sync.Mutex
	fatal string
	count uint64
	last  string
}

func (l *serverLog) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == "" {
		l.fatal = excerpt(format, v)
	}
}

func (l *serverLog) Errorf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	l.last = excerpt(format, v)
}

func (l *serverLog) Noticef(string, ...any) {}
func (l *serverLog) Warnf(string, ...any)   {}
func (l *serverLog) Debugf(string, ...any)  {}
func (l *serverLog) Tracef(string, ...any)  {}

func (l *serverLog) fatalError() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fatal
}

func (l *serverLog) errors() (count uint64, last string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count, l.last
}

func excerpt(format string, v []any) string {
	return fmt.Sprintf("%.*s", keptError, fmt.Sprintf(format, v...))
}
