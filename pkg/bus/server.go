package bus

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/conclave-bench/conclave/internal/base/transport"
)

// Limits of the server. A node that is slower than these is cut off, which its
// trial records; it never slows the others.
const (
	defaultMaxPending = 8 << 20
	maxControlLine    = 1024
	maxSubscriptions  = 1024
	writeDeadline     = 2 * time.Second
	authTimeout       = 5 * time.Second
	startTimeout      = 10 * time.Second
)

// A User is a process that may connect: it may publish d.*.ID.* and subscribe to
// d.*.*.ID, so that it can neither speak for another nor overhear one.
type User struct {
	ID     uint32 `json:"id"`
	Public string `json:"public"` // of its Identity
}

// A ServerConfig says what a server is to be. Its zero values are good, but for the users. It
// is without secrets where the server listens to its own machine alone; else it goes to its
// server through a pipe, never through arguments or the environment.
type ServerConfig struct {
	Host       string `json:"host,omitempty"`        // to listen on; empty: 127.0.0.1
	Port       int    `json:"port,omitempty"`        // 0: any that is free
	MaxNodes   int    `json:"max_nodes,omitempty"`   // for the limit of connections
	MaxPayload int32  `json:"max_payload,omitempty"` // bytes of a message; 0: 64 KiB
	MaxPending int64  `json:"max_pending,omitempty"` // bytes on the way to a client; 0: 8 MiB
	Users      []User `json:"users"`
	Observer   string `json:"observer,omitempty"` // public key of the party that may do everything

	// With a client that is silent, in ns; 0: 3 s. A node may be paused for less.
	Patience time.Duration `json:"patience,omitempty"`

	TLS     *TLS     `json:"tls,omitempty"`     // of clients and routes; wanted where Host is not loopback
	Cluster *Cluster `json:"cluster,omitempty"` // nil: the server is alone
}

// A Cluster is several servers, which carry messages from each one's clients to all others'.
// A server that knows its secret, and has a certificate of its authority, is a member.
type Cluster struct {
	Secret string   `json:"secret"`
	Routes []string `json:"routes,omitempty"` // of the members that are there already: see Server.Route
}

// String shows no secret.
func (c Cluster) String() string { return fmt.Sprintf("cluster of %d", len(c.Routes)+1) }

// GoString is what %#v prints.
func (c Cluster) GoString() string { return c.String() }

// Server is a NATS server in this process.
type Server struct {
	nats *server.Server
	log  *serverLog
	once sync.Once
}

// ServerStats is what a server has seen since it started.
type ServerStats struct {
	Connections      int    `json:"connections"`       // open now
	TotalConnections uint64 `json:"total_connections"` // ever opened
	SlowConsumers    int64  `json:"slow_consumers"`    // clients cut off, because they did not read
	StalledClients   int64  `json:"stalled_clients"`   // times that a sender had to wait for a reader
	StaleClients     int64  `json:"stale_clients"`     // cut off, because they were silent
	InMsgs           int64  `json:"in_msgs"`
	OutMsgs          int64  `json:"out_msgs"`
	InBytes          int64  `json:"in_bytes"`
	OutBytes         int64  `json:"out_bytes"`
	Routes           int    `json:"routes,omitempty"`       // to other members of the cluster, open now
	StaleRoutes      int64  `json:"stale_routes,omitempty"` // cut off, because they were silent
	Errors           uint64 `json:"errors"`                 // that it logged: refused clients and such
	LastError        string `json:"last_error,omitempty"`
}

// StartServer starts a server and returns when it accepts connections.
func StartServer(cfg ServerConfig) (*Server, error) {
	options, err := serverOptions(cfg)
	if err != nil {
		return nil, fmt.Errorf("start bus: %w", err)
	}
	return Embed(options, fmt.Sprintf("%s:%d", options.Host, cfg.Port))
}

// Embed starts a server with the options of NATS itself, and returns when it accepts connections. At
// is where that is, for errors.
func Embed(options *server.Options, at string) (*Server, error) {
	ns, err := server.NewServer(options)
	if err != nil {
		return nil, fmt.Errorf("start bus: %s: %w", at, err)
	}
	s := &Server{nats: ns, log: &serverLog{}}
	ns.SetLoggerV2(s.log, false, false, false)
	ns.Start() // returns; a fatal error, such as a port that is taken, is only logged
	if fatal := s.log.fatalError(); fatal != "" {
		s.Close()
		return nil, fmt.Errorf("start bus: %s: %s: choose another host or port, or port 0 for "+
			"a free one", at, fatal)
	}
	if !ns.ReadyForConnections(startTimeout) {
		s.Close()
		return nil, fmt.Errorf("start bus: %s: not ready after %v: %s",
			at, startTimeout, s.log.fatalError())
	}
	return s, nil
}

func serverOptions(cfg ServerConfig) (*server.Options, error) {
	if len(cfg.Users) == 0 && cfg.Observer == "" {
		return nil, errors.New("no users: a server without users would admit every client")
	}
	users, err := natsUsers(cfg)
	if err != nil {
		return nil, err
	}
	o := &server.Options{
		Host:           orElse(cfg.Host, "127.0.0.1"),
		Port:           orElse(cfg.Port, server.RANDOM_PORT),
		NoSigs:         true, // else SIGINT exits this process, with code 0
		Nkeys:          users,
		MaxConn:        4*max(cfg.MaxNodes, len(users)) + 16,
		MaxSubs:        maxSubscriptions,
		MaxPayload:     orElse(cfg.MaxPayload, transport.MaxFrame),
		MaxPending:     orElse(cfg.MaxPending, defaultMaxPending),
		MaxControlLine: maxControlLine,
		WriteDeadline:  max(writeDeadline, cfg.Patience),
		AuthTimeout:    authTimeout.Seconds(),
		PingInterval:   orElse(cfg.Patience, defaultPatience) / 3,
		MaxPingsOut:    2,
		// Else every short trial would have a ping of its own at two seconds.
		DisableShortFirstPing: true,
		// Else one reader that is slow delays the senders to all others.
		NoFastProducerStall: true,
		NoSystemAccount:     true,
	}
	if int64(o.MaxPayload) > o.MaxPending {
		return nil, fmt.Errorf("max_payload %d: more than max_pending %d", o.MaxPayload, o.MaxPending)
	}
	return o, secure(o, cfg)
}

// secure sets what a server needs that more than its own machine reaches.
func secure(o *server.Options, cfg ServerConfig) (err error) {
	if ip := net.ParseIP(o.Host); cfg.TLS == nil && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("listen on %s without TLS: only the loopback address may do that", o.Host)
	}
	if cfg.TLS != nil {
		o.TLS, o.TLSTimeout = true, authTimeout.Seconds()
		if o.TLSConfig, err = cfg.TLS.Server(false); err != nil {
			return err
		}
	}
	c := cfg.Cluster
	if c == nil {
		return nil
	}
	if cfg.TLS == nil || c.Secret == "" {
		return errors.New("a cluster needs TLS and a secret")
	}
	o.Cluster = server.ClusterOpts{Name: clusterName, Host: o.Host, Port: server.RANDOM_PORT,
		Username: clusterName, Password: c.Secret, AuthTimeout: o.AuthTimeout, TLSTimeout: o.TLSTimeout,
		NoAdvertise: true, PoolSize: -1, Compression: server.CompressionOpts{Mode: server.CompressionOff},
		ConnectRetries: routeTries}
	if o.Cluster.TLSConfig, err = cfg.TLS.Server(true); err != nil {
		return err
	}
	for _, at := range c.Routes {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats-route", Host: at,
			User: url.UserPassword(clusterName, c.Secret)})
	}
	return nil
}

const (
	clusterName = "conclave"
	routeTries  = 5
)

func orElse[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

func natsUsers(cfg ServerConfig) ([]*server.NkeyUser, error) {
	var users []*server.NkeyUser
	for _, u := range cfg.Users {
		if !nkeys.IsValidPublicUserKey(u.Public) {
			return nil, fmt.Errorf("user p%d: %.80q is not the public key of a user", u.ID, u.Public)
		}
		id := strconv.FormatUint(uint64(u.ID), 10)
		users = append(users, &server.NkeyUser{Nkey: u.Public, Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: []string{"d.*." + id + ".*"}},
			Subscribe: &server.SubjectPermission{Allow: []string{"d.*.*." + id}},
		}})
	}
	if cfg.Observer != "" {
		if !nkeys.IsValidPublicUserKey(cfg.Observer) {
			return nil, fmt.Errorf("observer: %.80q is not the public key of a user", cfg.Observer)
		}
		users = append(users, &server.NkeyUser{Nkey: cfg.Observer})
	}
	return users, nil
}

// URL is where clients connect to.
func (s *Server) URL() string { return s.nats.ClientURL() }

// Connect opens a connection within this process, of which the server sees no address.
func (s *Server) Connect() (net.Conn, error) { return s.nats.InProcessConn() }

// Route is where other members of the cluster connect to, as host:port; empty if the server
// is alone.
func (s *Server) Route() string {
	if a := s.nats.ClusterAddr(); a != nil {
		return a.String()
	}
	return ""
}

// Deaf lists the processes of a trial of so many to which the server would not pass on a
// message: they have not joined it, here or at another member of the cluster, or that has
// not come round yet.
func (s *Server) Deaf(trial string, nodes int) (deaf []uint32) {
	account := s.nats.GlobalAccount()
	for id := uint32(1); int(id) <= nodes; id++ {
		if account.Interest(subject(trial, 0, id)) == 0 {
			deaf = append(deaf, id)
		}
	}
	return deaf
}

// Stats is what the server has seen until now.
func (s *Server) Stats() (ServerStats, error) {
	v, err := s.nats.Varz(nil)
	if err != nil {
		return ServerStats{}, fmt.Errorf("read state of bus: %w", err)
	}
	errs, last := s.log.errors()
	return ServerStats{
		Connections: v.Connections, TotalConnections: v.TotalConnections,
		SlowConsumers: v.SlowConsumers, StalledClients: v.StalledClients,
		StaleClients: int64(v.StaleConnectionStats.Clients),
		StaleRoutes:  int64(v.StaleConnectionStats.Routes),
		InMsgs:       v.InMsgs, OutMsgs: v.OutMsgs, InBytes: v.InBytes, OutBytes: v.OutBytes,
		Routes: v.Routes, Errors: errs, LastError: last,
	}, nil
}

// Close ends the server and all connections, and waits for that.
func (s *Server) Close() {
	s.once.Do(func() {
		s.nats.Shutdown()
		s.nats.WaitForShutdown()
	})
}
