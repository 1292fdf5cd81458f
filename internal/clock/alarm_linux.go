package clock

import (
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// An Alarm rings at an instant of Monotonic: never before, and on an idle
// machine some tens of microseconds after. Go's own timers are up to a
// millisecond late on Linux, because the runtime waits in whole milliseconds; a
// timerfd is a file, and the runtime is told of files at once.
//
// A ring says "look at the clock", no more: when Set moves an alarm that is just
// ringing to a later instant, the old ring may still come through.
type Alarm struct {
	C <-chan struct{} // capacity 1: a ring that nobody has taken yet is not doubled

	ring chan struct{}
	mu   sync.Mutex // so that Set never writes to a file that Close has closed
	fd   int
	file *os.File // owns fd; nil after Close
	done chan struct{}
}

// NewAlarm returns an alarm that is not set. Close it after use.
func NewAlarm() (*Alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create alarm: timerfd: %w", err)
	}
	ring := make(chan struct{}, 1)
	a := &Alarm{
		C: ring, ring: ring,
		fd: fd, file: os.NewFile(uintptr(fd), "timerfd"), done: make(chan struct{}),
	}
	go a.wait(a.file)
	return a, nil
}

// wait turns expiries into rings until the file is closed.
func (a *Alarm) wait(file *os.File) {
	defer close(a.done)
	var expiries [8]byte
	for {
		if _, err := file.Read(expiries[:]); err != nil {
			return
		}
		select {
		case a.ring <- struct{}{}:
		default:
		}
	}
}

// Set makes the alarm ring at the instant at of Monotonic and no longer at any
// other; if that instant is past, at once.
func (a *Alarm) Set(at time.Duration) {
	// Zero would disarm the timer, and a negative instant is refused.
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(1, int64(system(at))))}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		return
	}
	select { // a ring that was not taken belongs to the old instant
	case <-a.ring:
	default:
	}
	if err := unix.TimerfdSettime(a.fd, unix.TFD_TIMER_ABSTIME, &spec, nil); err != nil {
		panic("clock: set alarm: " + err.Error()) // no argument that Set passes is refused
	}
}

// Close stops the alarm for good and releases what it holds.
func (a *Alarm) Close() {
	a.mu.Lock()
	file := a.file
	a.file = nil
	a.mu.Unlock()
	if file != nil {
		_ = file.Close() // nothing was written that could fail to arrive
	}
	<-a.done
}
