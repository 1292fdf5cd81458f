package algo

import "cmp"

// A Stamp orders requests totally: by number, which is a logical clock or a sequence number, and equal ones
// by process (L. Lamport, Time, clocks, and the ordering of events in a distributed system, CACM 1978).
type Stamp struct {
	Number uint64
	ID     ID
}

// Compare is negative if s comes before t, and 0 if they are the same.
func (s Stamp) Compare(t Stamp) int {
	return cmp.Or(cmp.Compare(s.Number, t.Number), cmp.Compare(s.ID, t.ID))
}

// Before says whether s comes before t.
func (s Stamp) Before(t Stamp) bool { return s.Compare(t) < 0 }
