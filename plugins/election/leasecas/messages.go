package leasecas

import "github.com/conclave-bench/conclave/pkg/algo"

// CAS asks for the lease, or renews it, if the record still is of this revision. R numbers a
// member's requests.
type CAS struct{ R, Revision uint64 }

// CASReply answers R with the record as it is now. OK says that the sender of R has the lease.
type CASReply struct {
	R        uint64
	OK       bool
	Holder   algo.ID
	Revision uint64
}

// Record is what the store keeps on stable storage.
type Record struct {
	Holder   algo.ID
	Revision uint64
}

// Kind is CAS.
func (CAS) Kind() string { return "CAS" }

// Kind is CAS_REPLY.
func (CASReply) Kind() string { return "CAS_REPLY" }

// Kind is RECORD.
func (Record) Kind() string { return "RECORD" }
