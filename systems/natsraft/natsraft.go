// Package natsraft has the raft of NATS servers elect JetStream's meta leader as it is: whole servers in one
// process, without sockets between them.
package natsraft

import (
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/systems/bubble"
)

const module = "github.com/nats-io/nats-server/v2"

func init() {
	bubble.Register(algo.Spec{
		Name:    "nats-meta",
		Summary: "the raft below JetStream, as it is: whole servers elect their meta leader",
		Paper: algo.Paper{Authors: "The NATS authors", Title: "NATS server, JetStream clustering",
			Venue: module, Year: 2026,
			Deviations: "The servers run unmodified. A client of the system account in each carries its " +
				"messages, in place of routes. Messages that are lost are not sent again. A pause does not " +
				"stop writes to files."},
		Messages:  []algo.Message{vote, voteReply, appends, appendReply, other},
		Diskless:  true, // its files are those of the machine
		Perpetual: true,
		Settles:   func(algo.Params) time.Duration { return 2 * time.Second }, // two heartbeats
		Needs:     algo.Needs{Synchrony: algo.PartiallySynchronous},
		Survives: algo.Faults{Loss: true, Duplication: true, Partition: true, Recovery: true,
			Crashes: func(n int, _ algo.Params) int { return (n - 1) / 2 }},
		Promises: algo.Promises{Announced: true, Leadership: algo.PerTerm},
		Service:  algo.Led,
		Predicted: &algo.Prediction{By: "raft", Params: map[string]any{"heartbeat": time.Second,
			"t_election": 4 * time.Second, "t_election_spread": 5 * time.Second},
			Differs: "The algorithm begins with a settled leader; servers with empty logs elect one only together."},
		Breaks: "Without a majority there is no leader. A new cluster elects its first one only " +
			"while all of its servers are up: votes of servers with empty logs count only if all vote.",
	}, module, newNode)
}

const (
	system = server.DEFAULT_SYSTEM_ACCOUNT
	limit  = 1 << 20 // bytes that JetStream may keep
)

// A node is one server.
type node struct {
	*bubble.Process
	server *server.Server
	client *nats.Conn // of the system account
	dir    string
	id     string // what the server is called in its raft group

	mu      sync.Mutex
	ids     map[string]algo.ID
	inboxes map[string]inbox
	sent    uint64
	arrived []arrival
}

func newNode(p *bubble.Process) bubble.Subject {
	return &node{Process: p, ids: map[string]algo.ID{}, inboxes: map[string]inbox{}}
}

// Start starts the server with what is on its disk.
func (n *node) Start() (err error) {
	if err := n.mount(); err != nil {
		return err
	}
	// A raft group starts when the server has a route, a gateway or a leaf node. A server that shares its
	// system account with a hub elects a meta leader of its own when the hub is of another domain.
	some, hub := newHub(), newHub()
	defer close(some.leave)
	defer close(hub.leave)
	sys, none := server.NewAccount(system), server.NewAccount("none")
	options := &server.Options{ServerName: strconv.Itoa(int(n.ID)), JetStreamExtHint: "will_extend",
		DontListen: true, NoSigs: true, NoLog: true,
		Accounts: []*server.Account{sys, none}, SystemAccount: system,
		Users: []*server.User{{Username: system, Password: system, Account: sys}},
		LeafNode: server.LeafNodeOpts{ReconnectInterval: 1000 * time.Hour, Remotes: []*server.RemoteLeafOpts{
			{LocalAccount: none.Name, URLs: []*url.URL{some.url}},
			{LocalAccount: system, URLs: []*url.URL{hub.url}}}}}
	for range n.Peers { // nobody dials them: how many there are is the size of the cluster
		options.Routes = append(options.Routes, &url.URL{Scheme: "nats", Host: "127.0.0.1:1"})
	}
	if n.server, err = server.NewServer(options); err != nil {
		return err
	}
	n.server.Start()
	close(some.greet)
	await(func() bool { return n.server.NumLeafNodes() == 1 })
	config := server.JetStreamConfig{StoreDir: n.dir, MaxMemory: limit, MaxStore: limit}
	if err = n.server.EnableJetStream(&config); err != nil {
		return err
	}
	await(n.recovered)
	close(hub.greet)
	await(func() bool { return !n.group().Observer })
	n.id = n.group().ID
	n.ids[n.id] = n.ID
	n.client, err = nats.Connect("", nats.InProcessServer(n.server), nats.UserInfo(system, system),
		nats.NoEcho(), nats.NoReconnect())
	if err != nil {
		return err
	}
	for _, subject := range []string{"$NRG.>", "$SYS.SERVER.*.STATSZ"} {
		if _, err := n.client.Subscribe(subject, n.leaves); err != nil {
			return err
		}
	}
	go n.observe()
	return nil
}

// await returns when the server has done what is under way. Time stands still: a leaf node is connected.
func await(done func() bool) {
	for !done() {
		runtime.Gosched()
	}
}

// recovered says whether the raft group has started.
func (n *node) recovered() bool {
	w := httptest.NewRecorder()
	n.server.HandleHealthz(w, httptest.NewRequest("GET", "/healthz?js-meta-only=true", nil))
	return !strings.Contains(w.Body.String(), "recovering")
}

// group is the state of the server in the raft group of the meta leader.
func (n *node) group() server.RaftzGroup {
	return (*n.server.Raftz(&server.RaftzOptions{AccountFilter: system}))[system]["_meta_"]
}

// observe looks now and then: a leader that has lost its majority steps down by itself.
func (n *node) observe() {
	for tick := time.NewTicker(50 * time.Millisecond); ; n.look() {
		select {
		case <-n.Done():
			return
		case <-tick.C:
		}
	}
}

// look says whom the server considers leader.
func (n *node) look() {
	n.mu.Lock()
	defer n.mu.Unlock()
	g := n.group()
	leader := n.ids[g.Leader]
	if leader == n.ID && g.State != server.Leader.String() {
		leader = algo.None
	}
	n.Names(leader, g.Term)
}

func (n *node) Stop() {
	n.client.Close() // also of none
	if n.server != nil {
		n.server.Shutdown()
		n.server.WaitForShutdown()
	}
	_ = os.RemoveAll(n.dir) // the system empties its folder of temporary files
}
