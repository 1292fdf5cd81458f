package leasecas

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A store keeps the record. It never leads, and names whom the record names.
type store struct {
	record Record        // persistent
	since  time.Duration // when the record changed, by the store's clock
	leader algo.ID       // whom it names
	ttl    time.Duration
}

// Start: after a crash the lease of the record begins anew.
func (s *store) Start(env algo.Env) {
	s.since = env.Now()
	s.keep(env)
}

// keep saves the record, if there is one, and names whom it names.
func (s *store) keep(env algo.Env) {
	if s.record.Revision > 0 {
		env.Save(s.record)
	}
	if s.leader != s.record.Holder {
		s.leader = s.record.Holder
		env.Elected(s.leader, s.record.Revision)
	}
}

// Elect does nothing: a store does not compete.
func (s *store) Elect(algo.Env) {}

// Do does nothing either.
func (s *store) Do(_ algo.Env, op string, _ algo.ID) { known(op) }

// Suspect does nothing either.
func (s *store) Suspect(algo.Env, algo.ID) {}

// Restore does nothing either.
func (s *store) Restore(algo.Env, algo.ID) {}

// Receive has the one request that there is: rule 1, and rule 2 if the holder sends it.
func (s *store) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case CAS:
		free := s.record.Holder == algo.None || s.record.Holder == from || env.Now()-s.since >= s.ttl
		ok := free && m.Revision == s.record.Revision
		if ok {
			s.record, s.since = Record{from, m.Revision + 1}, env.Now()
			s.keep(env)
		}
		env.Send(from, CASReply{m.R, ok, s.record.Holder, s.record.Revision})
	}
}

var (
	_ algo.Starter   = (*store)(nil)
	_ algo.Commanded = (*store)(nil)
	_ algo.Monitor   = (*store)(nil)
)
