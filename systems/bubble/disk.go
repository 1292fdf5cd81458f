package bubble

import (
	"sync"
	"syscall"
	"time"

	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Disk is what a process writes to. What is on it outlives a crash: the next incarnation finds it as it was
// at that instant, whatever the one that has crashed still writes while its goroutines end.
type Disk struct {
	process *Process
	state   fault.Disk // under the lock of the trial

	mu    sync.Mutex
	kept  any        // of the incarnation before; nil: nothing
	image func() any // what is on it now
	lies  bool       // what was written since is gone after a crash
}

// Contents is what the incarnation before has left; nil: nothing.
func (d *Disk) Contents() any { return d.kept }

// Mount says how to copy what is on the disk, which the bubble does at a crash.
func (d *Disk) Mount(image func() any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.image = image
}

// fork is the disk of the next incarnation.
func (d *Disk) fork() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.image == nil || d.lies {
		return &Disk{kept: d.kept}
	}
	return &Disk{kept: d.image()}
}

// become is what becomes of writes from now on, those under way included; under the lock of the trial.
func (d *Disk) become(state fault.Disk) {
	d.state = state
	d.process.resumed.Broadcast()
}

// lie has all that is written from now on be gone after a crash.
func (d *Disk) lie() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.lies && d.image != nil {
		d.kept = d.image()
	}
	d.lies = true
}

// Write makes so many bytes durable: apply is called when they are, and then it returns. A process that is
// paused waits, and so does one whose disk hangs. ENOSPC: the disk is full.
func (d *Disk) Write(bytes int, apply func()) error {
	p := d.process
	w := p.world
	w.mu.Lock()
	for p.hold() && d.state.Fails == fault.HungDisk {
		p.resumed.Wait()
	}
	if by := d.state.By; by > 0 && p.alive() {
		w.mu.Unlock()
		select {
		case <-time.After(by):
		case <-p.gone:
		}
		w.mu.Lock()
	}
	r := trace.Record{Type: trace.Save, Process: uint32(p.ID), Incarnation: p.Incarnation, Bytes: uint32(bytes)}
	switch d.state.Fails {
	case fault.LyingDisk:
		r.Peer = trace.Forgotten
	case fault.FullDisk:
		r.Peer = trace.Refused
	}
	if p.alive() {
		w.record(r)
	}
	w.mu.Unlock()
	switch r.Peer {
	case trace.Forgotten:
		d.lie()
	case trace.Refused:
		return syscall.ENOSPC
	}
	apply()
	return nil
}

// Must is Write for what the library does not go on without: if it fails, the library panics, which ends its
// process.
func (d *Disk) Must(bytes int, apply func()) {
	if d.Write(bytes, apply) == nil {
		return
	}
	w := d.process.world
	w.mu.Lock()
	if d.process.alive() {
		w.instruct(w.coordinator.Abort(d.process.ID, w.now()))
	}
	w.mu.Unlock()
	<-d.process.gone
}
