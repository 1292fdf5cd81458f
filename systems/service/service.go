// Package service has what the systems that people run, such as etcd and Redis, have in common: how their
// servers are started, and how clients take a lock or learn who leads. Each system is an adapter in a folder
// of its own; docs/how-to/adding-a-system.md shows how one is written.
package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// A System is one that people run: its servers, and its clients. Functions of this package ask it, such as
// Ready and Dial, which also see to what all systems have in common.
type System interface {
	// About is what never changes.
	About() About
	// Version is that of the installed program. If it is not installed, the error names the package.
	Version(ctx context.Context) (string, error)
	// Facts is what a reader of a figure has to know.
	Facts(o Options) Facts

	// Prepare makes what a server needs before its first start, in its folder. Where that is there already,
	// as after a crash, it does nothing.
	Prepare(ctx context.Context, m Member) error
	// Commands are the programs of a server, in the order in which they are started.
	Commands(m Member) []Command
	// Ready is nil if the server answers clients. It is asked again and again.
	Ready(ctx context.Context, m Member) error

	// Dial connects a client, in one attempt. After an error nothing of it is left.
	Dial(ctx context.Context, c Cluster, client string) (Client, error)
}

// About is what never changes of a system.
type About struct {
	Name  string // its word in experiments, as "etcd"
	Title string // for people
	// Packages are the distribution's packages that provide its programs. Without any, the server is a
	// library that this program links.
	Packages []string
	Sizes    []int // the numbers of servers that make sense, ascending
}

// An Electing system has servers that elect a leader.
type Electing interface {
	System
	// Leader is the server that leads, as this one knows. A single server is never asked.
	Leader(ctx context.Context, m Member) (Leadership, error)
}

// A Leading system can have a server of choice lead.
type Leading interface {
	Electing
	// Lead asks the present leader to hand over to a server. That it does is seen by Leader.
	Lead(ctx context.Context, m Member) error
}

// A Member is one server of a system.
type Member struct {
	Index   int          // from 0 on
	Addr    netip.Addr   // its own address, at which no other server listens
	Peers   []netip.Addr // of all servers, its own included, by Index
	Folder  string       // its own; outlives a crash
	Options Options
}

// Name is the word by which the servers of the system know this one.
func (m Member) Name() string { return serverName(m.Index) }

func serverName(i int) string { return fmt.Sprintf("s%d", i+1) }

// Led is the leadership of the server that is called leader; Nobody: there is none of that name.
func (m Member) Led(leader string, term uint64) Leadership {
	for i := range m.Peers {
		if serverName(i) == leader {
			return Leadership{Leader: i, Term: term}
		}
	}
	return Nobody
}

// At is where the server listens on a port.
func (m Member) At(port uint16) string { return At(m.Addr, port) }

// At is a port of an address, as programs write it.
func At(a netip.Addr, port uint16) string { return netip.AddrPortFrom(a, port).String() }

// A Cluster is the servers of a system, as clients know them.
type Cluster struct {
	Servers []netip.Addr
	Options Options
}

// At is where the servers listen on a port.
func (c Cluster) At(port uint16) []string {
	var out []string
	for _, a := range c.Servers {
		out = append(out, At(a, port))
	}
	return out
}

// Options is what can be set of a system. A zero value is the system's own default.
type Options struct {
	Heartbeat       time.Duration // between two of the leader
	ElectionTimeout time.Duration // without one, until a follower stands
	Session         time.Duration // of a client or a lease: without a sign of life, until it is over
	// NoSync has writes not forced to the disk, or, where that is the system's own default, only now and
	// then. Without it, what is answered is on the disk, if the system has a setting for that.
	NoSync   bool
	Replicas int // of what a lock is kept in, where that can be less than all servers
}

// Or is o with the defaults of a system for the times that are not set.
func (o Options) Or(defaults Options) Options {
	o.Heartbeat = cmp.Or(o.Heartbeat, defaults.Heartbeat)
	o.ElectionTimeout = cmp.Or(o.ElectionTimeout, defaults.ElectionTimeout)
	o.Session = cmp.Or(o.Session, defaults.Session)
	return o
}

// Facts is what a reader of a figure has to know of a system.
type Facts struct {
	Fsync   bool          // an answer means that the write is on the disk
	Session time.Duration // after it the lock of a client that is gone is free; 0: as soon as its connection
	// Heartbeat is between two of the leader, and ElectionTimeout how long a follower waits without one; 0:
	// the system has no such setting.
	Heartbeat, ElectionTimeout time.Duration
	// Poll is how often a waiting client asks again; 0: the system notifies it.
	Poll    time.Duration
	Client  string // the library of clients, with its version
	Fencing bool   // a grant has a token that grows, with which a late write can be refused
	// Predicted is the algorithm of Conclave, and its set, that predicts an election of the system; "": none.
	Predicted, Set string
}

// A Command is a program to run.
type Command struct {
	Name string   // in messages
	Path string   // of the executable, or its name, which PATH is searched for
	Args []string // without the program's own name
	Env  []string // added to that of this process
	Dir  string   // where it runs; "": the folder of the member
}

// A Leadership is who leads.
type Leadership struct {
	Leader int    // the index of the server; -1: nobody
	Term   uint64 // of its leadership; 0: the system has none
}

// Nobody leads.
var Nobody = Leadership{Leader: -1}

// A Key names what one client at a time holds.
type Key string

// The keys that every system has. To lead is to hold Election: most systems have no other election among
// clients.
const (
	Lock     Key = "lock"
	Election Key = "election"
)

// A Client is one connection to a system. Its methods are called one at a time. Of one that Dial returned,
// Close may be called at any time: it ends the others. So an adapter needs no more than that its methods end
// soon after their context.
type Client interface {
	// Acquire waits until this client holds key, and lets observers see value.
	Acquire(ctx context.Context, key Key, value string) (Grant, error)
	// Release gives key back. It follows each Acquire that succeeded, also if the key was lost since, which
	// is an error.
	Release(ctx context.Context, key Key) error
	// Observe calls seen with each holder of key, one after the other, until ctx ends.
	Observe(ctx context.Context, key Key, seen func(Observed)) error
	// Write writes a value that belongs to the holder of Lock with such a token. It is ErrFenced if a later
	// one has been granted, and ErrUnfenced of a system that cannot tell.
	Write(ctx context.Context, token int64, value string) error
	// Close ends the connection, and whatever the client holds. No other method is called any more.
	Close() error
}

// A Grant is a key that is held, as long as that lasts.
type Grant struct {
	Token int64           // grows from grant to grant; 0: the system has none
	Lost  <-chan struct{} // closed when the client learns that it does not hold it any more
}

// An Observed is the holder of a key as others see it.
type Observed struct {
	Value string // "": nobody holds it
	Token int64
}

// ErrFenced refuses a write of a client that has lost the lock.
var ErrFenced = errors.New("another client has had the lock since")

// ErrUnfenced is of a system that cannot refuse such a write.
var ErrUnfenced = errors.New("this system has no fencing token")
