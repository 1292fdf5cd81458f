// Package etcd runs etcd: its servers, and clients of its library, with the recipes of its package
// concurrency.
package etcd

import (
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
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

// The ports of each server. ClientPort is where it listens for clients.
const (
	ClientPort = 2379
	peerPort   = 2380
)

// About implements service.System.
func (*System) About() service.About {
	return service.About{Name: "etcd", Title: "etcd", Packages: []string{"etcd-server"},
		Sizes: []int{1, 3, 5, 7}}
}

// Version implements service.System.
func (*System) Version(ctx context.Context) (string, error) {
	return service.Version(ctx, "etcd Version: ", "etcd", "etcd-server")
}

// defaults are those of etcd, and the session of its library.
var defaults = service.Options{Heartbeat: 100 * time.Millisecond, ElectionTimeout: time.Second,
	Session: 60 * time.Second}

// Facts implements service.System.
func (*System) Facts(o service.Options) service.Facts {
	o = o.Or(defaults)
	return service.Facts{Fsync: !o.NoSync, Session: o.Session, Heartbeat: o.Heartbeat, Fencing: true,
		ElectionTimeout: o.ElectionTimeout, Client: service.Library("go.etcd.io/etcd/client/v3"),
		Predicted: "raft", Set: "etcd-3-4"}
}

// Prepare implements service.System: etcd makes its folder itself.
func (*System) Prepare(context.Context, service.Member) error { return nil }

const token = "conclave"

func peerURL(a netip.Addr) string { return "http://" + service.At(a, peerPort) }

func clientURL(a netip.Addr) string { return "http://" + service.At(a, ClientPort) }

// Commands implements service.System.
func (*System) Commands(m service.Member) []service.Command {
	var all []string
	for i, p := range m.Peers {
		all = append(all, fmt.Sprintf("s%d=%s", i+1, peerURL(p)))
	}
	o := m.Options.Or(defaults)
	args := []string{"--name", m.Name(), "--data-dir", filepath.Join(m.Folder, "data"),
		"--listen-peer-urls", peerURL(m.Addr), "--initial-advertise-peer-urls", peerURL(m.Addr),
		"--listen-client-urls", clientURL(m.Addr), "--advertise-client-urls", clientURL(m.Addr),
		"--initial-cluster", strings.Join(all, ","), "--initial-cluster-token", token,
		"--initial-cluster-state", "new", "--logger", "zap", "--log-outputs", "stderr",
		"--heartbeat-interval", fmt.Sprint(o.Heartbeat.Milliseconds()),
		"--election-timeout", fmt.Sprint(o.ElectionTimeout.Milliseconds())}
	if o.NoSync {
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
	if err != nil {
		return nil, err
	}
	if s.conns == nil {
		s.conns = map[netip.Addr]*clientv3.Client{}
	}
	s.conns[a] = c
	return c, nil
}

// Leader implements service.Electing.
func (s *System) Leader(ctx context.Context, m service.Member) (service.Leadership, error) {
	c, err := s.connection(m.Addr)
	if err != nil {
		return service.Nobody, err
	}
	status, err := c.Status(ctx, clientURL(m.Addr))
	if err != nil {
		return service.Nobody, err
	}
	for i, p := range m.Peers {
		if memberID(p) == status.Leader {
			return s.within(m.Addr, service.Leadership{Leader: i, Term: status.RaftTerm}), nil
		}
	}
	return service.Nobody, nil
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

// Local is the value of a key, and the revision with which it was created, as one server knows them, without
// asking the others; "": it is not there.
func (s *System) Local(ctx context.Context, a netip.Addr, key string) (value string, created int64,
	err error) {
	c, err := s.connection(a)
	if err != nil {
		return "", 0, err
	}
	r, err := c.Get(ctx, key, clientv3.WithSerializable())
	if err != nil || len(r.Kvs) == 0 {
		return "", 0, err
	}
	return string(r.Kvs[0].Value), r.Kvs[0].CreateRevision, nil
}

// Lead implements service.Leading.
func (s *System) Lead(ctx context.Context, m service.Member) error {
	ctx, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	now, err := s.Leader(ctx, m)
	if err != nil || now.Leader < 0 {
		return err
	}
	c, err := s.connection(m.Peers[now.Leader])
	if err != nil {
		return err
	}
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
func (*System) Dial(ctx context.Context, cluster service.Cluster, _ string) (service.Client, error) {
	conn, err := clientv3.New(clientv3.Config{Endpoints: cluster.At(ClientPort), Logger: zap.NewNop(),
		DialKeepAliveTime: time.Second, DialKeepAliveTimeout: time.Second})
	if err != nil {
		return nil, err
	}
	session := cluster.Options.Or(defaults).Session
	c := &client{conn: conn, ttl: int64((session + time.Second - 1) / time.Second)}
	if err := c.open(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// A client has a session, to which its lock belongs.
type client struct {
	conn    *clientv3.Client
	ttl     int64 // of the session, in seconds: etcd knows no others
	session *concurrency.Session
	lock    *concurrency.Mutex
	leads   *concurrency.Election
}

// perTry is how long one attempt to open a session takes.
const perTry = 2 * time.Second

func (c *client) open(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, perTry)
	defer stop()
	lease, err := c.conn.Grant(ctx, c.ttl)
	if err != nil {
		return err
	}
	s, err := concurrency.NewSession(c.conn, concurrency.WithLease(lease.ID))
	if err != nil {
		return err
	}
	c.session, c.lock = s, concurrency.NewMutex(s, string(service.Lock))
	c.leads = concurrency.NewElection(s, string(service.Election))
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
	if key == service.Election {
		err := c.leads.Campaign(ctx, value)
		return service.Grant{Token: c.leads.Rev(), Lost: c.session.Done()}, err
	}
	if err := c.lock.Lock(ctx); err != nil {
		return service.Grant{}, err
	}
	return service.Grant{Token: c.lock.Header().Revision, Lost: c.session.Done()}, nil
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
	c.session.Orphan()
	return c.conn.Close()
}
