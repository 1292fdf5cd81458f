// Package guard watches code of plugins while it runs, in simulation and on real nodes:
// that it returns, and that it does not exhaust the machine's memory. It describes what it
// finds with the process and the event; the caller that runs the plugin decides what becomes
// of the trial, since code that does not return cannot be stopped.
package guard

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// patience is how long code of a plugin may take for one event. Handlers take
// microseconds, and a thousandth of this where they work for ten thousand processes.
const patience = 10 * time.Second

// tick is how often the guard looks whether code returns. A pause of the whole process
// or machine counts as one look, so that nobody is blamed for it.
const tick = 100 * time.Millisecond

// glances is how often it looks at the memory of trials in that time: code can take a
// gigabyte between two looks.
const glances = 5

// A Ward is a goroutine that runs code of plugins.
type Ward struct {
	buf     *algo.Buffer
	raise   func(error)
	patient atomic.Int64 // looks
	beat    uint64       // at the last look
	looks   int64        // that have seen it
	raised  bool

	trial  bool
	seen   uint64 // beat at the last glance
	before uint64 // memory at the first glance with that beat, in bytes
	place  int    // on the board; -1: it has none
}

var guard struct {
	mu     sync.Mutex
	wards  map[*Ward]struct{}
	trials int  // of them
	on     bool // its goroutine runs
	limit  uint64
	memory uint64 // at the last look
	// patient is what a Ward begins with, in looks; 0: patience.
	patient int64
}

// Watch has the code that is run with buf watched until Release. Raise is called at
// most once, from another goroutine.
func Watch(buf *algo.Buffer, raise func(error)) *Ward {
	guard.mu.Lock()
	defer guard.mu.Unlock()
	return watch(buf, raise)
}

// WatchTrial is Watch for a simulated trial. It raises as well when one event takes much
// memory. What the trial is called is written on the board, if there is one (see Show).
func WatchTrial(buf *algo.Buffer, name string, raise func(error)) *Ward {
	guard.mu.Lock()
	defer guard.mu.Unlock()
	w := watch(buf, raise)
	w.trial, w.place = true, write(name)
	guard.trials++
	return w
}

func watch(buf *algo.Buffer, raise func(error)) *Ward {
	w := &Ward{buf: buf, raise: raise, beat: buf.Beat(), place: -1}
	w.patient.Store(cmp.Or(guard.patient, int64(patience/tick)))
	if guard.wards == nil {
		guard.wards = map[*Ward]struct{}{}
	}
	guard.wards[w] = struct{}{}
	if !guard.on {
		guard.on = true
		go look()
	}
	return w
}

// Release ends the watch.
func (w *Ward) Release() {
	guard.mu.Lock()
	defer guard.mu.Unlock()
	delete(guard.wards, w)
	if w.trial {
		guard.trials--
		erase(w.place)
	}
}

// Hurry leaves the present event no more than d, since its caller waits no longer.
func (w *Ward) Hurry(d time.Duration) { w.patient.Store(int64(d / tick)) }

// SetPatience leaves each event from now on no more than d; 0: ten seconds.
func SetPatience(d time.Duration) {
	guard.mu.Lock()
	defer guard.mu.Unlock()
	guard.patient = int64(d / tick)
}

// LimitMemory has the guard raise when this process takes more than so many bytes;
// 0: it never does.
func LimitMemory(bytes uint64) {
	guard.mu.Lock()
	defer guard.mu.Unlock()
	guard.limit = bytes
}

// look is the guard's goroutine. It ends when there is nobody to watch.
func look() {
	pause := tick
	for glance := 1; ; glance++ {
		time.Sleep(pause)
		whole := pause == tick || glance%glances == 0
		for _, a := range round(whole) {
			a.ward.raise(a.err)
		}
		guard.mu.Lock()
		if pause = tick; guard.trials > 0 {
			pause = tick / glances
		}
		if len(guard.wards) == 0 {
			guard.on = false
		}
		on := guard.on
		guard.mu.Unlock()
		if !on {
			return
		}
	}
}

type alarm struct {
	ward *Ward
	err  error
}

// round looks at everyone once: at their memory, and if it is a whole one, at whether
// their code returns.
func round(whole bool) (alarms []alarm) {
	guard.mu.Lock()
	defer guard.mu.Unlock()
	guard.memory = memory()
	var crowded error
	if whole && guard.trials > 0 && runtime.NumGoroutine() > mostGoroutines {
		_, crowded = Idlers()
	}
	for w := range guard.wards {
		err := w.greedy()
		if err == nil && whole && w.hangs() {
			err = fmt.Errorf("%s: it does not return: it hangs, or works for seconds at one event",
				where(w.buf))
		}
		if err == nil && w.trial {
			err = crowded
		}
		if err != nil && !w.raised {
			w.raised = true
			alarms = append(alarms, alarm{w, err})
		}
	}
	return alarms
}

// mostGoroutines are in a process before the guard asks whose they are.
const mostGoroutines = 1000

// mostPerEvent is what code of a plugin may take of the memory for one event, in bytes. A message to each
// of a hundred thousand processes takes a tenth of it.
const mostPerEvent = 256 << 20

// greedy says whether this process takes more memory than it may, or an event of a trial does, since the
// first glance that saw it.
func (w *Ward) greedy() error {
	beat := w.buf.Beat()
	lasts := beat%2 == 1 && beat == w.seen
	if !lasts {
		w.seen, w.before = beat, guard.memory
	}
	most, why := guard.limit, "the trial takes more than %d MiB of memory, its share of this machine's"
	if most == 0 || guard.memory <= most {
		most, why = mostPerEvent, "it takes more than %d MiB of memory for one event"
		if !w.trial || !lasts || guard.memory <= w.before+most {
			return nil
		}
	}
	id, _ := w.buf.Running() // it runs: the event is not ours to read
	return fmt.Errorf("process %d: "+why, id, most>>20)
}

// hangs says whether the same piece of the plugin's code runs for too long. Of code in another process, its
// caller says that, and what the program wrote last.
func (w *Ward) hangs() bool {
	beat := w.buf.Beat()
	if beat%2 == 0 || beat != w.beat || w.buf.Apart() {
		w.beat, w.looks = beat, 0
		return false
	}
	w.looks++
	return w.looks >= w.patient.Load()
}

// where is whose code runs, and what for.
func where(buf *algo.Buffer) string {
	id, ev := buf.Running()
	return fmt.Sprintf("process %d: %v", id, ev)
}

// Exited is the error of a plugin that has called runtime.Goexit.
func Exited(buf *algo.Buffer) error {
	return fmt.Errorf("%s: it has ended its goroutine, which is not its own (runtime.Goexit)", where(buf))
}

// memory is what Go has from the system and uses, in bytes.
func memory() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

// Ballast is memory that counts when Go decides when to collect, and is never touched, and so never
// taken: from the first call on, there is a collection for every 64 MiB at most. One for every few short
// trials, which hold next to nothing, would cost half of their time. It is kept for good: memory that
// was used before would be filled with zeros.
var Ballast = sync.OnceValue(func() []byte { return make([]byte, 64<<20) })

// mostStack is how deep code may call itself, in bytes of the stack of a goroutine. Go's own limit is a
// gigabyte.
const mostStack = 64 << 20

// Confine keeps this process below so many bytes for good: it collects garbage harder near the limit,
// and the guard raises above it.
func Confine(bytes uint64) {
	debug.SetMaxStack(mostStack)
	if bytes == 0 {
		return
	}
	LimitMemory(bytes)
	debug.SetMemoryLimit(int64(bytes / 10 * 9))
	refuse(bytes)
}

// Share is the part of this machine's memory that one of so many processes may take:
// three quarters of it in all, in bytes; 0 where nobody says how much there is.
func Share(processes int) uint64 {
	if processes <= 0 {
		processes = runtime.GOMAXPROCS(0)
	}
	return physical() / 4 * 3 / uint64(processes)
}
