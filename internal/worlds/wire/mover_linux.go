package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/base/proc"
)

const (
	readAtOnce  = 32 // packets of an end, before others have their turn
	writeAtOnce = 64
)

// Run is the life of the process that moves packets: it reads orders from in, one a line, and answers on
// out. The devices are files that it has inherited, number 3 being that of the first of so many ends. When
// in ends, so does the process.
func Run(in io.Reader, out io.Writer, ends int) error {
	if ends < 0 || ends > Most {
		return fmt.Errorf("wire: %d ends, expected 0 to %d", ends, Most)
	}
	debug.SetGCPercent(400) // packets allocate nothing; orders do
	in, out = proc.Streams(in, out)
	devices, err := proc.Inherited(make([]string, ends)...)
	if err != nil {
		return fmt.Errorf("wire: devices: %w", err)
	}
	m := &mover{model: newModel(uint32(ends)), out: json.NewEncoder(out)}
	for _, d := range devices {
		// Only now: Go would have noticed each packet, too, if the file had been so before.
		if err := unix.SetNonblock(int(d.Fd()), true); err != nil {
			return fmt.Errorf("wire: devices: %w", err)
		}
		m.fds = append(m.fds, d.Fd())
		m.poll = append(m.poll, unix.PollFd{Fd: int32(d.Fd()), Events: unix.POLLIN})
	}
	if m.bell, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return fmt.Errorf("wire: eventfd: %w", err)
	}
	m.poll = append(m.poll, unix.PollFd{Fd: int32(m.bell), Events: unix.POLLIN})
	go m.hear(in)
	m.say(reply{})
	err = m.move()
	runtime.KeepAlive(devices)
	if err != nil {
		m.say(reply{Error: err.Error()})
	}
	return err
}

// A mover moves packets. All that happens to them happens on one thread.
type mover struct {
	*model
	fds   []uintptr     // of the devices
	poll  []unix.PollFd // of the devices, and of the bell
	bell  int           // rings when there are orders
	lead  clock.Lead
	waits waits
	extra [slotSize]byte // for a packet for which there is no room

	mu     sync.Mutex
	orders []order

	saying sync.Mutex
	out    *json.Encoder
}

// hear reads orders until there are no more, at which this process ends.
func (m *mover) hear(in io.Reader) {
	lines := json.NewDecoder(bufio.NewReaderSize(in, 64<<10))
	folder := ""
	for {
		var o order
		err := lines.Decode(&o)
		if errors.Is(err, io.EOF) {
			remove(folder)
			os.Exit(0)
		}
		if err == nil && o.Plan != nil {
			err = o.Plan.Network.Check()
		}
		if err != nil {
			m.say(reply{Error: "order: " + err.Error()})
			os.Exit(1)
		}
		folder = cmp.Or(o.Folder, folder)
		m.mu.Lock()
		m.orders = append(m.orders, o)
		m.mu.Unlock()
		one := [8]byte{1}
		_, _ = unix.Write(m.bell, one[:]) // it is full only if it rings already
	}
}

// remove removes a folder. What wrote there was killed a moment ago, and may not be dead yet.
func remove(folder string) {
	for begun := clock.Monotonic(); folder != ""; time.Sleep(50 * time.Millisecond) {
		err := os.RemoveAll(folder)
		if _, missing := os.Stat(folder); err == nil && missing != nil || clock.Monotonic()-begun > patience {
			return
		}
	}
}

func (m *mover) say(r reply) {
	m.saying.Lock()
	defer m.saying.Unlock()
	if m.out.Encode(r) != nil {
		os.Exit(1) // nobody listens
	}
}

// obey carries out the orders that have come.
func (m *mover) obey() {
	var drain [8]byte
	_, _ = unix.Read(m.bell, drain[:])
	m.mu.Lock()
	orders := m.orders
	m.orders = nil
	m.mu.Unlock()
	for _, o := range orders {
		r := reply{Number: o.Number}
		if o.Plan != nil {
			m.begin(&o.Plan.Network, cmp.Or(o.Plan.Start, never))
		}
		if o.Start != 0 {
			m.start = o.Start
		}
		if o.Effect != nil {
			m.apply(o.Effect)
		}
		if o.Stats {
			r.Stats = m.stats()
		}
		if r.Number > 0 {
			go m.say(r) // the reader may be slow
		}
	}
}

// move moves packets until something fails.
func (m *mover) move() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	prefer()
	m.waits.open()
	looked := clock.Monotonic() // when the devices were looked at last
	for {
		busy := m.deliver()
		slept, err := m.wait(busy)
		if err != nil {
			return fmt.Errorf("wire: wait for packets: %w", err)
		}
		now := clock.Monotonic()
		unread := now - looked
		if looked = now; slept {
			unread = m.waits.since()
		}
		if m.poll[len(m.fds)].Revents != 0 {
			m.obey()
		}
		for i := range m.fds {
			if m.poll[i].Revents == 0 {
				continue
			}
			if err := m.read(i, unread); err != nil {
				return fmt.Errorf("wire: read from the device of end %d: %w", i+1, err)
			}
			m.deliver()
		}
	}
}

// wait waits until a device has a packet, an order has come, or the next packet is due or nearly so. It
// says whether it has slept.
func (m *mover) wait(busy bool) (slept bool, err error) {
	var patience *unix.Timespec
	var left unix.Timespec
	var until time.Duration
	due, any := m.queue.next()
	switch {
	case busy:
		patience = &left
	case any:
		now := clock.Monotonic()
		if until = due - m.lead.Before(); until > now {
			left = unix.NsecToTimespec(int64(until - now))
			slept = true
		}
		patience = &left
	default:
		slept = true
	}
	n := 0
	if slept {
		m.waits.since() // what it has waited so far is over
		n, err = unix.Ppoll(m.poll, patience, nil)
	} else { // Go need not watch a call that does not block
		r, _, e := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(unsafe.SliceData(m.poll))),
			uintptr(len(m.poll)), uintptr(unsafe.Pointer(patience)), 0, 0, 0)
		n = int(r)
		if e != 0 {
			err = e
		}
	}
	if errors.Is(err, unix.EINTR) {
		for i := range m.poll {
			m.poll[i].Revents = 0
		}
		return slept, nil
	}
	if slept && any && n == 0 && err == nil {
		m.lead.Woke(clock.Monotonic() - until)
	}
	return slept, err
}

// read takes packets in that an end has sent, some at a time.
func (m *mover) read(end int, unread time.Duration) error {
	for range readAtOnce {
		slot, room := m.queue.room()
		buffer := m.extra[:]
		if room {
			buffer = m.queue.bytes(slot)
		}
		n, err := transfer(unix.SYS_READ, m.fds[end], buffer)
		if err != 0 {
			m.spare(slot, room)
			if err == unix.EAGAIN {
				return nil
			}
			return err
		}
		m.take(uint32(end)+1, slot, buffer[:n], clock.Monotonic(), unread, room)
	}
	return nil
}

// deliver hands packets over that are due, and says whether there may be more of them.
func (m *mover) deliver() (more bool) {
	for range writeAtOnce {
		now := clock.Monotonic()
		w, l, ok := m.due(now)
		if !ok {
			return false
		}
		_, err := transfer(unix.SYS_WRITE, m.fds[l.To-1], m.queue.bytes(w.slot)[:w.size])
		m.delivered(&w, l, now, err == 0)
	}
	return true
}

// transfer is a system call that does not block, about bytes.
func transfer(call, fd uintptr, b []byte) (n int, err unix.Errno) {
	for {
		r, _, e := unix.RawSyscall(call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		if e != unix.EINTR {
			return int(r), e
		}
	}
}

// prefer has this process woken at once, and before other programs, where that is allowed: a network is
// not slower because its computers are busy. The system itself bounds the time that such a process takes
// from others. It is about all threads, for Go hands a loop that has run for 10 ms from one to another.
func prefer() {
	const highest = -20
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	seen := map[int]bool{}
	for again := true; again; { // new threads are as those that make them
		again = false
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return
		}
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil || seen[id] {
				continue
			}
			seen[id], again = true, true
			if unix.SchedSetAttr(id, &unix.SchedAttr{
				Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 1,
			}, 0) != nil {
				_ = unix.Setpriority(unix.PRIO_PROCESS, id, highest)
			}
		}
	}
}

// A waits knows how long this thread was ready to run and did not, as the system counts it.
type waits struct {
	file *os.File // nil: the system does not say
	last time.Duration
}

func (w *waits) open() {
	w.file, _ = os.Open("/proc/thread-self/schedstat")
	w.since()
}

// since is how long it waited since the last call; 0 if nobody knows.
func (w *waits) since() time.Duration {
	if w.file == nil {
		return 0
	}
	var text [96]byte // time on a processor, time ready to run, and how often it ran
	n, err := unix.Pread(int(w.file.Fd()), text[:], 0)
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(text[:n], []byte(" "))
	number, _, _ := bytes.Cut(rest, []byte(" "))
	total, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil {
		return 0
	}
	waited := time.Duration(total) - w.last
	w.last = time.Duration(total)
	return max(waited, 0)
}
