package hub

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/conclave-bench/conclave/internal/runs/queue"
	"github.com/conclave-bench/conclave/pkg/bus"
)

// A Member is what a machine has of a hub that it has joined: a secret.
type Member struct {
	Address  string  `json:"address"` // of the hub
	Hub      []byte  `json:"hub"`     // its pin
	Name     string  `json:"name"`    // of the machine
	Role     string  `json:"role"`
	TLS      bus.TLS `json:"tls"`
	Password string  `json:"password"`
}

// String shows no secret.
func (m Member) String() string {
	return fmt.Sprintf("%s %s of the hub at %s", m.Role, m.Name, m.Address)
}

// GoString is what %#v prints.
func (m Member) GoString() string { return m.String() }

// dialTime is how long a hub may take to accept a connection, and to answer.
const dialTime = 10 * time.Second

// reach opens a connection to the hub at an address, which must have the authority of that pin. Pair is the
// proof of a member; nil: there is none yet.
func reach(ctx context.Context, address string, hub pin, pair *tls.Certificate) (*tls.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, unreachable(ctx, address, err)
	}
	var wrong error
	cfg := &tls.Config{MinVersion: tls.VersionTLS13, ServerName: serverName, NextProtos: []string{"http/1.1"},
		InsecureSkipVerify: true, // VerifyConnection does it: by the pin, not by the address
		VerifyConnection: func(c tls.ConnectionState) error {
			wrong = proven(address, hub, c.PeerCertificates)
			return wrong
		}}
	if pair != nil {
		cfg.Certificates = []tls.Certificate{*pair}
	}
	conn := tls.Client(raw, cfg)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		switch {
		case wrong != nil:
			return nil, wrong
		case ctx.Err() != nil:
			return nil, unreachable(ctx, address, err)
		}
		return nil, away{mistaken("%s is not a hub: %v; expected the line that bench hub has printed",
			address, err)} // or it was ended meanwhile
	}
	return conn, nil
}

// An away is a mistake that may pass: the hub is started again.
type away struct{ Mistake }

// unreachable is a sentence for why there is no connection.
func unreachable(ctx context.Context, address string, err error) error {
	var timeout net.Error // the dialer may know it before ctx does
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return away{mistaken("%s does not answer within %v: does its firewall let this machine in, and "+
			"does bench hub run there?", address, dialTime)}
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return away{mistaken("%s cannot be reached: %v; does bench hub run there, and listen to this address?",
		address, err)}
}

// proven says why the other end is not the hub that has the pin.
func proven(address string, hub pin, certs []*x509.Certificate) error {
	if len(certs) < 2 {
		return mistaken("%s is not a hub; expected the line that bench hub has printed", address)
	}
	leaf, authority := certs[0], certs[1]
	if pinOf(authority) != hub {
		return mistaken("the hub at %s is not the one of this token or of these credentials, or its key has "+
			"changed; nothing was sent; take a new token there with bench hub token", address)
	}
	err := vouched(authority, leaf, x509.ExtKeyUsageServerAuth)
	if err == nil {
		err = leaf.VerifyHostname(serverName)
	}
	if err != nil {
		return mistaken("%s does not prove that it is the hub: %v", address, err)
	}
	return nil
}

// ask sends a request over a new connection, and returns the connection and the answer, whose body
// the caller reads from it.
func ask(ctx context.Context, address string, hub pin, pair *tls.Certificate, method, path string,
	body []byte, header http.Header) (*conversation, error) {
	conn, err := reach(ctx, address, hub, pair)
	if err != nil {
		return nil, err
	}
	c := &conversation{Conn: conn, reader: bufio.NewReader(conn)}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	r, err := http.NewRequest(method, "https://"+serverName+path, bytes.NewReader(body))
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if header != nil {
		r.Header = header
	}
	_ = conn.SetDeadline(time.Now().Add(dialTime))
	if err = r.Write(conn); err == nil {
		c.answer, err = http.ReadResponse(c.reader, r)
	}
	_ = conn.SetDeadline(time.Time{})
	if err != nil {
		_ = conn.Close()
		var alert tls.AlertError
		if errors.As(err, &alert) {
			err = mistaken("the hub at %s refuses the credentials of this machine (%v); join with a new "+
				"token (bench hub token)", address, alert)
		}
		return nil, err
	}
	if c.answer.StatusCode < 300 {
		return c, nil
	}
	why, _ := io.ReadAll(io.LimitReader(c.answer.Body, 1<<10)) // what has come of it
	_ = conn.Close()
	text := fmt.Sprintf("the hub at %s: %s", address, queue.Printable(strings.TrimSpace(string(why))))
	if c.answer.StatusCode >= 500 {
		return nil, errors.New(text)
	}
	return nil, Mistake(text)
}

// A conversation is a connection on which a hub has answered.
type conversation struct {
	*tls.Conn
	reader *bufio.Reader // has what has come already
	answer *http.Response
}

func (c *conversation) Read(b []byte) (int, error) { return c.reader.Read(b) }

// Join joins the hub of an invitation as a machine of that name, and says which programs it has, by
// platform.
func Join(ctx context.Context, i Invitation, name string) (m *Member, programs map[string]Program,
	err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	q := joining{Secret: i.token.secret[:], Name: name}
	if q.Key, err = x509.MarshalPKIXPublicKey(&key.PublicKey); err != nil {
		return nil, nil, err
	}
	body, err := json.Marshal(&q)
	if err != nil {
		return nil, nil, err
	}
	c, err := ask(ctx, i.Address, i.token.hub, nil, http.MethodPost, "/join", body, nil)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = c.Close() }()
	var a joined
	if err := json.NewDecoder(io.LimitReader(c.answer.Body, mostJoin)).Decode(&a); err != nil {
		return nil, nil, fmt.Errorf("the hub at %s: its answer cannot be read: %w", i.Address, err)
	}
	m = &Member{Address: i.Address, Hub: i.token.hub[:], Name: name, Role: a.Role, Password: a.Password}
	m.TLS, err = bus.Client(a.Cert, key)
	return m, a.Programs, err
}

// ReadMember reads credentials that Member.Write has written.
func ReadMember(r io.Reader) (*Member, error) {
	m := &Member{}
	if err := json.NewDecoder(r).Decode(m); err != nil {
		return nil, fmt.Errorf("credentials of a hub: %w", err)
	}
	return m, m.check()
}

func (m *Member) check() error {
	if len(m.Hub) != len(pin{}) {
		return errors.New("credentials of a hub: without its key")
	}
	_, err := m.pair()
	return err
}

func (m *Member) pair() (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(m.TLS.Cert, m.TLS.Key)
	return &pair, err
}

// Server is the queue behind the hub.
func (m *Member) Server() queue.Server {
	return queue.Server{URL: "nats://" + m.Address, Hub: []nats.Option{nats.SetCustomDialer(m),
		nats.UserInfo(m.Role, m.Password), nats.SkipHostLookup(), nats.IgnoreDiscoveredServers()}}
}

// Dial implements nats.CustomDialer. An error with an exit code is final.
func (m *Member) Dial(string, string) (net.Conn, error) {
	pair, err := m.pair()
	if err != nil {
		return nil, err
	}
	c, err := ask(context.Background(), m.Address, pin(m.Hub), pair, http.MethodGet, "/nats", nil,
		http.Header{"Connection": {"Upgrade"}, "Upgrade": {"nats"}})
	var passing away
	switch {
	case errors.As(err, &passing):
		return nil, errors.New(passing.Error())
	case err != nil:
		return nil, err // a nil *conversation would be a net.Conn that is not nil
	}
	return c, nil
}

// SkipTLSHandshake tells NATS that the connection is one with TLS already.
func (m *Member) SkipTLSHandshake() bool { return true }

// HostName is the name that a machine has for a hub: the given one, or its own.
func HostName(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return "", mistaken("the name of this machine is unknown: %v; give it one with --machine", err)
	}
	return name, nil
}

// Try says why the hub does not let this member in.
func (m *Member) Try(ctx context.Context) error {
	pair, err := m.pair()
	if err != nil {
		return err
	}
	c, err := ask(ctx, m.Address, pin(m.Hub), pair, http.MethodGet, "/member", nil, nil)
	if err != nil {
		return err
	}
	return c.Close()
}
