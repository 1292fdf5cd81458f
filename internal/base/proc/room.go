package proc

import "math"

// A Room is what this machine, and the control groups of this process, still have to give.
type Room struct {
	Memory uint64 `json:"memory"` // bytes that can be taken without swapping
	Tasks  uint64 `json:"tasks"`  // processes and threads that can be started
}

// Endless is a figure of a Room that nobody limits, or that is not known.
const Endless = math.MaxInt64

// A Footprint is what a process holds.
type Footprint struct {
	Memory uint64 `json:"memory"` // bytes; a page that n processes share counts as 1/n of it
	Tasks  uint64 `json:"tasks"`  // the process and its threads
}

// Add adds what another process holds.
func (f *Footprint) Add(o Footprint) { f.Memory, f.Tasks = f.Memory+o.Memory, f.Tasks+o.Tasks }
