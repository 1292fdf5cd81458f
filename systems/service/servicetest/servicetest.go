// Package servicetest tests adapters: that an adapter of package service does what System and Client ask.
package servicetest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/systems/service"
	"github.com/conclave-bench/conclave/systems/service/servers"
)

var entries = flag.Int("entries", usual(), "how often contending clients enter, in tests of systems")

// usual is few entries, but at night.
func usual() int {
	if slowtest.Night() {
		return 1000
	}
	return 40
}

// A Case is a system to be tested.
type Case struct {
	System  service.System
	Size    int             // servers
	Options service.Options // short ones, so that the test does not wait
	Port    int             // on which a server listens for clients
	// Start is how long the servers may take to start, and Failover how long the lock may not be served once
	// the leader is killed, or the single server has begun to start again.
	Start, Failover time.Duration
}

// retryEvery is between two attempts at what fails while servers are away.
const retryEvery = 50 * time.Millisecond

// slack is what a busy machine adds to a time that a system promises.
const slack = 15 * time.Second

// tested are the systems of this program, by name.
var tested = map[string]service.System{}

// Main is for TestMain, with the systems that are tested: this program is also a client that is killed, and
// what adapters run of it.
func Main(m *testing.M, systems ...service.System) {
	for _, s := range systems {
		tested[s.About().Name] = s
	}
	service.Main()
	os.Exit(m.Run())
}

// Need skips t if the system is not installed. Where CI could have installed it, t fails instead.
func Need(t testing.TB, s service.System) {
	t.Helper()
	if _, err := s.Version(t.Context()); err != nil {
		Lacks(t, err)
	}
}

// Lacks skips t for an error that names what is not installed. Where CI could have installed that, and for
// any other error, t fails.
func Lacks(t testing.TB, err error) {
	t.Helper()
	missing := (*service.MissingError)(nil)
	switch _, apt := os.Stat("/usr/bin/apt-get"); {
	case !errors.As(err, &missing):
		t.Fatal(err)
	case os.Getenv("CI") == "true" && os.Getuid() == 0 && apt == nil:
		t.Fatalf("%v: scripts/services-packages.sh installs it", err)
	default:
		t.Skip(err)
	}
}

// A trial is a cluster under test.
type trial struct {
	Case
	cluster *servers.Cluster
	clients atomic.Int64
}

// Test runs the whole test of an adapter.
func Test(t *testing.T, c Case) {
	t.Run("missing", func(t *testing.T) { missing(t, c.System) })
	Need(t, c.System)
	facts(t, c)
	t.Run("port", func(t *testing.T) { portInUse(t, c) })
	cluster, err := servers.NewCluster(c.System, c.Size, t.TempDir(), c.Options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	}()
	r := &trial{Case: c, cluster: cluster}
	begun := time.Now()
	up, stop := context.WithTimeout(t.Context(), c.Start)
	defer stop()
	if err := cluster.Up(up); err != nil {
		t.Fatal(err)
	}
	t.Logf("all of %d servers serve after %v", c.Size, time.Since(begun).Round(time.Millisecond))
	for _, s := range []struct {
		name string
		test func(*testing.T)
	}{
		{"exclusion", r.exclusion}, {"hand-over", r.handOver}, {"cancelled", r.cancelled},
		{"closed", r.closed}, {"gone", r.gone},
		{"election", r.election}, {"fencing", r.fencing}, {"leader", r.leader},
		{"restart", r.restart},
	} {
		if !t.Run(s.name, s.test) {
			for _, s := range cluster.Servers {
				if s != nil {
					t.Log(s.Log())
				}
			}
			break
		}
	}
}

// missing: a program that is not there is named with its package.
func missing(t *testing.T, s service.System) {
	if len(s.About().Packages) == 0 {
		t.Skip("it needs no program")
	}
	defer service.Hide()()
	_, err := s.Version(t.Context())
	lacks := (*service.MissingError)(nil)
	if !errors.As(err, &lacks) || !strings.Contains(strings.Join(s.About().Packages, " "), lacks.Package) {
		t.Errorf("%v; expected an error that names one of %v", err, s.About().Packages)
	}
}

// facts: what is said of the system is there.
func facts(t *testing.T, c Case) {
	version, err := c.System.Version(t.Context())
	if f := c.System.Facts(c.Options); f.Client == "" || version == "" || err != nil {
		t.Errorf("version %q (%v), client %q: something lacks", version, err, f.Client)
	} else {
		t.Logf("%s %s: %+v", c.System.About().Name, version, f)
	}
	sizes := c.System.About().Sizes
	for i, n := range sizes {
		if n < 1 || i > 0 && n <= sizes[i-1] {
			t.Errorf("sizes %v", sizes)
		}
	}
}

// portInUse: if another program has the port, that is said, and soon.
func portInUse(t *testing.T, c Case) {
	cluster, err := servers.NewCluster(c.System, 1, t.TempDir(), c.Options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cluster.Close() }()
	at := netip.AddrPortFrom(cluster.Member(0).Addr, uint16(c.Port))
	l, err := net.Listen("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	ctx, stop := context.WithTimeout(t.Context(), c.Start)
	defer stop()
	if err = cluster.Up(ctx); err == nil {
		t.Fatal("the server is ready at a port that another program has")
	}
	if s := strings.ToLower(err.Error()); !strings.Contains(s, "in use") && !strings.Contains(s, "bind") {
		t.Errorf("%v; expected that the address is in use", err)
	}
}

// dial connects one more client.
func (r *trial) dial(t *testing.T) service.Client {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), r.Failover)
	defer stop()
	c, err := service.Dial(ctx, r.System, r.cluster.Client(), fmt.Sprintf("c%d", r.clients.Add(1)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// acquire takes the lock within a time.
func acquire(t *testing.T, c service.Client, within time.Duration) service.Grant {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), within)
	defer stop()
	var g service.Grant
	err := service.Retry(ctx, retryEvery, func() (err error) {
		g, err = c.Acquire(ctx, service.Lock, "")
		return err
	})
	if err != nil {
		t.Fatalf("the lock was not got within %v: %v", within, err)
	}
	return g
}

// release gives the lock back.
func release(t *testing.T, c service.Client) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), slack)
	defer stop()
	if err := c.Release(ctx, service.Lock); err != nil {
		t.Fatalf("release: %v", err)
	}
}

// exclusion: of contending clients no two are inside at once, and tokens grow.
func (r *trial) exclusion(t *testing.T) {
	const contenders = 3
	var inside, tokens atomic.Int64
	var left atomic.Int64
	left.Store(int64(*entries))
	var over sync.WaitGroup
	begun := time.Now()
	fencing := r.System.Facts(r.Options).Fencing
	for range contenders {
		c := r.dial(t)
		over.Go(func() {
			for left.Add(-1) >= 0 && !t.Failed() {
				ctx, stop := context.WithTimeout(t.Context(), r.Failover)
				g, err := c.Acquire(ctx, service.Lock, "")
				if err != nil {
					t.Errorf("acquire: %v", err)
					stop()
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d clients are inside at once", n)
				}
				if last := tokens.Swap(g.Token); fencing && g.Token <= last || !fencing && g.Token != 0 {
					t.Errorf("token %d after %d (fencing: %v)", g.Token, last, fencing)
				}
				select { // the others ask meanwhile
				case <-g.Lost:
					t.Error("the lock was lost")
				case <-time.After(2 * time.Millisecond):
				}
				inside.Add(-1)
				if err := c.Release(ctx, service.Lock); err != nil {
					t.Errorf("release: %v", err)
				}
				stop()
			}
		})
	}
	over.Wait()
	took := time.Since(begun)
	t.Logf("%d entries of %d clients took %v", *entries, contenders, took.Round(time.Millisecond))
}
