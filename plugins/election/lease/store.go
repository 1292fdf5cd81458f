package lease

import (
	"fmt"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A store keeps the record. It never leads, and names whom the record names.
type store struct {
	Process
	record Record // persistent
	ttl    bool   // it deletes the record in time
	watch  bool   // and tells the members
}

func newStore(p Process, ttl bool) *store {
	s := &store{Process: p, ttl: ttl, watch: p.Params.Bool("watch")}
	if saved, ok := p.Saved.(Record); ok {
		s.record = saved
	} else if holder := p.settled(); holder != algo.None {
		s.record = Record{holder, 1, p.Params.Duration("lease_duration")}
		if ttl {
			s.record.Duration = p.Params.Duration("ttl")
		}
	}
	return s
}

// Start: after a crash the lease of the record lasts as long as if it had just been renewed.
func (s *store) Start(env algo.Env) {
	s.name(env, s.record)
	s.changed(env)
}

// changed keeps the record, and times it.
func (s *store) changed(env algo.Env) {
	if s.record.Version > 0 {
		env.Save(s.record)
	}
	if s.ttl && s.record.Holder != algo.None {
		env.SetTimer(expiry, s.record.Duration)
	}
}

// Elect does nothing: a store does not compete.
func (s *store) Elect(algo.Env) {}

// Do does nothing either.
func (s *store) Do(_ algo.Env, op string, _ algo.ID) { known(op) }

func (s *store) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Get:
		env.Send(from, GetReply{m.R, s.record.Holder, s.record.Version, s.record.Duration})
	case Put:
		s.onPut(env, from, m)
	case Delete:
		if m.Version == s.record.Version && s.record.Holder == from {
			env.CancelTimer(expiry)
			s.delete(env)
		}
	}
}

// onPut accepts the change of the process that has seen the present record.
func (s *store) onPut(env algo.Env, from algo.ID, m Put) {
	ok := m.Version == s.record.Version
	if ok {
		s.record = Record{m.Holder, m.Version + 1, m.Duration}
		s.changed(env)
		s.name(env, s.record)
	}
	env.Send(from, PutReply{m.R, ok, s.record.Version})
}

// Timeout is the end of a lease that was not renewed.
func (s *store) Timeout(env algo.Env, _ algo.Timer) { s.delete(env) }

func (s *store) delete(env algo.Env) {
	s.record = Record{Version: s.record.Version + 1}
	s.changed(env)
	s.name(env, s.record)
	if s.watch {
		algo.Broadcast(env, s.ID, s.Peers, Expired{})
	}
}

// Invariant: the store names the holder.
func (s *store) Invariant() error {
	if s.leader != s.record.Holder && s.leader != s.Leader || s.record.Holder == s.ID {
		return fmt.Errorf("names %d, and the record %d", s.leader, s.record.Holder)
	}
	return nil
}

var (
	_ algo.Starter   = (*store)(nil)
	_ algo.Timed     = (*store)(nil)
	_ algo.Commanded = (*store)(nil)
	_ algo.Monitor   = (*store)(nil)
	_ algo.Checked   = (*store)(nil)
)
