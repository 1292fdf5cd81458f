// Package hashicorpraft has github.com/hashicorp/raft, the library below Consul, Nomad and Vault, elect
// leaders as it is.
package hashicorpraft

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/systems/bubble"
)

const module = "github.com/hashicorp/raft"

// least is what the library takes at least (config.go, ValidateConfig).
const least = 5 * time.Millisecond

func init() {
	bubble.Register(algo.Spec{
		Name:    "hashicorp-raft",
		Summary: "the library of Consul, Nomad and Vault, as it is",
		Paper: algo.Paper{Authors: "HashiCorp", Title: "Golang implementation of the Raft consensus protocol",
			Venue: module, Year: 2026,
			Deviations: "The library runs unmodified. Its transport and its stores are Conclave's; replication is " +
				"not pipelined."},
		Messages: []algo.Message{appendEntries, appendReply, preVote, preVoteReply, requestVote,
			voteReply},
		Params: []algo.Param{
			bubble.Patience("heartbeat_timeout", time.Second, least, "a follower that has heard nothing for so long is a candidate"),
			bubble.Wait("election_timeout", time.Second, least, "a candidate without a majority tries again after so long"),
			bubble.Wait("leader_lease_timeout", 500*time.Millisecond, least, "a leader that has not reached a majority for so "+
				"long steps down; at most heartbeat_timeout"),
			bubble.Wait("commit_timeout", 50*time.Millisecond, least, "a leader with nothing to replicate sends what is "+
				"committed after so long"),
			bubble.Wait("rpc_timeout", 10*time.Second, least, "for how long a call waits for its answer"),
			{Name: "pre_vote", Type: algo.Bool, Default: algo.Const(true),
				Doc: "a candidate asks first whether it would be elected"},
		},
		Perpetual: true, Writes: true,
		// A follower looks at its last contact at instants that it draws, up to two time-outs apart.
		Settles: func(p algo.Params) time.Duration { return 2 * p.Duration("heartbeat_timeout") },
		Needs:   algo.Needs{Synchrony: algo.PartiallySynchronous},
		Survives: algo.Faults{Loss: true, Duplication: true, Partition: true, Recovery: true,
			Crashes: func(n int, _ algo.Params) int { return (n - 1) / 2 }},
		Promises: algo.Promises{Announced: true, Leadership: algo.PerTerm},
		Service:  algo.Led,
		Breaks: "Without a majority that reaches each other there is no leader. A leader that is cut off " +
			"considers itself leader until leader_lease_timeout has passed. Without pre_vote a server that " +
			"was cut off is in a higher term when it returns, and unseats the leader.",
		Predicted: &algo.Prediction{By: "raft", Set: "consul", Params: map[string]any{
			"heartbeat": 100 * time.Millisecond, "heartbeat_spread": 100 * time.Millisecond,
			"t_election": time.Second, "t_election_spread": time.Second, "t_quorum": 500 * time.Millisecond},
			Differs: "The times of the set are divided by 5, which is Consul's raft_multiplier. The library draws " +
				"the time to the next heartbeat for each follower by itself, the algorithm draws one for all."},
	}, module, newNode)
}

// The kinds of its messages.
var (
	appendEntries = bubble.Kind("APPEND-ENTRIES")
	appendReply   = bubble.Kind("APPEND-REPLY")
	preVote       = bubble.Kind("PRE-VOTE")
	preVoteReply  = bubble.Kind("PRE-VOTE-REPLY")
	requestVote   = bubble.Kind("REQUEST-VOTE")
	voteReply     = bubble.Kind("VOTE-REPLY")
)

// A node is one server.
type node struct {
	*bubble.Process
	raft     *raft.Raft
	requests chan raft.RPC
	seen     chan raft.Observation
	ended    chan struct{} // when nobody looks at seen any more
}

func newNode(p *bubble.Process) bubble.Subject {
	return &node{Process: p, requests: make(chan raft.RPC), seen: make(chan raft.Observation),
		ended: make(chan struct{})}
}

func name(p algo.ID) string { return strconv.Itoa(int(p)) }

func number(s raft.ServerID) algo.ID {
	n, _ := strconv.Atoi(string(s)) // "": none
	return algo.ID(n)
}

// Start starts the server with what is on its disk. A new one knows the members of the cluster.
func (n *node) Start() error {
	c := raft.DefaultConfig()
	c.LocalID, c.Logger = raft.ServerID(name(n.ID)), hclog.NewNullLogger()
	c.HeartbeatTimeout = n.Params.Duration("heartbeat_timeout")
	c.ElectionTimeout = n.Params.Duration("election_timeout")
	c.LeaderLeaseTimeout = n.Params.Duration("leader_lease_timeout")
	c.CommitTimeout = n.Params.Duration("commit_timeout")
	c.PreVoteDisabled = !n.Params.Bool("pre_vote")
	s := n.store()
	if n.Incarnation == 0 {
		var members raft.Configuration
		for _, p := range n.Peers {
			members.Servers = append(members.Servers,
				raft.Server{ID: raft.ServerID(name(p)), Address: raft.ServerAddress(name(p))})
		}
		err := raft.BootstrapCluster(c, s, s, raft.NewDiscardSnapshotStore(), n, members)
		if err != nil && !errors.Is(err, raft.ErrCantBootstrap) { // it has been up before the trial
			return err
		}
	}
	var err error
	n.raft, err = raft.NewRaft(c, machine{}, s, s, raft.NewDiscardSnapshotStore(), n)
	if err != nil {
		return err
	}
	n.raft.RegisterObserver(raft.NewObserver(n.seen, true, func(o *raft.Observation) bool {
		_, is := o.Data.(raft.LeaderObservation)
		return is
	}))
	go n.observe()
	return nil
}

// observe says whom the server considers leader.
func (n *node) observe() {
	for {
		select {
		case o := <-n.seen:
			n.Names(number(o.Data.(raft.LeaderObservation).LeaderID), n.raft.CurrentTerm())
		case <-n.ended:
			return
		}
	}
}

// Write makes an entry of a few bytes.
func (n *node) Write(ctx context.Context) error {
	by, _ := ctx.Deadline()
	return n.raft.Apply([]byte("a write"), time.Until(by)).Error()
}

func (n *node) Stop() {
	if n.raft != nil {
		_ = n.raft.Shutdown().Error()
	}
	close(n.ended)
}

// machine is a state machine that keeps nothing.
type machine struct{}

func (machine) Apply(*raft.Log) any                 { return nil }
func (machine) Snapshot() (raft.FSMSnapshot, error) { return nil, errors.New("nothing is kept") }
func (machine) Restore(io.ReadCloser) error         { return nil }
