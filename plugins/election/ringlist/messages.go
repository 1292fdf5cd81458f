package ringlist

import "github.com/conclave-bench/conclave/pkg/algo"

// Election goes round the ring and collects the live processes.
type Election struct {
	Seq  uint64 // of this hop, for its acknowledgement
	List []algo.ID
}

// Coordinator goes round once more and tells who won.
type Coordinator struct {
	Seq       uint64
	Leader    algo.ID
	Converter algo.ID // made the announcement out of an Election
	Round     Round   // of the converter's announcements
}

// Ack says that hop Seq arrived. It is not a message of the algorithm.
type Ack struct{ Seq uint64 }

// A Round numbers the announcements of one process across its crashes.
type Round struct {
	Incarnation uint32
	Count       uint32
}

// Kind is ELECTION.
func (Election) Kind() string { return "ELECTION" }

// Kind is COORDINATOR.
func (Coordinator) Kind() string { return "COORDINATOR" }

// Kind is ACK.
func (Ack) Kind() string { return "ACK" }
