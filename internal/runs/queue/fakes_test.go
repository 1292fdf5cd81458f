package queue

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A message is one that JetStream has delivered. It notes what becomes of it.
type message struct {
	jetstream.Msg
	subject string
	data    []byte
	header  nats.Header
	meta    jetstream.MsgMetadata
	wrong   error // with its metadata

	mu    sync.Mutex
	did   []string
	until time.Time // an acknowledgement may take
}

func (m *message) Subject() string      { return m.subject }
func (m *message) Data() []byte         { return m.data }
func (m *message) Headers() nats.Header { return m.header }
func (m *message) Metadata() (*jetstream.MsgMetadata, error) {
	return &m.meta, m.wrong
}

func (m *message) does(what string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.did = append(m.did, what)
	return nil
}

func (m *message) Ack() error        { return m.does("ack") }
func (m *message) Nak() error        { return m.does("nak") }
func (m *message) InProgress() error { return m.does("at work") }
func (m *message) DoubleAck(ctx context.Context) error {
	m.until, _ = ctx.Deadline()
	return m.does("ack, and sure")
}

// done is what became of it until now.
func (m *message) done() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.did, "; ")
}

// fakes are what a link finds at NATS, as far as a test needs it.
type fakes struct {
	mu        sync.Mutex
	published []*nats.Msg
	publish   func(context.Context) error // nil: it works
	stored    map[string][]byte
	put       error // of storing
	runs      func() ([]string, error)
	batches   []*batch // that are fetched, one after the other; then none is there
	fetched   int
	asked     []string // and said
}

// say notes a request or a message. A worker does not repeat a request without end.
func (f *fakes) say(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asked = append(f.asked, text); len(f.asked) > 100 {
		panic("the request is repeated without end")
	}
}

// What of NATS they stand for: messages that are published, files, the names of runs, and blocks.
type (
	fakeBus struct {
		jetstream.JetStream
		f *fakes
	}
	fakeFiles struct {
		jetstream.ObjectStore
		f *fakes
	}
	fakeNames struct {
		jetstream.Stream
		f *fakes
	}
	fakeBlocks struct {
		jetstream.Consumer
		f *fakes
	}
)

func (b fakeBus) PublishMsg(ctx context.Context, m *nats.Msg, _ ...jetstream.PublishOpt) (*jetstream.PubAck,
	error) {
	if b.f.publish != nil {
		if err := b.f.publish(ctx); err != nil {
			return nil, err
		}
	}
	b.f.mu.Lock()
	defer b.f.mu.Unlock()
	b.f.published = append(b.f.published, m)
	return &jetstream.PubAck{}, nil
}

func (s fakeFiles) PutBytes(_ context.Context, name string, data []byte) (*jetstream.ObjectInfo, error) {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	s.f.stored[name] = data
	return &jetstream.ObjectInfo{}, s.f.put
}

func (n fakeNames) Info(context.Context, ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	n.f.say("runs")
	names, err := n.f.runs()
	if err != nil {
		return nil, err
	}
	info := &jetstream.StreamInfo{State: jetstream.StreamState{Subjects: map[string]uint64{}}}
	for _, name := range names {
		info.State.Subjects[namesPrefix+name] = 1
	}
	return info, nil
}

// A batch is blocks that come, one after the other.
type batch struct {
	messages chan jetstream.Msg
	most     int   // of how many it was asked
	failed   error // at the end
	refused  error // at once
}

func (b *batch) Messages() <-chan jetstream.Msg { return b.messages }
func (b *batch) Error() error                   { return b.failed }

// of is a batch of these messages, and no more.
func of(messages ...*message) *batch {
	b := &batch{messages: make(chan jetstream.Msg, len(messages))}
	for _, m := range messages {
		b.messages <- m
	}
	close(b.messages)
	return b
}

func (c fakeBlocks) Fetch(n int, _ ...jetstream.FetchOpt) (jetstream.MessageBatch, error) {
	c.f.say("blocks")
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	b := of()
	if c.f.fetched < len(c.f.batches) {
		b = c.f.batches[c.f.fetched]
	}
	c.f.fetched++
	b.most = n
	return b, b.refused
}

// What compresses is made before any test: no bubble of a test may own it.
var _, _ = unfold(fold(nil))

// secret is the key of the run in question.
var secret = key(slices.Repeat([]byte{7}, keyBytes))

// newFeed is the feed of a worker that has taken no block of its run yet.
func newFeed(ctx context.Context, t *testing.T) (*feed, *fakes) {
	t.Helper()
	at := &fakes{stored: map[string][]byte{}, runs: func() ([]string, error) { return []string{"queued-1"}, nil }}
	w := &worker{name: "lab1", cores: 4, lock: flock.New(filepath.Join(t.TempDir(), "lock")),
		site: results.Site{Machine: results.Machine{CPU: "abacus"}},
		link: &link{nc: &nats.Conn{}, js: fakeBus{f: at}, files: fakeFiles{f: at}, names: fakeNames{f: at},
			note: at.say}}
	w.cfg.Say = at.say
	t.Cleanup(func() { _ = w.lock.Close() })
	return &feed{ctx: ctx, worker: w, name: "queued-1", run: &Run{Virtual: true}, key: secret,
		from: fakeBlocks{f: at}, held: map[int]*held{}}, at
}

// block is a signed message with a block of that repetition.
func block(t *testing.T, repetition int) *message {
	t.Helper()
	data, err := json.Marshal(&work.Block{Number: repetition, Trials: []int{2, 1}, Orders: []int{5, 6}})
	if err != nil {
		t.Fatal(err)
	}
	subject := subjectOf(trialsPrefix, "queued-1", repetition)
	return &message{subject: subject, data: data, header: secret.message(subject, data).Header,
		meta: jetstream.MsgMetadata{NumDelivered: 1, NumPending: 40}}
}

// parcels are those that were published, which are all of the run and signed.
func (f *fakes) parcels(t *testing.T) (out []parcel) {
	t.Helper()
	for _, m := range f.published {
		if err := secret.verify(&message{subject: m.Subject, data: m.Data, header: m.Header}); err != nil {
			t.Fatal(err)
		}
		data, err := unfold(m.Data)
		if err != nil {
			t.Fatal(err)
		}
		p, err := openParcel(data)
		if err != nil {
			t.Fatal(err)
		}
		if want := subjectOf(resultsPrefix, "queued-1", p.Block.Number); m.Subject != want {
			t.Errorf("on %s, want %s", m.Subject, want)
		}
		out = append(out, *p)
	}
	return out
}

// experimentOf is one of four cells and twelve repetitions.
func experimentOf(t *testing.T) *experiment.Experiment {
	t.Helper()
	return &experiment.Experiment{Cells: make([]experiment.Cell, 4), Repetitions: 12}
}
