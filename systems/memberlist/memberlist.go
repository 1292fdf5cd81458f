// Package memberlist has github.com/hashicorp/memberlist, the failure detector below Serf, Consul and Nomad, detect
// failures as it is: SWIM with suspicion, gossip and adaptive time-outs (Lifeguard). The highest process that a
// process believes alive is its leader, so that what a detector costs an election can be measured.
package memberlist

import (
	"fmt"
	"io"
	"log"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/systems/bubble"
)

const module = "github.com/hashicorp/memberlist"

// least is the shortest time that makes sense for the library.
const least = time.Millisecond

func init() {
	bubble.Register(algo.Spec{
		Name:    "memberlist",
		Summary: "the failure detector of Serf, Consul and Nomad, as it is: the highest live member leads",
		Paper: algo.Paper{Authors: "HashiCorp", Title: "memberlist: gossip based membership and failure detection",
			Venue: module, Year: 2026,
			Deviations: "The library runs unmodified, with the settings of DefaultLANConfig. It elects nobody: each " +
				"process names the highest member that it believes alive. Segments of a stream that are lost are not " +
				"sent again."},
		Messages: []algo.Message{packet, dial, accept, segment},
		Params: []algo.Param{
			bubble.Patience("probe_interval", time.Second, least, "from one probe of a member to the next"),
			bubble.Wait("probe_timeout", 500*time.Millisecond, least, "how long a probed member may take to answer"),
			bubble.Wait("gossip_interval", 200*time.Millisecond, least, "from one gossip to the next"),
			{Name: "suspicion_mult", Type: algo.Int, Min: int64(1), Max: int64(100), Default: algo.Const(int64(4)),
				Doc: "a suspicion lasts for at least so many probe intervals, times log10 of the members"},
		},
		Diskless:  true,
		Perpetual: true,
		Settles:   func(p algo.Params) time.Duration { return 2 * p.Duration("probe_interval") },
		Needs:     algo.Needs{Synchrony: algo.PartiallySynchronous},
		Survives: algo.Faults{Loss: true, Duplication: true, Recovery: true,
			Crashes: func(n int, _ algo.Params) int { return n - 1 }},
		Promises: algo.Promises{Announced: true},
		Service:  algo.Agreed,
		Breaks: "A partition makes a leader in each part. Parts that have given each other up for 30 s, " +
			"the library's GossipToTheDeadTime, do not find each other again. A live member whose messages " +
			"are lost is suspected, and then given up, until its refutation comes through.",
	}, module, newMember)
}

// The kinds of its messages.
var (
	packet  = bubble.Kind("PACKET")
	dial    = bubble.Kind("DIAL")
	accept  = bubble.Kind("ACCEPT")
	segment = bubble.Kind("SEGMENT")
)

// A member is one process.
type member struct {
	*bubble.Process
	list    *memberlist.Memberlist
	packets chan *memberlist.Packet
	streams chan net.Conn
	joined  chan struct{}

	mu    sync.Mutex
	alive map[algo.ID]bool
}

func newMember(p *bubble.Process) bubble.Subject {
	return &member{Process: p, packets: make(chan *memberlist.Packet, 1024), streams: make(chan net.Conn, 64),
		joined: make(chan struct{}), alive: map[algo.ID]bool{}}
}

// address is where a process is, on a network of its own: 10.0.0.0/8.
func address(p algo.ID) *net.UDPAddr {
	return &net.UDPAddr{IP: net.IPv4(10, byte(p>>16), byte(p>>8), byte(p)), Port: 7946}
}

func number(addr string) (algo.ID, error) {
	host, _, err := net.SplitHostPort(addr)
	ip := net.ParseIP(host).To4()
	if err != nil || ip == nil {
		return algo.None, fmt.Errorf("address %q is none of this network", addr)
	}
	return algo.ID(ip[1])<<16 | algo.ID(ip[2])<<8 | algo.ID(ip[3]), nil
}

// Start makes the member and has it join the others.
func (m *member) Start() (err error) {
	c := memberlist.DefaultLANConfig()
	c.Name, c.Transport, c.Events = strconv.Itoa(int(m.ID)), m, m
	c.Logger = log.New(io.Discard, "", 0)
	c.ProbeInterval, c.ProbeTimeout = m.Params.Duration("probe_interval"), m.Params.Duration("probe_timeout")
	c.GossipInterval, c.SuspicionMult = m.Params.Duration("gossip_interval"), int(m.Params.Int("suspicion_mult"))
	if m.list, err = memberlist.Create(c); err != nil {
		close(m.joined)
		return err
	}
	var others []string
	for _, p := range m.Peers {
		if p != m.ID {
			others = append(others, address(p).String())
		}
	}
	go func() {
		defer close(m.joined)
		_, _ = m.list.Join(others) // who is not up yet joins this one
	}()
	return nil
}

func (m *member) Stop() {
	if m.list != nil {
		_ = m.list.Shutdown()
	}
	<-m.joined
}

// NotifyJoin is a member that is believed alive from now on.
func (m *member) NotifyJoin(n *memberlist.Node) { m.believe(n, true) }

// NotifyLeave is one that is not: its suspicion has timed out, or another member says so.
func (m *member) NotifyLeave(n *memberlist.Node) { m.believe(n, false) }

func (m *member) NotifyUpdate(*memberlist.Node) {}

func (m *member) believe(n *memberlist.Node, alive bool) {
	id, err := strconv.Atoi(n.Name)
	if err != nil {
		return
	}
	p := algo.ID(id)
	m.mu.Lock()
	_, known := m.alive[p]
	m.alive[p] = alive
	leader := algo.None
	for q, lives := range m.alive {
		if lives && q > leader {
			leader = q
		}
	}
	m.mu.Unlock()
	if known && p != m.ID {
		m.Suspect(p, !alive)
	}
	m.Names(leader, 0)
}
