// Package etcd runs etcd: its servers, and clients of its library, with the recipes of its package
// concurrency.
package etcd

import (
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"

	"github.com/conclave-bench/conclave/systems/service"
)

// A System is etcd.
type System struct {
	mu    sync.Mutex
	conns map[netip.Addr]*clientv3.Client   // to servers, to ask for their leader
	known map[netip.Addr]service.Leadership // the last whose term was known to a server
}

// The ports of each server.
const (
	clientPort = 2379
	peerPort   = 2380
)

// Name implements service.System.
func (*System) Name() string { return "etcd" }

// Title implements service.System.
func (*System) Title() string { return "etcd" }

// Packages implements service.System.
func (*System) Packages() []string { return []string{"etcd-server"} }

// Sizes implements service.System.
func (*System) Sizes() []int { return []int{1, 3, 5, 7} }

// Version implements service.System.
func (*System) Version(ctx context.Context) (string, error) {
	path, err := service.Find("etcd", "etcd-server")
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("etcd --version: %w", err)
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimPrefix(first, "etcd Version: "), nil
}

// session is that of a lock by default: the library's.
const session = 60 * time.Second

// Facts implements service.System.
func (*System) Facts(o service.Options) service.Facts {
	f := service.Facts{Fsync: !o.NoSync, Session: o.Session, Fencing: true,
		Client:    service.Library("go.etcd.io/etcd/client/v3"),
		Heartbeat: o.Heartbeat, ElectionTimeout: o.ElectionTimeout,
		Predicted: "raft", Set: "etcd-3-4"}
	f.Session = cmp.Or(f.Session, session)
	f.Heartbeat = cmp.Or(f.Heartbeat, 100*time.Millisecond)
	f.ElectionTimeout = cmp.Or(f.ElectionTimeout, time.Second)
	return f
}

// Prepare implements service.System: etcd makes its folder itself.
func (*System) Prepare(context.Context, service.Member) error { return nil }

const token = "conclave"

func peerURL(a netip.Addr) string { return "http://" + netip.AddrPortFrom(a, peerPort).String() }

func clientURL(a netip.Addr) string { return "http://" + netip.AddrPortFrom(a, clientPort).String() }

// Commands implements service.System.
func (*System) Commands(m service.Member) []service.Command {
	var all []string
	for i, p := range m.Peers {
		all = append(all, fmt.Sprintf("s%d=%s", i+1, peerURL(p)))
	}
	args := []string{"--name", fmt.Sprintf("s%d", m.Index+1), "--data-dir", filepath.Join(m.Folder, "data"),
		"--listen-peer-urls", peerURL(m.Addr), "--initial-advertise-peer-urls", peerURL(m.Addr),
		"--listen-client-urls", clientURL(m.Addr), "--advertise-client-urls", clientURL(m.Addr),
		"--initial-cluster", strings.Join(all, ","), "--initial-cluster-token", token,
		"--initial-cluster-state", "new", "--logger", "zap", "--log-outputs", "stderr"}
	if m.Options.Heartbeat > 0 {
		args = append(args, "--heartbeat-interval", fmt.Sprint(m.Options.Heartbeat.Milliseconds()))
	}
	if m.Options.ElectionTimeout > 0 {
		args = append(args, "--election-timeout", fmt.Sprint(m.Options.ElectionTimeout.Milliseconds()))
	}
	if m.Options.NoSync {
		args = append(args, "--unsafe-no-fsync")
	}
	return []service.Command{{Name: "etcd", Path: "etcd", Args: args}}
}

// Ready implements service.System: a read that a majority has to agree to.
func (s *System) Ready(ctx context.Context, m service.Member) error {
	c, err := s.connection(m.Addr)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	_, err = c.Get(ctx, "ready")
	return err
}

// connection is one to a server, kept for the next question.
func (s *System) connection(a netip.Addr) (*clientv3.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.conns[a]; c != nil {
		return c, nil
	}
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{clientURL(a)}, Logger: zap.NewNop()})
	if err == nil && s.conns == nil {
		s.conns = map[netip.Addr]*clientv3.Client{}
	}
	if err == nil {
		s.conns[a] = c
	}
	return c, err
}

// Leader implements service.System.
func (s *System) Leader(ctx context.Context, m service.Member) (service.Leadership, error) {
	none := service.Leadership{Leader: -1}
	c, err := s.connection(m.Addr)
	if err != nil {
		return none, err
	}
	ctx, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	status, err := c.Status(ctx, clientURL(m.Addr))
	if err != nil {
		return none, err
	}
	for i, p := range m.Peers {
		if memberID(p) == status.Leader {
			return s.within(m.Addr, service.Leadership{Leader: i, Term: status.RaftTerm}), nil
		}
	}
	return none, nil
}

// within is a leadership with its term, if that is known. The term in a server's answer is that of the last
// entry that it has applied (server.go, setTerm), so at first a new leader comes with the term of the one
// before.
func (s *System) within(a netip.Addr, now service.Leadership) service.Leadership {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, met := s.known[a]
	switch {
	case !met || now.Term != last.Term:
		if s.known == nil {
			s.known = map[netip.Addr]service.Leadership{}
		}
		s.known[a] = now
	case now.Leader != last.Leader:
		now.Term = 0
	}
	return now
}

// ClientAddress is where the server at a listens for clients.
func ClientAddress(a netip.Addr) string { return netip.AddrPortFrom(a, clientPort).String() }

// Local is the value of a key, and the revision with which it was created, as one server knows them, without
// asking the others; "": it is not there.
func (s *System) Local(ctx context.Context, a netip.Addr, key string) (value string, created int64,
	err error) {
	c, err := s.connection(a)
	if err != nil {
		return "", 0, err
	}
	ctx, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	r, err := c.Get(ctx, key, clientv3.WithSerializable())
	if err != nil || len(r.Kvs) == 0 {
		return "", 0, err
	}
	return string(r.Kvs[0].Value), r.Kvs[0].CreateRevision, nil
}

// Lead implements service.Leading.
func (s *System) Lead(ctx context.Context, m service.Member) error {
	now, err := s.Leader(ctx, m)
	if err != nil || now.Leader < 0 {
		return err
	}
	c, err := s.connection(m.Peers[now.Leader])
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	_, err = c.MoveLeader(ctx, memberID(m.Addr))
	return err
}

// memberID is the number that etcd gives a member of a new cluster: the beginning of a digest of its address
// and the cluster's token (server/etcdserver/api/membership/member.go, computeMemberId).
func memberID(a netip.Addr) uint64 {
	digest := sha1.Sum([]byte(peerURL(a) + token))
	return binary.BigEndian.Uint64(digest[:8])
}

// Dial implements service.System.
func (*System) Dial(ctx context.Context, c service.Cluster, name string) (service.Client, error) {
	var urls []string
	for _, a := range c.Servers {
		urls = append(urls, clientURL(a))
	}
	conn, err := clientv3.New(clientv3.Config{Endpoints: urls, Logger: zap.NewNop(),
		DialKeepAliveTime: time.Second, DialKeepAliveTimeout: time.Second})
	if err != nil {
		return nil, err
	}
	out := &client{conn: conn, name: name, ttl: int((c.Options.Session + time.Second - 1) / time.Second)}
	if out.ttl == 0 {
		out.ttl = int(session / time.Second)
	}
	for err = out.open(ctx); err != nil; err = out.open(ctx) {
		if ctx.Err() != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return out, nil
}

// A client has a session, to which its lock belongs.
type client struct {
	conn    *clientv3.Client
	name    string
	ttl     int // of the session, in seconds: etcd knows no others
	mu      sync.Mutex
	session *concurrency.Session
	lock    *concurrency.Mutex
	leads   *concurrency.Election
}

// perTry is how long one attempt to open a session takes.
const perTry = 2 * time.Second

func (c *client) open(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, perTry)
	defer stop()
	lease, err := c.conn.Grant(ctx, int64(c.ttl))
	if err != nil {
		return err
	}
	s, err := concurrency.NewSession(c.conn, concurrency.WithLease(lease.ID))
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session = s
	c.lock, c.leads = concurrency.NewMutex(s, string(service.Lock)), concurrency.NewElection(s,
		string(service.Election))
	return nil
}

// live makes a session anew if the last one is over.
func (c *client) live(ctx context.Context) error {
	select {
	case <-c.session.Done():
		return c.open(ctx)
	default:
		return nil
	}
}

// Acquire implements service.Client.
func (c *client) Acquire(ctx context.Context, key service.Key, value string) (service.Grant, error) {
	if err := c.live(ctx); err != nil {
		return service.Grant{}, err
	}
	token := int64(0)
	if key == service.Election {
		if err := c.leads.Campaign(ctx, value); err != nil {
			return service.Grant{}, err
		}
		token = c.leads.Rev()
	} else {
		if err := c.lock.Lock(ctx); err != nil {
			return service.Grant{}, err
		}
		token = c.lock.Header().Revision
	}
	return service.Grant{Token: token, Lost: c.session.Done()}, nil
}

// Release implements service.Client.
func (c *client) Release(ctx context.Context, key service.Key) error {
	if key == service.Election {
		return c.leads.Resign(ctx)
	}
	return c.lock.Unlock(ctx)
}

// Observe implements service.Client: the keys of a lock are those of an election without values.
func (c *client) Observe(ctx context.Context, key service.Key, seen func(service.Observed)) error {
	for r := range concurrency.NewElection(c.session, string(key)).Observe(ctx) {
		o := service.Observed{}
		if len(r.Kvs) > 0 {
			o = service.Observed{Value: string(r.Kvs[0].Value), Token: r.Kvs[0].CreateRevision}
		}
		seen(o)
	}
	return ctx.Err()
}

// Write implements service.Client: a transaction that only the holder of the lock can make.
func (c *client) Write(ctx context.Context, _ int64, value string) error {
	r, err := c.conn.Txn(ctx).If(c.lock.IsOwner()).Then(clientv3.OpPut("value", value)).Commit()
	switch {
	case err != nil:
		return err
	case !r.Succeeded:
		return service.ErrFenced
	}
	return nil
}

// Close implements service.Client. The session ends by itself where no server answers.
func (c *client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != nil {
		c.session.Orphan()
	}
	return c.conn.Close()
}
