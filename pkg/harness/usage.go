package harness

import "time"

// A Usage is what the nodes of a trial have used from the common start, or their return,
// until they were stopped or killed. Zero: it is not known.
type Usage struct {
	// Handling is the processor time that the algorithm took to handle events, at all of them.
	// It is known of nodes that share a process, too.
	Handling time.Duration `json:"handling,omitempty"`

	CPU             time.Duration `json:"cpu"` // processor time of all, in user mode and in the system
	BusiestCPU      time.Duration `json:"busiest_cpu"`
	Switches        uint64        `json:"switches"` // context switches of all
	BusiestSwitches uint64        `json:"busiest_switches"`
	Involuntary     uint64        `json:"involuntary"` // the processor was taken away
}

// A Handling is processor time in the handlers of a simulated algorithm: a few are measured.
type Handling struct {
	Events  uint64        // that it handled
	Sampled uint64        // those that were measured
	CPU     time.Duration // of these
	Passed  bool          // CPU is the time that passed: another process handles the events
}

// Add adds that of another trial.
func (h *Handling) Add(other Handling) {
	h.Events += other.Events
	h.Sampled += other.Sampled
	h.CPU += other.CPU
	h.Passed = h.Passed || other.Passed
}

// A Quality says how far the figures of a trial on real nodes can be believed.
type Quality struct {
	SchedDelayP99 time.Duration // how late the machine ran what was due
	Busy          float64       // share of processor time used; NaN if unknown
	Stolen        float64       // share of it that a hypervisor gave to others; NaN if unknown
	Throttled     time.Duration // for which a quota kept the nodes from running, over all processors
	Usage         Usage
	ReadyTime     time.Duration // from the first start to the last node ready
	// ClockError is by how much an instant in a record can be wrong, by the clock of the process that
	// led the trial: half the width of the interval that holds the truth, on the worst host. 0: all
	// nodes have one clock.
	ClockError time.Duration
	// Wire is what happened to packets; nil: the nodes had no wire.
	Wire *Packets
	// Shares are what the machines bear, of a Plan that is a Probe.
	Shares []Share
}

// Packets are those of a wire, from the start of the first node to the end of the trial. The delays are
// what the machine added to those of the network model.
type Packets struct {
	Sent   uint64 // by the nodes
	Lost   uint64 // by the network model, of those and their duplicates
	Missed uint64 // by the machine

	DelayP50, DelayP99, DelayMax time.Duration
}

// A Share is the part of a trial that one machine has, and what the machine bears by what was measured
// while its nodes started.
type Share struct {
	Host    string // its name
	Nodes   int    // that the trial has there
	Started int    // of those, when it was known how many it bears
	Fits    int    // that it bears, Started among them
	Cores   int
	PerNode uint64 // bytes that each node took, its part of the bus among them
	Memory  uint64 // bytes that the machine had left then
	Tasks   bool   // processes and threads are the least that it has, not memory
	Cut     bool   // the trial would have more nodes there, but these are as many as it bears
}

// Short says whether the machine does not bear its share.
func (s *Share) Short() bool { return s.Fits < s.Nodes }
