package hashicorpraft

import (
	"github.com/hashicorp/raft"

	"github.com/conclave-bench/conclave/systems/bubble"
)

// A store is the log and the stable store of one server: the library's own in memory, on its disk.
type store struct {
	*raft.InmemStore
	disk *bubble.Disk
}

// store is what is on the disk of the server.
func (n *node) store() *store {
	s := &store{raft.NewInmemStore(), n.Disk}
	if was, ok := n.Disk.Contents().(*raft.InmemStore); ok {
		s.InmemStore = was
	}
	n.Disk.Mount(s.image)
	return s
}

// image is a copy of what is stored.
func (s *store) image() any {
	out := raft.NewInmemStore()
	first, _ := s.FirstIndex() // what is in memory has no errors
	last, _ := s.LastIndex()
	for i := max(first, 1); i <= last; i++ {
		var l raft.Log
		if s.GetLog(i, &l) == nil {
			_ = out.StoreLog(&l)
		}
	}
	for _, key := range []string{"CurrentTerm", "LastVoteTerm"} {
		if v, err := s.GetUint64([]byte(key)); err == nil {
			_ = out.SetUint64([]byte(key), v)
		}
	}
	if v, err := s.Get([]byte("LastVoteCand")); err == nil {
		_ = out.Set([]byte("LastVoteCand"), v)
	}
	return out
}

func (s *store) StoreLog(l *raft.Log) error { return s.StoreLogs([]*raft.Log{l}) }

func (s *store) StoreLogs(logs []*raft.Log) error {
	bytes := 0
	for _, l := range logs {
		bytes += size(l)
	}
	return s.disk.Write(bytes, func() { _ = s.InmemStore.StoreLogs(logs) })
}

func (s *store) DeleteRange(low, high uint64) error {
	return s.disk.Write(16, func() { _ = s.InmemStore.DeleteRange(low, high) })
}

// The term and the vote: the library panics if it cannot save them (raft.go, setCurrentTerm).

func (s *store) Set(key, value []byte) error {
	s.disk.Must(len(key)+len(value), func() { _ = s.InmemStore.Set(key, value) })
	return nil
}

func (s *store) SetUint64(key []byte, value uint64) error {
	s.disk.Must(len(key)+8, func() { _ = s.InmemStore.SetUint64(key, value) })
	return nil
}
