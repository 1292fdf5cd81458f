package ringmax

import "github.com/conclave-bench/conclave/pkg/algo"

// Election goes round the ring and finds the largest ID. Its size does not
// depend on the number of processes.
type Election struct {
	Era       uint64
	Initiator algo.ID // closes the lap
	Max       algo.ID // of the processes passed so far
	Hops      uint32  // made so far, this one included
}

// Coordinator goes round once more and names the winner.
type Coordinator struct {
	Era       uint64
	Initiator algo.ID // of the lap that found Leader; removes the announcement
	Leader    algo.ID
}

// Ack names the message that arrived, so that no message needs a number: the Election
// of an initiator by its hops, its announcement without. It is not one of the algorithm's.
type Ack struct {
	Era       uint64
	Initiator algo.ID
	Hops      uint32 // 0: the Coordinator
}

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

// ackOf is the acknowledgement of m, an Election or a Coordinator.
func ackOf(m algo.Message) Ack {
	if e, ok := m.(Election); ok {
		return Ack{e.Era, e.Initiator, e.Hops}
	}
	c := m.(Coordinator)
	return Ack{Era: c.Era, Initiator: c.Initiator}
}
