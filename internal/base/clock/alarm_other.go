//go:build !linux

package clock

import (
	"sync"
	"time"
)

// An Alarm rings at an instant of Monotonic: never before, and as soon after as
// the runtime's timers allow.
//
// A ring says "look at the clock", no more: when Set moves an alarm that is just
// ringing to a later instant, the old ring may still come through.
type Alarm struct {
	C <-chan struct{} // capacity 1: a ring that nobody has taken yet is not doubled

	ring   chan struct{}
	mu     sync.Mutex
	timer  *time.Timer
	closed bool
}

// NewAlarm returns an alarm that is not set. Close it after use.
func NewAlarm() (*Alarm, error) {
	ring := make(chan struct{}, 1)
	a := &Alarm{C: ring, ring: ring}
	a.timer = time.AfterFunc(time.Hour, a.fire)
	a.timer.Stop()
	return a, nil
}

func (a *Alarm) fire() {
	select {
	case a.ring <- struct{}{}:
	default:
	}
}

// Set makes the alarm ring at the instant at of Monotonic and no longer at any
// other; if that instant is past, at once.
func (a *Alarm) Set(at time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	select { // a ring that was not taken belongs to the old instant
	case <-a.ring:
	default:
	}
	a.timer.Reset(at - Monotonic())
}

// Close stops the alarm for good.
func (a *Alarm) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	a.timer.Stop()
}
