package hashicorpraft

import (
	"testing"

	"github.com/hashicorp/raft"
)

// TestStore_Image: a copy has the log and the vote, and later writes do not reach it.
func TestStore_Image(t *testing.T) {
	s := &store{InmemStore: raft.NewInmemStore()}
	for _, err := range []error{
		s.InmemStore.StoreLogs([]*raft.Log{{Index: 1, Term: 1}, {Index: 2, Term: 3, Data: []byte("x")}}),
		s.InmemStore.SetUint64([]byte("CurrentTerm"), 3), s.InmemStore.SetUint64([]byte("LastVoteTerm"), 2),
		s.InmemStore.Set([]byte("LastVoteCand"), []byte("2")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	copied := s.image().(*raft.InmemStore)
	_ = s.InmemStore.SetUint64([]byte("CurrentTerm"), 9)
	_ = s.InmemStore.StoreLogs([]*raft.Log{{Index: 3, Term: 9}})
	var l raft.Log
	last, _ := copied.LastIndex()
	term, _ := copied.GetUint64([]byte("CurrentTerm"))
	voted, _ := copied.GetUint64([]byte("LastVoteTerm"))
	whom, _ := copied.Get([]byte("LastVoteCand"))
	if err := copied.GetLog(2, &l); err != nil || l.Term != 3 || string(l.Data) != "x" || last != 2 || term != 3 ||
		voted != 2 || string(whom) != "2" {
		t.Errorf("log %+v, %v; last %d, term %d, vote %q in %d", l, err, last, term, whom, voted)
	}
}
