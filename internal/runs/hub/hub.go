// Package hub is one port over which many machines take part in runs. A hub is a certificate authority, a
// NATS server with JetStream that listens nowhere, and a TLS listener before both. A machine joins
// with a token, which is of use once: the hub signs the key that the machine has made, and from then
// on that key is its proof.
//
// Everything is HTTP/1.1 over TLS 1.3:
//
//	POST /join              a token for a certificate
//	GET  /program/OS-ARCH   the program for a platform; for those that have a certificate
//	GET  /nats              upgrades to a connection with the NATS server; likewise
//	GET  /member            nothing; likewise
//
// What the queue (package queue) is, it is over a hub, too: only the way to its server differs.
package hub

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/conclave-bench/conclave/pkg/bus"
)

// Config says how a hub is to be.
type Config struct {
	Folder   Folder
	Listen   string // HOST:PORT
	Address  string // by which machines reach it, without a port; "": that of Listen
	Exe      string // the program of this platform, which it hands out
	Programs string // a folder with the archives of a release for other platforms; "": there is none
}

const (
	// serverName is in the certificate of each hub: it is known by its key, not by its address.
	serverName = "hub.conclave"
	// strangerTime bounds how long a peer may take for a handshake or for the head of a request.
	strangerTime = 10 * time.Second
	// mostJoin bounds a request to join, in bytes.
	mostJoin = 16 << 10
	// pingEvery and mostPings say for how long a machine may be silent: 15 s.
	pingEvery, mostPings = 5 * time.Second, 2
	// renewBefore is how long before its end the certificate of a hub is replaced.
	renewBefore = 30 * 24 * time.Hour
)

// A Hub is a hub that runs.
type Hub struct {
	folder   Folder
	id       *identity
	lock     *flock.Flock
	nats     *bus.Server
	http     *http.Server
	programs map[string]*offered // by platform
	failed   chan error
	revoked  []token // with the end of this hub

	mu      sync.Mutex
	own     *tls.Certificate
	members map[string]*member // workers that are connected, by name
}

// A member is a worker that is connected.
type member struct {
	key         []byte // of its certificate
	connections int
}

// Start starts a hub. It returns when machines can join.
func Start(cfg Config) (h *Hub, err error) {
	h = &Hub{folder: cfg.Folder, failed: make(chan error, 1), members: map[string]*member{}}
	if h.lock, err = cfg.Folder.hold(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			h.Close()
		}
	}()
	if h.id, err = cfg.Folder.open(); err != nil {
		return nil, err
	}
	if h.programs, err = offer(cfg); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return nil, mistaken("%v: choose another address or port with --listen", err)
	}
	h.id.Listens = reachable(l.Addr())
	if h.id.Invites, err = invites(cfg, l.Addr()); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if h.nats, err = bus.Embed(h.natsOptions(), string(cfg.Folder)); err == nil {
		err = cfg.Folder.write(identityFile, h.id)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	h.serve(l)
	return h, nil
}

func (h *Hub) natsOptions() *server.Options {
	users := []*server.User{{Username: Runner, Password: h.id.Passwords[Runner]},
		{Username: Worker, Password: h.id.Passwords[Worker], Permissions: workerMay()}}
	return &server.Options{ServerName: serverName, DontListen: true, NoSigs: true, JetStream: true,
		StoreDir: h.folder.in(natsFolder), Users: users, PingInterval: pingEvery, MaxPingsOut: mostPings}
}

// workerMay is what keeps a worker from acting as a runner: it neither makes nor removes blocks and
// runs, and answers for no runner.
func workerMay() *server.Permissions {
	return &server.Permissions{
		Publish: &server.SubjectPermission{Deny: []string{"conclave.trials.>", "$KV.conclave-runs.>",
			"$JS.API.STREAM.DELETE.>", "$JS.API.STREAM.PURGE.>", "$JS.API.STREAM.MSG.DELETE.>",
			"$JS.API.STREAM.UPDATE.>", "$JS.API.CONSUMER.DELETE.>"}},
		Subscribe: &server.SubjectPermission{Deny: []string{"conclave.runner.>"}},
	}
}

// invites is the address in invitations.
func invites(cfg Config, listener net.Addr) (string, error) {
	_, port, err := net.SplitHostPort(listener.String())
	if err != nil {
		return "", err
	}
	host := cfg.Address
	if host == "" {
		host, _, _ = net.SplitHostPort(cfg.Listen)
		if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
			host = outward()
		}
	}
	address := net.JoinHostPort(host, port)
	return address, checkAddress(address)
}

// outward is the address of this machine on the way to others: of the interface that a packet
// to the internet would leave by. None is sent.
func outward() string {
	conn, err := net.Dial("udp", "192.0.2.1:9") // of the block for documentation
	if err != nil {
		return "127.0.0.1"
	}
	defer func() { _ = conn.Close() }()
	host, _, _ := net.SplitHostPort(conn.LocalAddr().String())
	return host
}

// Folder is where the hub keeps everything.
func (h *Hub) Folder() Folder { return h.folder }

// Address is where machines join.
func (h *Hub) Address() string { return h.id.Invites }

// Platforms are those for which there is a program.
func (h *Hub) Platforms() []string { return platformsOf(h.programs) }

// Failed has why the hub has ended by itself.
func (h *Hub) Failed() <-chan error { return h.failed }

// Invite makes a token that is of no use any more when this hub has ended.
func (h *Hub) Invite(r TokenRequest) (Invitation, error) {
	i, err := h.folder.Invite(r)
	if err == nil {
		h.revoked = append(h.revoked, i.token)
	}
	return i, err
}

// Close ends the hub and all its connections. What it keeps is in its folder. Of nil, it does nothing.
func (h *Hub) Close() {
	if h == nil {
		return
	}
	for _, t := range h.revoked {
		_ = h.folder.revoke(t) // else it expires
	}
	if h.http != nil {
		_ = h.http.Close()
	}
	if h.nats != nil {
		h.nats.Close()
	}
	for _, p := range h.programs {
		p.close()
	}
	_ = h.lock.Close() // it has written everything
}

func (h *Hub) serve(l net.Listener) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /join", h.join)
	mux.HandleFunc("GET /program/{platform}", h.known(h.program))
	mux.HandleFunc("GET /nats", h.known(h.connect))
	mux.HandleFunc("GET /member", h.known(func(http.ResponseWriter, *http.Request, *x509.Certificate) {}))
	h.http = &http.Server{Handler: mux, ReadHeaderTimeout: strangerTime, ReadTimeout: 2 * strangerTime,
		IdleTimeout: strangerTime, ErrorLog: log.New(io.Discard, "", 0), TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}, ClientAuth: tls.RequestClientCert,
			GetCertificate: h.certificate,
			VerifyConnection: func(c tls.ConnectionState) error {
				if len(c.PeerCertificates) == 0 {
					return nil // a stranger, who may join
				}
				return vouched(h.id.authority.Certificate(), c.PeerCertificates[0],
					x509.ExtKeyUsageClientAuth)
			}}}
	go func() {
		if err := h.http.ServeTLS(l, "", ""); !errors.Is(err, http.ErrServerClosed) {
			h.failed <- err
		}
	}()
}

// certificate is that of the hub, followed by that of its authority, by which it is known.
func (h *Hub) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.own != nil && time.Until(h.own.Leaf.NotAfter) > renewBefore {
		return h.own, nil
	}
	issued, err := h.id.authority.Issue(serverName)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(issued.Cert, issued.Key)
	if err != nil {
		return nil, err
	}
	pair.Certificate = append(pair.Certificate, h.id.authority.Certificate().Raw)
	h.own = &pair
	return h.own, nil
}

// vouched checks that the authority has signed a certificate for that use. It does not look at
// dates: the clock of a peer may be years off, and whoever has the key of the hub has its authority
// as well. The hub looks at those of its members (see known).
func vouched(authority, leaf *x509.Certificate, use x509.ExtKeyUsage) error {
	if err := leaf.CheckSignatureFrom(authority); err != nil {
		return err
	}
	if !slices.Contains(leaf.ExtKeyUsage, use) {
		return errors.New("the certificate is for another use")
	}
	return nil
}

// refuse answers with one sentence.
func refuse(w http.ResponseWriter, code int, err error) { http.Error(w, err.Error(), code) }

// known lets in whoever has a certificate of the hub.
func (h *Hub) known(do func(http.ResponseWriter, *http.Request, *x509.Certificate)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) == 0 {
			refuse(w, http.StatusForbidden, errors.New("this hub wants a certificate; join it with a token"))
			return
		}
		leaf := r.TLS.PeerCertificates[0]
		if now := time.Now(); now.After(leaf.NotAfter) {
			refuse(w, http.StatusForbidden, fmt.Errorf("the credentials of %s have expired, on %s; join "+
				"with a new token (bench hub token)", leaf.Subject.CommonName,
				leaf.NotAfter.Format(time.DateOnly)))
			return
		}
		do(w, r, leaf)
	}
}

// A joining is the request of a machine.
type joining struct {
	Secret []byte `json:"secret"`
	Name   string `json:"name"` // of the machine
	Key    []byte `json:"key"`  // PKIX, DER
}

// A joined is the answer.
type joined struct {
	Role     string             `json:"role"`
	Cert     []byte             `json:"cert"` // PEM
	Password string             `json:"password"`
	Programs map[string]Program `json:"programs"` // by platform
}

// mostName bounds the name of a machine, in bytes.
const mostName = 255

func (h *Hub) join(w http.ResponseWriter, r *http.Request) {
	var q joining
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostJoin)).Decode(&q); err != nil {
		refuse(w, http.StatusBadRequest, fmt.Errorf("the request cannot be read: %w", err))
		return
	}
	t := token{hub: pinOf(h.id.authority.Certificate())}
	key, err := x509.ParsePKIXPublicKey(q.Key)
	if _, ok := key.(*ecdsa.PublicKey); !ok || err != nil || len(q.Secret) != len(t.secret) || q.Name == "" ||
		len(q.Name) > mostName {
		refuse(w, http.StatusBadRequest, errors.New("the request cannot be read"))
		return
	}
	copy(t.secret[:], q.Secret)
	a, err := h.answer(t, q.Name, key)
	if err != nil {
		refuse(w, http.StatusForbidden, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a) // the machine may be gone
}

func (h *Hub) answer(t token, name string, key crypto.PublicKey) (*joined, error) {
	if err := h.free(name, nil); err != nil { // before a place is taken
		return nil, err
	}
	role, err := h.folder.admit(t)
	if err != nil {
		return nil, err
	}
	a := &joined{Role: role, Password: h.id.Passwords[role], Programs: map[string]Program{}}
	for platform, p := range h.programs {
		a.Programs[platform] = p.Program
	}
	a.Cert, err = h.id.authority.Admit(name, role, key)
	return a, err
}

// free says why no worker may be called so: another one is.
func (h *Hub) free(name string, key []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if m := h.members[name]; m != nil && string(m.key) != string(key) {
		return mistaken("a machine called %s has joined already; give this one another name with --machine, "+
			"or, if it is that one and was killed, wait for %v", name, (mostPings+1)*pingEvery)
	}
	return nil
}

// enter notes a connection of a member, and leaves it with the function that it returns.
func (h *Hub) enter(name string, key []byte) (leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.members[name]
	if m == nil {
		m = &member{key: key}
		h.members[name] = m
	}
	m.connections++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if m.connections--; m.connections == 0 {
			delete(h.members, name)
		}
	}
}

// connect carries the bytes of a member to the NATS server and back.
func (h *Hub) connect(w http.ResponseWriter, r *http.Request, leaf *x509.Certificate) {
	if slices.Contains(leaf.Subject.OrganizationalUnit, Worker) {
		name := leaf.Subject.CommonName
		if err := h.free(name, leaf.RawSubjectPublicKeyInfo); err != nil {
			refuse(w, http.StatusConflict, err)
			return
		}
		defer h.enter(name, leaf.RawSubjectPublicKeyInfo)()
	}
	within, err := h.nats.Connect()
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, err)
		return
	}
	defer func() { _ = within.Close() }()
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		refuse(w, http.StatusInternalServerError, err)
		return
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Time{}) // that of the request
	_, err = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\n"+
		"Connection: Upgrade\r\nUpgrade: nats\r\n\r\n")
	if err != nil {
		return // the machine is gone
	}
	over := make(chan struct{}, 2)
	for to, from := range map[net.Conn]io.Reader{within: buffered, conn: within} {
		go func() {
			_, _ = io.Copy(to, from) // the end of either is that of both
			over <- struct{}{}
		}()
	}
	<-over
}
