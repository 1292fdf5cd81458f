package ringlist

import (
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Election goes round the ring and collects the live processes.
type Election struct{ List []algo.ID }

// Coordinator goes round once more and names the winner and the members of the
// new ring.
type Coordinator struct {
	Leader    algo.ID
	List      []algo.ID // of the Election
	Converter algo.ID   // made the announcement out of it
	Round     Round     // of the converter's announcements
}

// Ack names the message that arrived, so that no message needs a number: an Election
// by its list, an announcement by its sender and number. It is not one of the
// algorithm's.
type Ack struct {
	List      []algo.ID // empty: an announcement
	Converter algo.ID
	Round     Round
}

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

// ackOf is the acknowledgement of m, an Election or a Coordinator.
func ackOf(m algo.Message) Ack {
	if e, ok := m.(Election); ok {
		return Ack{List: e.List}
	}
	c := m.(Coordinator)
	return Ack{Converter: c.Converter, Round: c.Round}
}

func (a Ack) equal(b Ack) bool {
	return slices.Equal(a.List, b.List) && a.Converter == b.Converter && a.Round == b.Round
}
