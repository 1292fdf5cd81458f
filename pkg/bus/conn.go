package bus

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/base/transport"
)

const (
	defaultDialTimeout = 5 * time.Second

	// The other end of a connection is given up when it has been silent for so
	// long. It is asked three times in between.
	defaultPatience = 3 * time.Second

	inbox       = 1 << 16 // messages that wait for the process
	forwarded   = 1 << 10 // messages that have come to it
	writeBuffer = 64 << 10
	keptFaults  = 16
	closeGrace  = time.Second
)

// A DialConfig says which server to connect to, and under which identity: by the Seed of
// an Identity, or, at a server elsewhere, by a credentials file, a user or a token. It
// holds secrets: as JSON it goes to a node through its pipe, never through arguments or
// the environment, and printed it shows none.
type DialConfig struct {
	URL  string `json:"url"`
	Name string `json:"-"` // for the server's own lists

	Seed            []byte `json:"seed,omitempty"`
	CredentialsFile string `json:"credentials,omitempty"`
	Credentials     []byte `json:"credentials_data,omitempty"` // what such a file holds
	User            string `json:"user,omitempty"`
	Password        string `json:"password,omitempty"`
	Token           string `json:"token,omitempty"`

	TLS      *TLS   `json:"tls,omitempty"`  // made for this run; or of files:
	CAFile   string `json:"ca,omitempty"`   // whom to believe
	CertFile string `json:"cert,omitempty"` // how to prove who we are
	KeyFile  string `json:"key,omitempty"`
	TLSFirst bool   `json:"tls_first,omitempty"` // before the server says anything

	Timeout  time.Duration `json:"-"`                  // for connecting; 0: 5 s
	Patience time.Duration `json:"patience,omitempty"` // with a silent server; 0: 3 s
	Room     int           `json:"-"`                  // messages that can wait for the process; 0: 65 536
	Stamp    bool          `json:"stamp,omitempty"`    // note when each message came to the socket
}

// String says where to and as what, and no secret.
func (c DialConfig) String() string {
	where := "?"
	if u, err := url.Parse(c.URL); err == nil {
		where = u.Redacted()
	}
	return fmt.Sprintf("%s as %q", where, c.Name)
}

// GoString is what %#v prints.
func (c DialConfig) GoString() string { return c.String() }

// WithoutFiles is c with what its files hold in place of their names, so that a machine that
// has none of them can use it.
func (c DialConfig) WithoutFiles() (DialConfig, error) {
	t := &TLS{}
	for _, f := range []struct {
		path string
		to   *[]byte
	}{{c.CredentialsFile, &c.Credentials}, {c.CAFile, &t.CA}, {c.CertFile, &t.Cert}, {c.KeyFile, &t.Key}} {
		if f.path == "" {
			continue
		}
		data, err := files.Read(f.path, maxSecret)
		if err != nil {
			return c, err
		}
		*f.to = data
	}
	if c.CAFile != "" || c.CertFile != "" {
		c.TLS = t
	}
	c.CredentialsFile, c.CAFile, c.CertFile, c.KeyFile = "", "", "", ""
	return c, nil
}

// maxSecret bounds a file of credentials or certificates, in bytes.
const maxSecret = 1 << 20

// A Conn is a process's connection to the bus. It never reconnects: a message may
// have been lost meanwhile, so that the trial is invalid anyhow. Everything that
// can invalidate a trial is one of its Faults. Send may be used by one goroutine
// at a time, the rest by any.
type Conn struct {
	nc       *nats.Conn
	room     int
	trial    string
	self     uint32
	subjects []string // by destination, once it was sent to; 0 is nobody
	closed   chan struct{}
	arrivals *arrivals // nil: nobody notes them

	mu      sync.Mutex
	closing bool
	subs    []*nats.Subscription
	faults  []string
	more    int // faults beyond those kept
	dropped int // when it was last possible to ask
}

// Dial connects.
func Dial(cfg DialConfig) (*Conn, error) {
	c := &Conn{closed: make(chan struct{}), room: cmp.Or(cfg.Room, inbox)}
	if cfg.Stamp {
		c.arrivals = &arrivals{}
	}
	options, err := c.options(cfg)
	if err != nil {
		return nil, fmt.Errorf("connect to bus: %v: %w", cfg, err)
	}
	c.nc, err = nats.Connect(cfg.URL, options...)
	switch {
	case errors.Is(err, nats.ErrNoServers):
		return nil, fmt.Errorf("connect to bus: %v: %w: is it running?", cfg, err)
	case errors.Is(err, nats.ErrAuthorization):
		return nil, fmt.Errorf("connect to bus: %v: %w: credentials are good for one run only",
			cfg, err)
	case errors.Is(err, syscall.ENETUNREACH):
		return nil, fmt.Errorf("connect to bus: %v: %w: is the loopback interface up (ip link set lo up)?",
			cfg, err)
	case err != nil:
		return nil, fmt.Errorf("connect to bus: %v: %w", cfg, err)
	}
	if c.arrivals != nil {
		c.arrivals.nc.Store(c.nc)
	}
	return c, nil
}

func (c *Conn) options(cfg DialConfig) ([]nats.Option, error) {
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultDialTimeout
	}
	if cfg.Patience <= 0 {
		cfg.Patience = defaultPatience
	}
	options := []nats.Option{
		nats.Name(cfg.Name),
		nats.Timeout(cfg.Timeout),
		nats.NoReconnect(),
		nats.ReconnectBufSize(-1), // else what is sent to a dead server is an error to nobody
		nats.PingInterval(cfg.Patience / 3),
		nats.MaxPingsOutstanding(2),
		nats.WriteBufferSize(writeBuffer),
		quickSockets(c.arrivals),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { c.fault(err) }),
		nats.DisconnectErrHandler(func(nc *nats.Conn, err error) {
			if err == nil { // the server ended it, and may have said why
				err = nc.LastError()
			}
			if err == nil {
				err = errors.New("by the server, which did not say why")
			}
			c.fault(fmt.Errorf("disconnected: %w", err))
		}),
		nats.ReconnectHandler(func(*nats.Conn) { c.fault(errors.New("reconnected")) }),
		nats.ClosedHandler(func(*nats.Conn) { close(c.closed) }),
	}
	login, err := cfg.Login()
	return append(options, login...), err
}

// Login is how c proves to a server who we are, and whom it believes.
func (c DialConfig) Login() (options []nats.Option, err error) {
	if len(c.Seed) > 0 {
		pair, err := nkeys.FromSeed(c.Seed)
		if err != nil {
			return nil, fmt.Errorf("seed: %w", err)
		}
		public, err := pair.PublicKey()
		if err != nil {
			return nil, fmt.Errorf("seed: %w", err)
		}
		options = append(options, nats.Nkey(public, pair.Sign))
	}
	if c.CredentialsFile != "" {
		options = append(options, nats.UserCredentials(c.CredentialsFile))
	}
	if len(c.Credentials) > 0 {
		options = append(options, nats.UserCredentialBytes(c.Credentials))
	}
	if c.User != "" {
		options = append(options, nats.UserInfo(c.User, c.Password))
	}
	if c.Token != "" {
		options = append(options, nats.Token(c.Token))
	}
	if c.TLS != nil {
		secured, err := c.TLS.Client()
		if err != nil {
			return nil, err
		}
		options = append(options, nats.Secure(secured))
	}
	if c.CAFile != "" {
		options = append(options, nats.RootCAs(c.CAFile))
	}
	if c.CertFile != "" {
		options = append(options, nats.ClientCert(c.CertFile, c.KeyFile))
	}
	if c.TLSFirst {
		options = append(options, nats.TLSHandshakeFirst())
	}
	return options, nil
}

// Subscribe hears what is sent to process self in a trial. Of messages that the
// channel has no room for, the Conn counts how many there were: see Dropped. Only
// a Flush makes sure that the server knows of it.
func (c *Conn) Subscribe(trial string, self uint32) (<-chan *nats.Msg, error) {
	return c.subscribe(trial, self, c.room)
}

func (c *Conn) subscribe(trial string, self uint32, room int) (<-chan *nats.Msg, error) {
	if err := checkTrial(trial); err != nil {
		return nil, fmt.Errorf("subscribe: %w", err)
	}
	in := make(chan *nats.Msg, room)
	sub, err := c.nc.ChanSubscribe(subjectOfAll(trial, self), in)
	if err != nil {
		return nil, fmt.Errorf("subscribe: %w", err)
	}
	c.mu.Lock()
	c.subs = append(c.subs, sub)
	c.mu.Unlock()
	return in, nil
}

// Join takes part in a trial: see transport.Conn.
func (c *Conn) Join(trial string, self uint32, n int) (<-chan transport.Message, error) {
	in, err := c.Subscribe(trial, self)
	if err != nil {
		return nil, err
	}
	c.Address(trial, self, n)
	out := make(chan transport.Message, forwarded)
	go c.forward(trial, self, in, out)
	return out, c.Flush(defaultDialTimeout)
}

// forward hands on what was heard, until the connection ends. What the process does not
// take waits in in, which the Conn counts. It answers an Asker itself.
func (c *Conn) forward(trial string, self uint32, in <-chan *nats.Msg, out chan<- transport.Message) {
	for {
		select {
		case msg := <-in:
			// What has come with it needs no look at anything else.
			for more := len(in); c.handOn(trial, self, msg, out) && more > 0; more-- {
				msg = <-in
			}
		case <-c.closed:
			return
		}
	}
}

// handOn hands one message on, and says whether the connection goes on.
func (c *Conn) handOn(trial string, self uint32, msg *nats.Msg, out chan<- transport.Message) bool {
	from, ok := Sender(msg.Subject)
	came := c.arrivals.next()
	if ok && from == 0 {
		_ = c.nc.Publish(subject(trial, self, 0), msg.Data) // that it did not arrive is the answer
		return true
	}
	m := transport.Message{From: from, Where: msg.Subject, Data: msg.Data, Came: came}
	select {
	case out <- m:
		return true
	default: // costs a fifth of what a choice does
	}
	select {
	case out <- m:
		return true
	case <-c.closed:
		return false
	}
}

// Address says in which trial, and as which process, Send sends to the
// processes 1 to n. The name of the trial must be one that Subscribe takes.
func (c *Conn) Address(trial string, self uint32, n int) {
	if err := checkTrial(trial); err != nil {
		panic("bus: Address: " + err.Error())
	}
	c.trial, c.self, c.subjects = trial, self, make([]string, n+1)
}

// Send hands payload, of at most transport.MaxFrame bytes, to the network, which has copied it
// when Send returns. A refusal is reported later, as a fault.
func (c *Conn) Send(to uint32, payload []byte) error {
	if to == 0 || int64(to) >= int64(len(c.subjects)) {
		return fmt.Errorf("send to p%d: no such process: addressed are 1 to %d",
			to, len(c.subjects)-1)
	}
	if c.subjects[to] == "" {
		c.subjects[to] = subject(c.trial, c.self, to)
	}
	if err := c.nc.Publish(c.subjects[to], payload); err != nil {
		return fmt.Errorf("send to p%d: %d bytes: %w", to, len(payload), err)
	}
	return nil
}

// Flush waits until the server has processed all that was sent, and says whether
// anything went wrong so far.
func (c *Conn) Flush(timeout time.Duration) error {
	if err := c.nc.FlushTimeout(timeout); err != nil {
		return fmt.Errorf("flush bus: %w", err)
	}
	if err := c.nc.LastError(); err != nil {
		return fmt.Errorf("flush bus: %w", err)
	}
	return nil
}

func (c *Conn) fault(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closing:
	case len(c.faults) == keptFaults:
		c.more++
	default:
		c.faults = append(c.faults, err.Error())
	}
}

// Faults is what went wrong since Dial, any of which invalidates a trial: a lost
// connection, a message dropped, a permission that the process does not have. Of
// many, it is the first ones.
func (c *Conn) Faults() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	faults := append([]string(nil), c.faults...)
	if c.more > 0 {
		faults = append(faults, fmt.Sprintf("and %d more", c.more))
	}
	return faults
}

// Dropped is how many messages were thrown away because the process did not take
// them. After the end of the connection it is what could be known last.
func (c *Conn) Dropped() (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.countDropped()
}

func (c *Conn) countDropped() (int, error) {
	total := 0
	for _, sub := range c.subs {
		n, err := sub.Dropped()
		if err != nil {
			return c.dropped, fmt.Errorf("count dropped messages: %w", err)
		}
		total += n
	}
	c.dropped = total
	return total, nil
}

// Close ends the connection; closing twice does nothing. What was sent and not
// flushed may be lost. No fault is noted from here on.
func (c *Conn) Close() {
	c.mu.Lock()
	_, _ = c.countDropped() // if the connection is gone, the last count stands
	c.closing = true
	c.mu.Unlock()
	c.nc.Close()
	timer := time.NewTimer(closeGrace)
	defer timer.Stop()
	select {
	case <-c.closed:
	case <-timer.C: // a handler hangs; nothing depends on it
	}
}
