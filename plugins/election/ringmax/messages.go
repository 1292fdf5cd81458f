package ringmax

import "github.com/conclave-bench/conclave/pkg/algo"

// Election goes round the ring and finds the largest ID. Its size does not
// depend on the number of processes.
type Election struct {
	Seq       uint64 // of this hop, for its acknowledgement
	Era       uint64
	Initiator algo.ID // closes the lap
	Max       algo.ID // of the processes passed so far
	Hops      uint32  // made so far, this one included
}

// Coordinator goes round once more and tells who won.
type Coordinator struct {
	Seq       uint64
	Era       uint64
	Initiator algo.ID // of the lap that found Leader; removes the announcement
	Leader    algo.ID
}

// Ack says that hop Seq arrived. It is not a message of the algorithm.
type Ack struct{ Seq uint64 }

// Era is what a process saves: the newest election that it took part in.
type Era struct{ N uint64 }

// Kind is ELECTION.
func (Election) Kind() string { return "ELECTION" }

// Kind is COORDINATOR.
func (Coordinator) Kind() string { return "COORDINATOR" }

// Kind is ACK.
func (Ack) Kind() string { return "ACK" }

// Kind is ERA.
func (Era) Kind() string { return "ERA" }

// numbered is m, an Election or a Coordinator, as hop seq.
func numbered(m algo.Message, seq uint64) algo.Message {
	if e, ok := m.(Election); ok {
		e.Seq = seq
		return e
	}
	c := m.(Coordinator)
	c.Seq = seq
	return c
}

// hopOf is the number of m's hop, and the era of its election.
func hopOf(m algo.Message) (seq, era uint64) {
	if e, ok := m.(Election); ok {
		return e.Seq, e.Era
	}
	c := m.(Coordinator)
	return c.Seq, c.Era
}
