// Package queue has the trials of a run done by workers on other machines. JetStream, of a
// NATS server or a cluster of the user's, keeps and carries what is to be done and what came
// of it; NATS micro finds the workers. There is no broker of our own.
//
// What it keeps, by run:
//
//	bucket conclave-runs     RUN                the experiment, and which program runs it
//	stream CONCLAVE_TRIALS   conclave.trials.RUN.REPETITION    a block, until a worker has acknowledged it
//	stream CONCLAVE_RESULTS  conclave.results.RUN.REPETITION   its rows, until they are on the runner's disk
//	bucket conclave-files    RUN.REPETITION.*   what is too large for a message: traces, many rows
//
// A worker publishes what came of a block before it acknowledges the block, and the runner
// acknowledges that once it is on disk. So nothing is lost whoever dies; what is done twice
// for that reason counts once, since the runner knows which trials it has.
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
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

const (
	trialsStream  = "CONCLAVE_TRIALS"
	resultsStream = "CONCLAVE_RESULTS"
	trialsPrefix  = "conclave.trials"
	resultsPrefix = "conclave.results"
	runsBucket    = "conclave-runs"
	filesBucket   = "conclave-files"

	// ackWait is how long a worker may be silent before its blocks are given to another. It
	// says that it is at work each third of that.
	ackWait = 6 * time.Second
	// mostTries is how often a block is begun: one that kills its worker would kill them all.
	mostTries = 5
	// maxAge is how long what nobody fetches is kept.
	maxAge = 30 * 24 * time.Hour
	// askTimeout is for one request. A server that dies may leave one unanswered; the next
	// one goes to another server.
	askTimeout = 2 * time.Second
	// inMessage is how many bytes go into a message; NATS allows 1 MiB by default.
	inMessage = 512 << 10
	replicas  = 3
)

// A Server says where NATS is, and who we are to it.
type Server struct {
	URL         string // one, or several with commas between
	Credentials string // file; "": none
	CA          string // file; "": the system's
}

// Check says why a server must not be used: what leaves the machine is encrypted.
func (s Server) Check() error {
	for one := range strings.SplitSeq(s.URL, ",") {
		u, err := url.Parse(one)
		if err != nil || u.Hostname() == "" || u.Scheme != "nats" && u.Scheme != "tls" {
			return fmt.Errorf("%q is no address of NATS; want one as tls://lab1:4222", one)
		}
		ip := net.ParseIP(u.Hostname())
		local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
		if u.Scheme != "tls" && !local {
			return fmt.Errorf("%s is on another machine, and nats:// is not encrypted; want tls://%s", one,
				u.Host)
		}
	}
	return nil
}

// A link is a connection to NATS. It reconnects for ever.
type link struct {
	nc      *nats.Conn
	js      jetstream.JetStream
	trials  jetstream.Stream
	results jetstream.Stream
	runs    jetstream.KeyValue
	files   jetstream.ObjectStore
}

// connect opens a connection, and makes what is not there yet.
func connect(ctx context.Context, s Server, name string) (*link, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	options := []nats.Option{nats.Name(name), nats.MaxReconnects(-1),
		nats.ReconnectWait(200 * time.Millisecond), nats.Timeout(5 * time.Second),
		nats.PingInterval(5 * time.Second)}
	if strings.Contains(s.URL, "tls://") {
		options = append(options, nats.Secure(&tls.Config{MinVersion: tls.VersionTLS12}))
	}
	if s.CA != "" {
		options = append(options, nats.RootCAs(s.CA))
	}
	if s.Credentials != "" {
		options = append(options, nats.UserCredentials(s.Credentials))
	}
	nc, err := nats.Connect(s.URL, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w", s.URL, err)
	}
	l := &link{nc: nc}
	if l.js, err = jetstream.New(nc); err == nil {
		err = l.open(ctx)
	}
	if err != nil {
		nc.Close()
		if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, nats.ErrNoResponders) {
			err = fmt.Errorf("%w: start the server with JetStream, as nats-server -js", err)
		}
		return nil, fmt.Errorf("NATS at %s: %w", s.URL, err)
	}
	return l, nil
}

// open finds the streams and buckets, or makes them with as many replicas as there are
// servers for.
func (l *link) open(ctx context.Context) (err error) {
	if l.trials, err = l.stream(ctx, trialsStream, trialsPrefix); err != nil {
		return err
	}
	if l.results, err = l.stream(ctx, resultsStream, resultsPrefix); err != nil {
		return err
	}
	err = patiently(ctx, func(ctx context.Context) (err error) {
		l.runs, err = l.js.KeyValue(ctx, runsBucket)
		return err
	})
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		err = replicated(ctx, func(ctx context.Context, n int) (err error) {
			l.runs, err = l.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: runsBucket,
				Replicas: n, TTL: maxAge, Description: "runs of Conclave that workers may take part in"})
			return err
		})
	}
	if err != nil {
		return err
	}
	err = patiently(ctx, func(ctx context.Context) (err error) {
		l.files, err = l.js.ObjectStore(ctx, filesBucket)
		return err
	})
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		err = replicated(ctx, func(ctx context.Context, n int) (err error) {
			l.files, err = l.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: filesBucket,
				Replicas: n, TTL: maxAge, Description: "traces of Conclave on the way to their run"})
			return err
		})
	}
	return err
}

func (l *link) stream(ctx context.Context, name, prefix string) (s jetstream.Stream, err error) {
	err = patiently(ctx, func(ctx context.Context) (err error) {
		s, err = l.js.Stream(ctx, name)
		return err
	})
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return s, err
	}
	err = replicated(ctx, func(ctx context.Context, n int) (err error) {
		s, err = l.js.CreateStream(ctx, jetstream.StreamConfig{Name: name, Subjects: []string{prefix + ".>"},
			Retention: jetstream.WorkQueuePolicy, Replicas: n, MaxAge: maxAge,
			// A block, or what came of it, is there once.
			MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
			Description: "trials of Conclave"})
		return err
	})
	return s, err
}

// replicated makes something with three replicas, or with as many as the cluster gives.
func replicated(ctx context.Context, make func(ctx context.Context, n int) error) (err error) {
	for n := replicas; n > 0; n -= 2 {
		err = patiently(ctx, func(ctx context.Context) error { return make(ctx, n) })
		var refused *jetstream.APIError
		if err == nil || !errors.As(err, &refused) || n == 1 {
			return err
		}
	}
	return err
}

// patiently asks until there is an answer: a server may die, and another one take its place.
// An answer that is an error is one.
func patiently(ctx context.Context, ask func(context.Context) error) error {
	for {
		once, cancel := context.WithTimeout(ctx, askTimeout)
		err := ask(once)
		cancel()
		if err == nil || ctx.Err() != nil || !transient(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// transient says whether it may be better a moment later.
func transient(err error) bool {
	var api *jetstream.APIError
	if errors.As(err, &api) {
		return api.Code == 503 && api.ErrorCode != jetstream.JSErrCodeJetStreamNotEnabled
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) ||
		errors.Is(err, nats.ErrDisconnected) || errors.Is(err, nats.ErrReconnectBufExceeded) ||
		errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, nats.ErrConnectionReconnecting)
}

// publish puts a message into a stream; one that is there already stays.
func (l *link) publish(ctx context.Context, subject string, data []byte) error {
	err := patiently(ctx, func(ctx context.Context) error {
		_, err := l.js.Publish(ctx, subject, data)
		return err
	})
	if err != nil && strings.Contains(err.Error(), "maximum messages per subject") {
		return nil
	}
	return err
}

// A Run is a run as its workers know it.
type Run struct {
	Header  results.Header `json:"header"`
	Config  []byte         `json:"config"` // the experiment with every default
	Program results.Tool   `json:"program"`
	Virtual bool           `json:"virtual"`
}

// same says whether this program is the run's.
func (r *Run) same(ours results.Tool) bool {
	return r.Program.Binary == ours.Binary && ours.Binary != ""
}

// A parcel is what came of a block, on its way.
type parcel struct {
	Block  runner.Block      `json:"block"`
	Worker string            `json:"worker"`
	Rows   []json.RawMessage `json:"rows,omitempty"` // see results.EncodeTrial
	Traces []int             `json:"traces,omitempty"`
	Failed string            `json:"failed,omitempty"`
	// Stored says that the parcel itself lies in the bucket of files.
	Stored bool `json:"stored,omitempty"`
}

func subjectOf(prefix, run string, repetition int) string {
	return fmt.Sprintf("%s.%s.%d", prefix, run, repetition)
}

func fileOf(run string, repetition int, what string) string {
	return fmt.Sprintf("%s.%d.%s", run, repetition, what)
}

// put stores a file, compressed.
func (l *link) put(ctx context.Context, name string, data []byte) error {
	return patiently(ctx, func(ctx context.Context) error {
		_, err := l.files.PutBytes(ctx, name, pack(data))
		return err
	})
}

func (l *link) get(ctx context.Context, name string) (data []byte, err error) {
	err = patiently(ctx, func(ctx context.Context) (err error) {
		data, err = l.files.GetBytes(ctx, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", name, err)
	}
	return unpack(data)
}

func (l *link) drop(ctx context.Context, name string) {
	_ = patiently(ctx, func(ctx context.Context) error { return l.files.Delete(ctx, name) }) // it ages out
}

func pack(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data) // to memory
	_ = z.Close()
	return b.Bytes()
}

// mostUnpacked bounds what a message may unfold to.
const mostUnpacked = 1 << 30

func unpack(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, mostUnpacked))
}

// nameOf is what a machine is called.
func nameOf(given string) string { return cmp.Or(given, hostname(), "unknown") }
