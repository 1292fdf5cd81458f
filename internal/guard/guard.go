// Package guard watches code of plugins while it runs, in both worlds: that it
// returns, and that it does not eat the machine's memory. What it finds, it says in
// words that name the process and the event; whoever runs the plugin decides what
// becomes of the trial, since code that does not return cannot be stopped.
package guard

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// patience is how long code of a plugin may take for one event. Handlers take
// microseconds, and a thousandth of this where they work for ten thousand processes.
const patience = 10 * time.Second

// tick is how often the guard looks. A pause of the whole process or machine counts
// as one look, so that nobody is blamed for it.
const tick = 100 * time.Millisecond

// A Ward is a goroutine that runs code of plugins.
type Ward struct {
	buf     *algo.Buffer
	raise   func(error)
	patient atomic.Int64 // looks
	beat    uint64       // at the last look
	looks   int64        // that have seen it
	raised  bool
}

var guard struct {
	mu    sync.Mutex
	wards map[*Ward]struct{}
	on    bool // its goroutine runs
	limit uint64
	// patient is what a Ward begins with, in looks; 0: patience.
	patient int64
}

// Watch has the code that is run with buf watched until Release. Raise is called at
// most once, from another goroutine.
func Watch(buf *algo.Buffer, raise func(error)) *Ward {
	w := &Ward{buf: buf, raise: raise, beat: buf.Beat()}
	guard.mu.Lock()
	defer guard.mu.Unlock()
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
}

// Hurry leaves the present event no more than d, since nobody waits longer.
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
	for range time.Tick(tick) {
		alarms := round()
		for _, a := range alarms {
			a.ward.raise(a.err)
		}
		guard.mu.Lock()
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

// round looks at everyone once.
func round() (alarms []alarm) {
	guard.mu.Lock()
	defer guard.mu.Unlock()
	over := guard.limit > 0 && len(guard.wards) > 0 && memory() > guard.limit
	for w := range guard.wards {
		var err error
		if w.hangs() {
			err = fmt.Errorf("%s: it does not return: it hangs, or works for seconds at one event",
				where(w.buf))
		} else if over {
			id, _ := w.buf.Running() // it runs: the event is not ours to read
			err = fmt.Errorf("process %d: the trial takes more than %d MiB of memory, its share of this "+
				"machine's", id, guard.limit>>20)
		}
		if err != nil && !w.raised {
			w.raised = true
			alarms = append(alarms, alarm{w, err})
		}
	}
	return alarms
}

// hangs says whether the same piece of the plugin's code runs for too long.
func (w *Ward) hangs() bool {
	beat := w.buf.Beat()
	if beat%2 == 0 || beat != w.beat {
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

// Share is the part of this machine's memory that one of so many processes may take:
// three quarters of it in all, in bytes; 0 where nobody says how much there is.
func Share(processes int) uint64 {
	if processes <= 0 {
		processes = runtime.GOMAXPROCS(0)
	}
	return physical() / 4 * 3 / uint64(processes)
}
