package etcdraft

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Packed is a message of the library as it crosses a network.
type Packed struct{ Data []byte }

// The kinds of its messages.
type (
	App           struct{ Packed }
	AppResp       struct{ Packed }
	Vote          struct{ Packed }
	VoteResp      struct{ Packed }
	Snap          struct{ Packed }
	Heartbeat     struct{ Packed }
	HeartbeatResp struct{ Packed }
	TimeoutNow    struct{ Packed }
	PreVote       struct{ Packed }
	PreVoteResp   struct{ Packed }
)

func (App) Kind() string           { return "APP" }
func (AppResp) Kind() string       { return "APP-RESP" }
func (Vote) Kind() string          { return "VOTE" }
func (VoteResp) Kind() string      { return "VOTE-RESP" }
func (Snap) Kind() string          { return "SNAP" }
func (Heartbeat) Kind() string     { return "HEARTBEAT" }
func (HeartbeatResp) Kind() string { return "HEARTBEAT-RESP" }
func (TimeoutNow) Kind() string    { return "TIMEOUT-NOW" }
func (PreVote) Kind() string       { return "PRE-VOTE" }
func (PreVoteResp) Kind() string   { return "PRE-VOTE-RESP" }

func (p Packed) bytes() []byte { return p.Data }

var messages = []algo.Message{App{}, AppResp{}, Vote{}, VoteResp{}, Snap{}, Heartbeat{}, HeartbeatResp{},
	TimeoutNow{}, PreVote{}, PreVoteResp{}}

// Stable is what a process keeps: the term, its vote and what is committed, and the log.
type Stable struct {
	Hard    []byte
	Entries [][]byte
}

// Kind is STABLE.
func (Stable) Kind() string { return "STABLE" }

// Pack is a message of the library as one of ours.
func Pack(m *pb.Message) algo.Message {
	p := Packed{encode(m)}
	switch m.GetType() {
	case pb.MsgApp:
		return App{p}
	case pb.MsgAppResp:
		return AppResp{p}
	case pb.MsgVote:
		return Vote{p}
	case pb.MsgVoteResp:
		return VoteResp{p}
	case pb.MsgSnap:
		return Snap{p}
	case pb.MsgHeartbeat:
		return Heartbeat{p}
	case pb.MsgHeartbeatResp:
		return HeartbeatResp{p}
	case pb.MsgTimeoutNow:
		return TimeoutNow{p}
	case pb.MsgPreVote:
		return PreVote{p}
	case pb.MsgPreVoteResp:
		return PreVoteResp{p}
	}
	panic(fmt.Sprintf("the library sends %v, which is none of the messages of an election", m.GetType()))
}

// Unpack is a message of ours as the library takes it.
func Unpack(m algo.Message) *pb.Message {
	out := &pb.Message{}
	decode(m.(interface{ bytes() []byte }).bytes(), out)
	return out
}

// encode is deterministic: equal messages are equal bytes.
func encode(m proto.Message) []byte {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

func decode(b []byte, m proto.Message) {
	if err := proto.Unmarshal(b, m); err != nil {
		panic(err)
	}
}
