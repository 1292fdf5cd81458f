package harness

import (
	"bytes"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A disk is what a process writes to. While a write is under way the algorithm handles nothing: what
// reaches it waits. The application and the failure detector go on.
type disk struct {
	fault.Disk
	writing bool
	gen     uint32 // of the alarm that ends the write
	packed  []byte // what is written
	rest    []algo.Effect
	waiting []held
	expired []Alarm // of timers, which come after all that waits
}

// A held event is one that waits for a write.
type held struct {
	ev    algo.Event
	depth uint32
}

func (d *disk) hold(ev algo.Event, depth uint32) { d.waiting = append(d.waiting, held{ev, depth}) }

// Disk is what becomes of the process's writes from now on, the one under way included.
func (m *Process) Disk(now time.Duration, d fault.Disk) {
	if a := m.ailing(); a != nil {
		m.ail(a, func(x *algo.Ailment) { x.Disk, x.By = d.Fails, d.By })
		return
	}
	failed := m.disk.writing && m.disk.Fails == fault.FullDisk
	m.disk.Disk = d
	if m.disk.writing && !failed {
		m.write(now)
	}
}

// save writes packed, and says whether that is done at once.
func (m *Process) save(now time.Duration, packed []byte) (done bool) {
	if m.disk.Fails == "" {
		m.runtime.Save(m, packed, trace.Kept)
		return true
	}
	m.disk.writing, m.disk.packed = true, bytes.Clone(packed)
	m.Timers++
	m.write(now)
	return !m.disk.writing
}

// write has the write under way end now, later or never.
func (m *Process) write(now time.Duration) {
	d := &m.disk
	d.gen++
	switch d.Fails {
	case "":
		m.written(now, trace.Kept)
	case fault.LyingDisk:
		m.written(now, trace.Forgotten)
	case fault.SlowDisk:
		m.alarm(now+d.By, Alarm{Slot: slotWritten, Gen: d.gen})
	case fault.FullDisk: // the coordinator ends the process
		m.runtime.Save(m, d.packed, trace.Refused)
	}
}

// written ends the write, and what has waited for it happens.
func (m *Process) written(now time.Duration, fate uint32) {
	d := &m.disk
	m.runtime.Save(m, d.packed, fate)
	rest := d.rest
	d.writing, d.packed, d.rest = false, nil, nil
	m.Timers--
	m.carryOut(now, rest)
	for !d.writing && len(d.waiting)+len(d.expired) > 0 {
		if len(d.waiting) == 0 {
			a := d.expired[0]
			d.expired = d.expired[1:]
			m.Alarm(now, a)
			continue
		}
		h := d.waiting[0]
		d.waiting = d.waiting[1:]
		m.depth = max(m.depth, h.depth)
		m.feed(now, h.ev)
	}
}

// later is effects that happen after the event of which they are, when the algorithm may have changed the
// messages.
func (m *Process) later(effects []algo.Effect) []algo.Effect {
	out := slices.Clone(effects)
	for i := range out {
		if msg := out[i].Msg; msg != nil {
			kind, _ := m.setup.Alg.Codec.KindOf(msg)
			out[i].Msg = m.setup.Alg.Codec.Copy(kind, msg)
		}
	}
	return out
}
