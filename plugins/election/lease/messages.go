package lease

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Get asks the store for its record. R numbers a member's requests.
type Get struct{ R uint64 }

// GetReply answers R. Without a Holder the lease is free.
type GetReply struct {
	R        uint64
	Holder   algo.ID
	Version  uint64
	Duration time.Duration
}

// Put changes the record, if it still is of this version.
type Put struct {
	R, Version uint64
	Holder     algo.ID
	Duration   time.Duration
}

// PutReply answers R. Version is the record's from now on.
type PutReply struct {
	R       uint64
	OK      bool
	Version uint64
}

// Delete gives the lease back, if the record still is of this version. Rule ttl.
type Delete struct{ Version uint64 }

// Expired notifies those that watch the record that the lease is free. Rule ttl.
type Expired struct{}

// Record is what the store keeps on stable storage.
type Record struct {
	Holder   algo.ID
	Version  uint64
	Duration time.Duration
}

// Kind is GET.
func (Get) Kind() string { return "GET" }

// Kind is GET_REPLY.
func (GetReply) Kind() string { return "GET_REPLY" }

// Kind is PUT.
func (Put) Kind() string { return "PUT" }

// Kind is PUT_REPLY.
func (PutReply) Kind() string { return "PUT_REPLY" }

// Kind is DELETE.
func (Delete) Kind() string { return "DELETE" }

// Kind is EXPIRED.
func (Expired) Kind() string { return "EXPIRED" }

// Kind is RECORD.
func (Record) Kind() string { return "RECORD" }
