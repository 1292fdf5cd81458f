package servers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/systems/service"
)

// A Cluster is the servers of a system on loopback addresses of this machine, which no other Cluster has.
type Cluster struct {
	System  service.System
	Servers []*Server // nil where one is down
	Wrap    Wrap      // of servers that start from now on; nil: none
	members []service.Member
	spawner *proc.Spawner
	claim   net.Listener // says that the addresses are taken
}

// claimPort is listened on at an address of a block of addresses that is taken.
const claimPort = 40977

// claimBlock finds a block of loopback addresses that nobody has, and keeps it until the listener is closed.
func claimBlock() (net.Listener, [4]byte, error) {
	var err error
	for range 100 {
		block := [4]byte{127, byte(1 + rand.IntN(200)), byte(rand.IntN(250)), 250}
		at := netip.AddrPortFrom(netip.AddrFrom4(block), claimPort)
		var l net.Listener
		if l, err = net.Listen("tcp", at.String()); err == nil {
			return l, block, nil
		}
	}
	return nil, [4]byte{}, fmt.Errorf("no free loopback addresses: %w", err)
}

// NewCluster is n servers of a system with folders below folder. None is started. Close it.
func NewCluster(system service.System, n int, folder string, o service.Options) (*Cluster, error) {
	claim, block, err := claimBlock()
	if err != nil {
		return nil, err
	}
	var addrs []netip.Addr
	for i := range n {
		block[3] = byte(i + 1)
		addrs = append(addrs, netip.AddrFrom4(block))
	}
	c := &Cluster{System: system, Servers: make([]*Server, n), spawner: proc.NewSpawner(), claim: claim}
	for i, a := range addrs {
		m := service.Member{Index: i, Addr: a, Peers: addrs, Options: o,
			Folder: filepath.Join(folder, fmt.Sprintf("server%d", i+1))}
		err := os.MkdirAll(m.Folder, 0o700)
		if err == nil {
			err = service.Empty(m.Folder)
		}
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.members = append(c.members, m)
	}
	return c, nil
}

// Client is what clients know of the servers.
func (c *Cluster) Client() service.Cluster {
	return service.Cluster{Servers: c.members[0].Peers, Options: c.members[0].Options}
}

// Member is server i, up or down.
func (c *Cluster) Member(i int) service.Member { return c.members[i] }

// Start starts server i, and does not wait until it serves.
func (c *Cluster) Start(ctx context.Context, i int) (err error) {
	c.Servers[i], err = Start(ctx, c.spawner, c.System, c.members[i], os.Getuid() == 0, c.Wrap)
	return err
}

// Up starts all servers and waits until all serve.
func (c *Cluster) Up(ctx context.Context) error {
	for i := range c.members {
		if err := c.Start(ctx, i); err != nil {
			return err
		}
	}
	for _, s := range c.Servers {
		if err := s.Await(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Kill ends server i at once.
func (c *Cluster) Kill(i int) {
	if s := c.Servers[i]; s != nil {
		s.Kill()
		c.Servers[i] = nil
	}
}

// Leader is the index of the server that most of the others that are up consider leader; -1: there is none.
func (c *Cluster) Leader(ctx context.Context) int {
	votes := make([]int, len(c.members))
	for i, s := range c.Servers {
		if s == nil {
			continue
		}
		l, err := service.Leader(ctx, c.System, c.members[i])
		if err == nil && l.Leader >= 0 {
			votes[l.Leader]++
		}
	}
	best := -1
	for i, n := range votes {
		if n > len(c.members)/2 && c.Servers[i] != nil {
			best = i
		}
	}
	return best
}

// Close ends all servers. Their folders stay.
func (c *Cluster) Close() error {
	for i := range c.Servers {
		c.Kill(i)
	}
	return errors.Join(c.spawner.Close(), c.claim.Close())
}
