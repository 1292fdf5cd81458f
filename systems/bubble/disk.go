package bubble

import (
	"sync"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Disk is what a process writes to. What is on it outlives a crash: the next incarnation finds it as it was
// at that instant, whatever the one that has crashed still writes while its goroutines end.
type Disk struct {
	process *Process

	mu    sync.Mutex
	kept  any        // of the incarnation before; nil: nothing
	image func() any // what is on it now
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
	if d.image == nil {
		return &Disk{kept: d.kept}
	}
	return &Disk{kept: d.image()}
}

// Write makes so many bytes durable: apply is called when they are, and then it returns. A process that is
// paused waits.
func (d *Disk) Write(bytes int, apply func()) error {
	p := d.process
	w := p.world
	w.mu.Lock()
	if p.hold() {
		w.record(trace.Record{Type: trace.Save, Process: uint32(p.ID), Incarnation: p.Incarnation,
			Bytes: uint32(bytes)})
	}
	w.mu.Unlock()
	apply()
	return nil
}
