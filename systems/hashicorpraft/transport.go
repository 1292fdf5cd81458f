package hashicorpraft

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hashicorp/go-msgpack/v2/codec"
	"github.com/hashicorp/raft"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/systems/bubble"
)

// The node is the transport of its server.
var (
	_ raft.Transport   = (*node)(nil)
	_ raft.WithPreVote = (*node)(nil)
)

func (n *node) Consumer() <-chan raft.RPC     { return n.requests }
func (n *node) LocalAddr() raft.ServerAddress { return raft.ServerAddress(name(n.ID)) }

func (n *node) EncodePeer(_ raft.ServerID, a raft.ServerAddress) []byte { return []byte(a) }
func (n *node) DecodePeer(b []byte) raft.ServerAddress                  { return raft.ServerAddress(b) }

// SetHeartbeatHandler is left out, as the library allows: heartbeats are handled one after the other with all
// other requests.
func (n *node) SetHeartbeatHandler(func(raft.RPC)) {}

func (n *node) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}

func (n *node) AppendEntries(id raft.ServerID, _ raft.ServerAddress, args *raft.AppendEntriesRequest,
	resp *raft.AppendEntriesResponse) error {
	return call(n, id, appendEntries, appendReply, args, resp)
}

func (n *node) RequestVote(id raft.ServerID, _ raft.ServerAddress, args *raft.RequestVoteRequest,
	resp *raft.RequestVoteResponse) error {
	return call(n, id, requestVote, voteReply, args, resp)
}

func (n *node) RequestPreVote(id raft.ServerID, _ raft.ServerAddress, args *raft.RequestPreVoteRequest,
	resp *raft.RequestPreVoteResponse) error {
	return call(n, id, preVote, preVoteReply, args, resp)
}

func (n *node) TimeoutNow(raft.ServerID, raft.ServerAddress, *raft.TimeoutNowRequest,
	*raft.TimeoutNowResponse) error {
	return errors.New("no leadership is transferred")
}

func (n *node) InstallSnapshot(raft.ServerID, raft.ServerAddress, *raft.InstallSnapshotRequest,
	*raft.InstallSnapshotResponse, io.Reader) error {
	return errors.New("no snapshots are taken")
}

// An answered request has an answer, or was refused.
type answered[R any] struct {
	resp R
	err  error
}

// call sends args to a server, and puts its answer into resp.
func call[Q, R any](n *node, id raft.ServerID, ask, answer algo.Message, args *Q, resp *R) error {
	ctx, cancel := context.WithTimeout(context.Background(), n.Params.Duration("rpc_timeout"))
	defer cancel()
	a, err := bubble.Call(ctx, n.Process, number(id), ask, answer, size(args),
		func(s bubble.Subject) (a answered[R], bytes int) {
			got, err := s.(*node).serve(args)
			if a.err = err; err == nil {
				a.resp = *got.(*R)
			}
			return a, size(&a.resp)
		})
	if err != nil {
		return err
	}
	*resp = a.resp
	return a.err
}

// serve hands a request to the server, and waits for what it answers.
func (n *node) serve(args any) (any, error) {
	answered := make(chan raft.RPCResponse, 1)
	select {
	case n.requests <- raft.RPC{Command: args, RespChan: answered}:
	case <-n.Done():
		return nil, bubble.ErrCrashed
	}
	select {
	case a := <-answered:
		return a.Response, a.Error
	case <-n.Done():
		return nil, bubble.ErrCrashed
	}
}

// size is how many bytes a message takes on the wire of the library's own transport: its kind, and MessagePack.
func size(message any) int {
	var b []byte
	if err := codec.NewEncoderBytes(&b, &handle).Encode(message); err != nil {
		panic(fmt.Sprintf("encode %T: %v", message, err))
	}
	return 1 + len(b)
}

var handle codec.MsgpackHandle
