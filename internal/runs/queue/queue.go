// Package queue has the trials of a run done by workers on other machines. JetStream, of a
// NATS server or a cluster of the user's, keeps and carries what is to be done and what came
// of it; NATS micro finds the workers. There is no broker of our own.
//
// What it keeps, by run:
//
//	bucket conclave-runs     RUN                the experiment, and which program runs it
//	stream CONCLAVE_TRIALS   conclave.trials.RUN.BLOCK    a block, until a worker has acknowledged it
//	stream CONCLAVE_RESULTS  conclave.results.RUN.FIRST   rows of trials, until the runner's disk has them
//	bucket conclave-files    RUN.FIRST.*   what is too large for a message: traces, many rows
//	stream CONCLAVE_ASIDE    conclave.aside.*.RUN.*   messages that were not usable, for inspection
//
// BLOCK is the number of a block (work.Block), and FIRST the position in execution of the first trial.
//
// A worker publishes what came of a block before it acknowledges the block, and the runner
// acknowledges that once it is on disk. So nothing is lost when one of them dies; what is done twice
// for that reason counts once, since the runner knows which trials it has. Both sign what they
// publish with a key of the run; what is not signed is set aside, and its block is run again.
package queue

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
)

const (
	trialsStream  = "CONCLAVE_TRIALS"
	resultsStream = "CONCLAVE_RESULTS"
	trialsPrefix  = "conclave.trials"
	resultsPrefix = "conclave.results"
	runsBucket    = "conclave-runs"
	filesBucket   = "conclave-files"
	namesPrefix   = "$KV." + runsBucket + "."

	// ackWait is how long a worker may be silent before its blocks are given to another. It
	// says that it is at work each third of that.
	ackWait = 6 * time.Second
	// mostTries is how often a block is begun: one that kills its worker would kill them all.
	// Where workers come and go a block may well lose a few; where they fail, with a reason,
	// mostErrors is enough.
	mostTries, mostErrors = 20, 5
	// maxAge is how long what nobody fetches is kept.
	maxAge = 30 * 24 * time.Hour
	// askTimeout is for one request. A server that dies may leave one unanswered; the next
	// one goes to another server.
	askTimeout = 2 * time.Second
	// leastRate is the slowest transfer that a request waits for, in bytes per second.
	leastRate = 32 << 10
	// inMessage is how many bytes go into a message; NATS allows 1 MiB by default.
	inMessage = 512 << 10
	replicas  = 3
	// form is that of blocks and results: 2 since blocks consist of trials, not of repetitions.
	form = 2
)

// A Server says where NATS is, and who we are to it.
type Server struct {
	URL         string // one, or several with commas between
	Credentials string // file; "": none
	CA          string // file; "": the system's
	Cert, Key   string // files that prove who we are; "": none
	Context     string // of the nats CLI: name or file; "": none. See ReadContext

	login *bus.DialConfig // of Context, once it is read
	// Hub is how to reach the NATS server behind a hub (package hub), whose address URL then is; nil:
	// URL is the address of a NATS server.
	Hub []nats.Option
}

// ReadContext takes over what the context says: its login, and its servers if there is no URL. What the
// other fields say prevails.
func (s *Server) ReadContext() error {
	if s.Context == "" {
		return nil
	}
	login, err := bus.ReadContext(s.Context)
	if err != nil {
		return err
	}
	s.login, s.URL = &login, cmp.Or(s.URL, login.URL)
	return nil
}

// Invitation is how a worker is started, for people. Offering is for one that offers its machine.
func (s Server) Invitation(offering bool) string {
	line := "bench work --join " + s.URL
	if s.Hub != nil {
		line = "bench join INVITATION"
	}
	if offering {
		line += " --address ADDRESS"
	}
	if s.Hub != nil {
		line += " (bench hub token prints an invitation)"
	}
	return line
}

// Check says why a server must not be used: what leaves the machine is encrypted.
func (s Server) Check() error {
	if s.Hub != nil { // its connections are
		return nil
	}
	if (s.Cert == "") != (s.Key == "") {
		return errors.New("--nats-cert and --nats-key belong together; give both")
	}
	for one := range strings.SplitSeq(s.URL, ",") {
		u, err := url.Parse(one)
		if err != nil || u.Hostname() == "" || u.Scheme != "nats" && u.Scheme != "tls" {
			return fmt.Errorf("%q is not an address of NATS; expected one as tls://lab1:4222", one)
		}
		if u.User != nil {
			return fmt.Errorf("the address of %s has a name or password, which would be stored with the "+
				"results; leave them out, and log in with --nats-context or --nats-creds", u.Host)
		}
		ip := net.ParseIP(u.Hostname())
		local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
		if u.Scheme != "tls" && !local {
			return fmt.Errorf("%s is on another machine, and nats:// is not encrypted; expected "+
				"tls://%s", one,
				u.Host)
		}
	}
	return nil
}

// A link is a connection to NATS. It never gives up to reconnect.
type link struct {
	nc      *nats.Conn
	server  Server
	note    func(string) // tells the user something
	lost    atomic.Value // an error: why the connection cannot come back
	down    atomic.Int64 // since when there is no connection, in ns since 1970; 0: there is one
	js      jetstream.JetStream
	trials  jetstream.Stream
	results jetstream.Stream
	runs    jetstream.KeyValue
	names   jetstream.Stream // in which that bucket lies
	set     jetstream.Stream // of messages that were set aside
	files   jetstream.ObjectStore
}

// connect opens a connection, and makes what is not there yet. Note is told what a user
// should know while there is no answer.
func connect(ctx context.Context, s Server, name string, note func(string)) (*link, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	l := &link{server: s, note: note}
	nc, err := s.dial(name, nats.ReconnectErrHandler(l.refused),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { l.down.Store(time.Now().UnixNano()) }),
		nats.ReconnectHandler(func(*nats.Conn) { l.down.Store(0) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrPermissionViolation) {
				note("NATS: " + err.Error() + "; the user that we log in as (--nats-creds) needs JetStream")
			}
		}))
	if err != nil {
		return nil, err
	}
	l.nc = nc
	if l.js, err = jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(2*inFlight)); err == nil {
		err = l.open(ctx)
	}
	if err != nil {
		nc.Close()
		if errors.Is(err, jetstream.ErrJetStreamNotEnabled) {
			err = fmt.Errorf("%w: start the server with JetStream, as nats-server -js", err)
		}
		return nil, fmt.Errorf("NATS at %s: %w", s.URL, err)
	}
	return l, nil
}

// refused ends a connection that could not be opened again for a reason that has an exit code: the user has
// to do something about it.
func (l *link) refused(nc *nats.Conn, err error) {
	var final interface{ Exit() int }
	if errors.As(err, &final) {
		l.lost.Store(err)
		nc.Close()
	}
}

// away is for how long there has been no connection; 0: there is one.
func (l *link) away() time.Duration {
	if down := l.down.Load(); down > 0 {
		return time.Since(time.Unix(0, down))
	}
	return 0
}

// closed says why the connection is gone for good; nil: it is not.
func (l *link) closed() error {
	if !l.nc.IsClosed() {
		return nil
	}
	if err, ok := l.lost.Load().(error); ok {
		return err
	}
	return fmt.Errorf("NATS has closed the connection: %w", l.nc.LastError())
}

// dial opens a connection.
func (s Server) dial(name string, options ...nats.Option) (*nats.Conn, error) {
	options = append(options, nats.Name(name), nats.MaxReconnects(-1),
		nats.ReconnectWait(200*time.Millisecond), nats.Timeout(5*time.Second),
		nats.PingInterval(5*time.Second))
	options = append(options, s.Hub...)
	if s.Hub == nil && strings.Contains(s.URL, "tls://") {
		options = append(options, nats.Secure(&tls.Config{MinVersion: tls.VersionTLS12}))
	}
	var how bus.DialConfig
	if s.login != nil {
		how = *s.login
	}
	how.CAFile, how.CertFile = cmp.Or(s.CA, how.CAFile), cmp.Or(s.Cert, how.CertFile)
	how.KeyFile = cmp.Or(s.Key, how.KeyFile)
	if s.Credentials != "" { // in place of another login
		how.CredentialsFile, how.User, how.Token, how.Seed = s.Credentials, "", "", nil
	}
	login, err := how.Login()
	if err != nil {
		return nil, fmt.Errorf("log in to NATS at %s: %w", s.URL, err)
	}
	nc, err := nats.Connect(s.URL, append(options, login...)...)
	if errors.Is(err, nats.ErrAuthorization) {
		return nil, fmt.Errorf("connect to NATS at %s: %w: the server refuses this login; give another one "+
			"with --nats-context or --nats-creds", s.URL, err)
	}
	if errors.Is(err, nats.ErrTLS) { // such as that the server ends the connection without a reason
		return nil, fmt.Errorf("connect to NATS at %s: %w: check this side's certificate, with "+
			"--nats-cert and --nats-key, and the server's, with --nats-ca", s.URL, err)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w", s.URL, err)
	}
	return nc, nil
}

// open finds the streams and buckets, or makes them with as many replicas as there are
// servers for.
func (l *link) open(ctx context.Context) (err error) {
	err = l.patiently(ctx, func(ctx context.Context) error {
		_, err := l.js.AccountInfo(ctx)
		return err
	})
	if err != nil {
		return err
	}
	// A block, or what came of it, is there once.
	once := jetstream.StreamConfig{Retention: jetstream.WorkQueuePolicy, MaxMsgsPerSubject: 1,
		Discard: jetstream.DiscardNew, DiscardNewPerSubject: true}
	if l.trials, err = l.stream(ctx, trialsStream, trialsPrefix, once); err != nil {
		return err
	}
	if l.results, err = l.stream(ctx, resultsStream, resultsPrefix, once); err != nil {
		return err
	}
	l.set, err = l.stream(ctx, asideStream, asidePrefix, jetstream.StreamConfig{MaxMsgs: mostAside})
	if err != nil {
		return err
	}
	err = l.make(ctx, jetstream.ErrBucketNotFound, func(ctx context.Context) (err error) {
		l.runs, err = l.js.KeyValue(ctx, runsBucket)
		return err
	}, func(ctx context.Context, n int) (err error) {
		l.runs, err = l.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: runsBucket,
			Replicas: n, TTL: maxAge, Description: "runs of Conclave that workers may take part in"})
		return err
	})
	if err != nil {
		return err
	}
	err = l.patiently(ctx, func(ctx context.Context) (err error) {
		l.names, err = l.js.Stream(ctx, "KV_"+runsBucket)
		return err
	})
	if err != nil {
		return err
	}
	return l.make(ctx, jetstream.ErrBucketNotFound, func(ctx context.Context) (err error) {
		l.files, err = l.js.ObjectStore(ctx, filesBucket)
		return err
	}, func(ctx context.Context, n int) (err error) {
		l.files, err = l.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: filesBucket,
			Replicas: n, TTL: maxAge, Description: "traces of Conclave on the way to their run"})
		return err
	})
}

// streams are those of blocks and of what came of them, by the beginning of their subjects.
func (l *link) streams() map[jetstream.Stream]string {
	return map[jetstream.Stream]string{l.trials: trialsPrefix, l.results: resultsPrefix}
}

func (l *link) stream(ctx context.Context, name, prefix string, c jetstream.StreamConfig) (s jetstream.Stream,
	err error) {
	c.Name, c.Subjects, c.MaxAge, c.Description = name, []string{prefix + ".>"}, maxAge, "trials of Conclave"
	err = l.make(ctx, jetstream.ErrStreamNotFound, func(ctx context.Context) (err error) {
		s, err = l.js.Stream(ctx, name)
		return err
	}, func(ctx context.Context, n int) (err error) {
		c.Replicas = n
		s, err = l.js.CreateStream(ctx, c)
		return err
	})
	return s, err
}

// make finds something, or creates it with three replicas or as many as the cluster gives.
// Somebody else may create it at the same time, with another number of them.
func (l *link) make(ctx context.Context, missing error, find func(context.Context) error,
	create func(ctx context.Context, n int) error) error {
	err := l.patiently(ctx, find)
	for n := replicas; n > 0 && errors.Is(err, missing); n -= 2 {
		made := l.patiently(ctx, func(ctx context.Context) error { return create(ctx, n) })
		if made == nil {
			return nil
		}
		if err = l.patiently(ctx, find); errors.Is(err, missing) && n == 1 {
			return made
		}
	}
	return err
}

// carryTime is the time limit of one request that carries that many bytes.
func carryTime(bytes uint64) time.Duration {
	return askTimeout + time.Duration(bytes)*time.Second/leastRate
}

// patienceMute is how long there may be no answer before the user is notified.
const patienceMute = 5 * time.Second

// patiently asks until there is an answer: a server may die, and another one take its place.
// An answer that is an error is one.
func (l *link) patiently(ctx context.Context, ask func(context.Context) error) error {
	return l.carry(ctx, 0, ask)
}

// carry does what patiently does, for a request that carries that many bytes.
func (l *link) carry(ctx context.Context, bytes uint64, ask func(context.Context) error) error {
	for tell := time.Now().Add(patienceMute); ; {
		once, cancel := context.WithTimeout(ctx, carryTime(bytes))
		err := ask(once)
		cancel()
		if err == nil || ctx.Err() != nil || !transient(err) {
			return err
		}
		if time.Now().After(tell) {
			tell = time.Now().Add(time.Minute)
			l.note("NATS does not answer: " + err.Error() + "; trying on")
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Errors of JetStream that no package names.
const (
	storeFailed          jetstream.ErrorCode = 10077 // a limit of the stream
	notSupported         jetstream.ErrorCode = 10074 // replicas, by a server without a cluster
	noStorage, noMemory  jetstream.ErrorCode = 10047, 10028
	limits, insufficient jetstream.ErrorCode = 10053, 10023
)

// transient says whether it may be better a moment later. JetStream says 500 or 503 when
// servers die and a new leader is not there yet, but also of limits.
func transient(err error) bool {
	var api *jetstream.APIError
	if errors.As(err, &api) {
		switch api.ErrorCode {
		case storeFailed, notSupported, noStorage, noMemory, limits, insufficient,
			jetstream.JSErrCodeJetStreamNotEnabled, jetstream.JSErrCodeJetStreamNotEnabledForAccount:
			return false
		}
		return api.Code >= 500
	}
	return !errors.Is(err, jetstream.ErrJetStreamNotEnabled) && (errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, nats.ErrTimeout) ||
		errors.Is(err, nats.ErrNoResponders) || errors.Is(err, nats.ErrDisconnected) ||
		errors.Is(err, nats.ErrReconnectBufExceeded) || errors.Is(err, jetstream.ErrNoStreamResponse) ||
		errors.Is(err, nats.ErrConnectionReconnecting))
}

// publish puts a message into a stream; one that is there already stays.
func (l *link) publish(ctx context.Context, m *nats.Msg) error {
	err := l.patiently(ctx, func(ctx context.Context) error {
		_, err := l.js.PublishMsg(ctx, m)
		return err
	})
	var api *jetstream.APIError
	if errors.As(err, &api) && api.ErrorCode == storeFailed {
		if strings.Contains(err.Error(), "maximum messages per subject") {
			return nil
		}
		return fmt.Errorf("%w: the stream of %s is full; raise its limits (nats stream edit)", err, m.Subject)
	}
	return err
}

// A Run is a run as its workers know it.
type Run struct {
	Header  results.Header `json:"header"`
	Config  []byte         `json:"config"` // the experiment with every default
	Program results.Tool   `json:"program"`
	Virtual bool           `json:"virtual"`
	// Form is that of blocks and results, which NewSender sets: another build may have another one.
	Form int `json:"form"`
	// KeyFile is where the key lies with which messages of the run are signed, until it is over;
	// "": nowhere, and only this runner can read its results.
	KeyFile string `json:"-"`
}

// same says whether a program is the run's.
func (r *Run) same(other results.Tool) bool { return r.Program.Same(other, r.Virtual) }

// design gives the design of each cell of the run, nil for a number that is that of none.
func (r *Run) design() func(cell int) results.Design {
	e, err := experiment.Parse(results.ConfigFile, r.Config, experiment.Overrides{})
	return func(cell int) results.Design {
		if err != nil || cell < 1 || cell > len(e.Cells) {
			return nil
		}
		return e.Cells[cell-1].Design
	}
}

// A parcel is a work.Yield on its way: this as JSON, a line feed, and its rows as results.EncodeTrials has
// them, all compressed once.
type parcel struct {
	Block  work.Block      `json:"block"`
	Of     int             `json:"of"`
	Last   bool            `json:"last,omitempty"`
	Worker string          `json:"worker"`
	Failed string          `json:"failed,omitempty"`
	Ran    *results.Worker `json:"ran,omitempty"`
	Files  map[int]string  `json:"traces,omitempty"` // by trial: the digest of its file
	// Stored is the digest of the parcel itself if that lies in the bucket of files.
	Stored string `json:"stored,omitempty"`

	rows []byte
}

// data is the parcel before it is compressed.
func (p *parcel) data() ([]byte, error) {
	head, err := json.Marshal(p)
	return slices.Concat(head, []byte("\n"), p.rows), err
}

// openParcel is the inverse of data.
func openParcel(data []byte) (*parcel, error) {
	head, rows, _ := bytes.Cut(data, []byte("\n"))
	p := &parcel{}
	if err := json.Unmarshal(head, p); err != nil {
		return nil, err
	}
	if len(p.Block.Trials) == 0 && p.Stored == "" && p.Failed == "" {
		return nil, errors.New("nothing is in it")
	}
	p.rows = rows
	return p, nil
}

// fold compresses a parcel: every worker and the runner do so hundreds of times a second.
func fold(data []byte) []byte { return zstdOf().to.EncodeAll(data, nil) }

// unfold is the inverse of fold.
func unfold(data []byte) ([]byte, error) { return zstdOf().from.DecodeAll(data, nil) }

var zstdOf = sync.OnceValue(func() (z struct {
	to   *zstd.Encoder
	from *zstd.Decoder
}) { // the options are valid
	z.to, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	z.from, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(mostMessage), zstd.WithDecoderConcurrency(1))
	return z
})

func subjectOf(prefix, run string, number int) string {
	return fmt.Sprintf("%s.%s.%d", prefix, run, number)
}

func fileOf(run string, first int, what string) string {
	return fmt.Sprintf("%s.%d.%s", run, first, what)
}

// put stores a file, compressed, and returns its digest.
func (l *link) put(ctx context.Context, name string, data []byte) (string, error) {
	packed := pack(data)
	return digest(packed), l.carry(ctx, uint64(len(packed)), func(ctx context.Context) error {
		_, err := l.files.PutBytes(ctx, name, packed)
		return err
	})
}

// getTimeout limits the search for a file, whose bucket may be gone, and what its transfer may take
// beyond carryTime.
const getTimeout = 5 * time.Second

// get fetches the file that has that digest.
func (l *link) get(ctx context.Context, name, want string) (data []byte, err error) {
	var size uint64
	found, stop := context.WithTimeout(ctx, getTimeout)
	defer stop()
	err = l.patiently(found, func(ctx context.Context) error {
		info, err := l.files.GetInfo(ctx, name)
		if err == nil {
			size = min(info.Size, mostPacked)
		}
		return err
	})
	if err == nil {
		ctx, stop := context.WithTimeout(ctx, getTimeout+carryTime(size))
		defer stop()
		err = l.carry(ctx, size, func(ctx context.Context) error {
			file, err := l.files.Get(ctx, name)
			if err != nil {
				return err
			}
			data, err = io.ReadAll(io.LimitReader(file, mostPacked))
			return errors.Join(err, file.Close())
		})
	}
	if errors.Is(err, jetstream.ErrDigestMismatch) || err == nil && digest(data) != want {
		return nil, unusable{fmt.Errorf("its file %s is not what the worker has sent", name)}
	}
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", name, err)
	}
	return unpack(data, mostUnpacked)
}

// drop removes a file. One that stays ages out.
func (l *link) drop(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	_ = l.files.Delete(ctx, name)
}

func pack(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data) // to memory
	_ = z.Close()
	return b.Bytes()
}

// What a file may have and unfold to, and what a message may: what came of a block, and a run.
const (
	mostPacked   = 256 << 20
	mostUnpacked = 1 << 30
	mostMessage  = 64 << 20
	mostRun      = 16 << 20
)

func unpack(data []byte, most int64) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	data, err = io.ReadAll(io.LimitReader(z, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it unfolds to more than %d bytes", most)
	}
	return data, err
}

// nameOf is what a machine is called.
func nameOf(given string) string { return cmp.Or(given, hostname(), "unknown") }
