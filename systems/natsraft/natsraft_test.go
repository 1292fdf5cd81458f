package natsraft

import (
	"testing"
	"testing/fstest"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// TestImage: a copy has all files of all folders.
func TestImage(t *testing.T) {
	dir := fstest.MapFS{"a/b": {Data: []byte("x")}, "c": {Data: []byte("y")}}
	copied := image(dir).(fstest.MapFS)
	dir["c"].Data[0] = 'z'
	if len(copied) != 2 || string(copied["a/b"].Data) != "x" || string(copied["c"].Data) != "y" {
		t.Errorf("copied: %v", copied)
	}
}

// TestKinds: each subject of the raft below JetStream (raft.go, raftVoteSubj and others) has its kind.
func TestKinds(t *testing.T) {
	for subject, want := range map[string][2]algo.Message{
		"$NRG.V._meta_": {vote, voteReply}, "$NRG.AE._meta_": {appends, appendReply},
		"$NRG.CR.abcdefgh": {other, other}, "$SYS.SERVER.A.STATSZ": {other, other},
	} {
		if ask, answer := kinds(subject); [2]algo.Message{ask, answer} != want {
			t.Errorf("%s: %s, %s; want %v", subject, ask.Kind(), answer.Kind(), want)
		}
	}
}
