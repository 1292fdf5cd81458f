package clock

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An Alarm rings at an instant of Monotonic: never before, and on an idle
// machine some tens of microseconds after. Go's own timers are up to a
// millisecond late on Linux, because the runtime waits in whole milliseconds; a
// timerfd is a file, and the runtime learns of files at once.
//
// Its system calls never block, so nobody has to watch them: unlike those of
// package os they do not wake the thread of Go's runtime that does, which costs more
// than they do.
//
// A ring says "look at the clock", no more: when Set moves an alarm that is just
// ringing to a later instant, the old ring may still come through.
type Alarm struct {
	C <-chan struct{} // capacity 1: a ring that nobody has taken yet is not doubled

	ring  chan struct{}
	mu    sync.Mutex // so that Set never writes to a file that Close has closed
	fd    int
	file  *os.File      // owns fd; nil after Close
	at    time.Duration // what it is set to
	armed bool          // it has not rung since
	done  chan struct{}
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
	raw, err := a.file.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("create alarm: timerfd: %w", err)
	}
	go a.wait(raw)
	return a, nil
}

// wait turns expiries into rings until the file is closed.
func (a *Alarm) wait(raw syscall.RawConn) {
	defer close(a.done)
	_ = raw.Read(func(fd uintptr) bool {
		for a.expired(fd) {
			a.mu.Lock()
			a.armed = false
			a.mu.Unlock()
			select {
			case a.ring <- struct{}{}:
			default:
			}
		}
		return false
	}) // it fails when the file is closed
}

// expired says whether the timer has expired since it was last set or asked.
func (a *Alarm) expired(fd uintptr) bool {
	var expiries [8]byte
	_, _, e := unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&expiries)), unsafe.Sizeof(expiries))
	return e == 0 || e == unix.EINTR // then it has to be asked again
}

// Set makes the alarm ring at the instant at of Monotonic and no longer at any
// other; if that instant is past, at once.
func (a *Alarm) Set(at time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil || a.armed && a.at == at {
		return
	}
	select { // a ring that was not taken belongs to the old instant
	case <-a.ring:
	default:
	}
	a.at, a.armed = at, true
	// Zero would disarm the timer, and a negative instant is refused.
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(1, int64(system(at))))}
	_, _, e := unix.RawSyscall6(unix.SYS_TIMERFD_SETTIME, uintptr(a.fd), unix.TFD_TIMER_ABSTIME,
		uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
	if e != 0 {
		panic("clock: set alarm: " + e.Error()) // no argument that Set passes is refused
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
