package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A Sender is the runner's end of the queue.
type Sender struct {
	link *link
	run  string
	head Run
	from jetstream.Consumer
	note func(string)           // tells the user something
	lone time.Time              // since when no worker answers; zero: one does
	idle time.Time              // since when workers answer, and none has a block; zero: one has
	got  jetstream.MessageBatch // that is on its way; nil: none

	mu   sync.Mutex
	out  map[int]work.Block // by number: blocks with the trials whose results are waited for
	left map[int]int        // by such a trial: the number of its block

	design func(cell int) results.Design // of the cells of the run

	key       key
	announced atomic.Value   // a string: the digest of what the queue holds of the run
	aside     chan *nats.Msg // blocks that workers have set aside
	asides    int            // messages that were set aside
}

var _ work.Queue = (*Sender)(nil)

// NewSender announces a run, under the name that its header has for it. Note receives what
// a user should know while the run waits.
func NewSender(ctx context.Context, s Server, r Run, note func(string)) (*Sender, error) {
	name := r.Header.Queue
	if name == "" || strings.ContainsAny(name, ". *>\t") {
		return nil, fmt.Errorf("a run in a queue needs a name without dots and spaces, not %q", name)
	}
	l, err := connect(ctx, s, "conclave runner "+name, note)
	if err != nil {
		return nil, err
	}
	q := &Sender{link: l, run: name, head: r, note: note, out: map[int]work.Block{}, left: map[int]int{},
		aside: make(chan *nats.Msg, mostAside), design: r.design()}
	q.head.Form = form
	q.announced.Store("")
	if q.key, err = keyIn(r.KeyFile); err == nil {
		_, err = l.nc.ChanSubscribe(asideOf(trialsPrefix)+"."+name+".>", q.aside)
	}
	if err = errors.Join(err, q.grants(), q.tells()); err == nil {
		err = q.announce(ctx)
	}
	if err != nil {
		l.nc.Close()
		return nil, err
	}
	return q, nil
}

func (q *Sender) announce(ctx context.Context) error {
	data, err := json.Marshal(&q.head)
	if err != nil {
		return err
	}
	for s, prefix := range q.link.streams() {
		err = q.link.patiently(ctx, func(ctx context.Context) error {
			c, err := s.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{Durable: q.run,
				FilterSubject: prefix + "." + q.run + ".>", AckPolicy: jetstream.AckExplicitPolicy,
				AckWait: ackWait, MaxAckPending: -1})
			if s == q.link.results {
				q.from = c
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("announce the run: %w", err)
		}
	}
	packed := pack(data) // which may take longer than an answer
	q.announced.Store(digest(packed))
	return q.link.patiently(ctx, func(ctx context.Context) error {
		_, err := q.link.runs.Put(ctx, q.run, packed)
		return err
	})
}

// inFlight is how many blocks may be on their way to NATS at a time: a far server acknowledges them all in
// about one round trip.
const inFlight = 512

// Send implements work.Queue.
func (q *Sender) Send(ctx context.Context, blocks []work.Block) error {
	q.mu.Lock()
	for _, b := range blocks {
		q.out[b.Number] = b
		for _, trial := range b.Trials {
			q.left[trial] = b.Number
		}
	}
	q.mu.Unlock()
	for some := range slices.Chunk(blocks, inFlight) {
		sent := make([]jetstream.PubAckFuture, len(some))
		for i := range some {
			if m, err := q.message(&some[i]); err != nil {
				return err
			} else if sent[i], err = q.link.js.PublishMsgAsync(m); err != nil {
				sent[i] = nil // there is no connection, or too much is on its way
			}
		}
		late, over := context.WithTimeout(ctx, askTimeout)
		for i := range some {
			if !acknowledged(late, sent[i]) { // once more, with patience
				if err := q.sendOne(ctx, some[i]); err != nil {
					over()
					return err
				}
			}
		}
		over()
	}
	return nil
}

// acknowledged waits for NATS to have a message.
func acknowledged(ctx context.Context, sent jetstream.PubAckFuture) bool {
	if sent == nil {
		return false
	}
	select {
	case <-sent.Ok():
		return true
	case err := <-sent.Err():
		_ = err // it is sent again, whatever the reason
	case <-ctx.Done():
	}
	return false
}

func (q *Sender) message(b *work.Block) (*nats.Msg, error) {
	data, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("send block %d: %w", b.Number, err)
	}
	return q.key.message(subjectOf(trialsPrefix, q.run, b.Number), data), nil
}

func (q *Sender) sendOne(ctx context.Context, b work.Block) error {
	m, err := q.message(&b)
	if err != nil {
		return err
	}
	if err := q.link.publish(ctx, m); err != nil {
		return fmt.Errorf("send block %d: %w", b.Number, err)
	}
	return nil
}

// atOnce is how many results are fetched with one request.
const atOnce = 64

// Next implements work.Queue.
func (q *Sender) Next(ctx context.Context) (all []work.Yield, err error) {
	for first := true; ; first = false {
		if q.got == nil {
			if q.got, err = q.from.Fetch(atOnce, jetstream.FetchMaxWait(askTimeout)); err != nil {
				q.got = nil
				pause(ctx, askTimeout)
			}
		}
		for q.got != nil {
			all, err = q.receive(ctx)
			if len(all) > 0 || err != nil {
				return all, err
			}
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := q.link.closed(); err != nil {
			return nil, err
		}
		if first {
			continue
		}
		q.look(ctx)
		if err := q.mend(ctx); err != nil {
			return nil, err
		}
	}
}

// receive waits for a message, and takes those that come with it, for they are put on disk together.
func (q *Sender) receive(ctx context.Context) (all []work.Yield, err error) {
	var gather <-chan time.Time // nil: nothing has come yet
	for {
		select {
		case m, ok := <-q.got.Messages():
			if !ok {
				q.got = nil
				return all, nil
			}
			y, ok, err := q.open(ctx, m)
			if err != nil {
				return all, err
			}
			if ok {
				all = append(all, y)
			}
			if q.got == nil {
				return all, nil
			}
			if len(all) == 1 {
				gather = time.After(gatherFor)
			}
		case <-gather:
			return all, nil
		case m := <-q.aside:
			err := q.named(ctx, "conclave"+strings.TrimPrefix(m.Subject, asidePrefix), m.Header.Get(asideWhy))
			if err != nil {
				return all, err
			}
		case <-ctx.Done():
			return all, context.Cause(ctx)
		}
	}
}

// gatherFor is how long the runner waits for more results before it puts those that came on disk.
const gatherFor = 50 * time.Millisecond

// mend announces the run and sends its blocks again if the queue has lost some: when
// nobody has them, nobody will get them, and nothing has come of them; or when NATS holds
// them, and for long gives them to none of the workers that wait. NATS may lose what it
// has acknowledged, for instance with the disk of a server; and what was done for nothing
// counts once.
func (q *Sender) mend(ctx context.Context) error {
	stuck := !q.idle.IsZero() && time.Since(q.idle) > patienceIdle
	// In this order: what is no longer to be done has results.
	for _, s := range []jetstream.Stream{q.link.trials, q.link.results} {
		var c *jetstream.ConsumerInfo
		err := q.link.patiently(ctx, func(ctx context.Context) error {
			found, err := s.Consumer(ctx, q.run)
			if err == nil {
				c = found.CachedInfo()
			}
			return err
		})
		switch {
		case errors.Is(err, jetstream.ErrConsumerNotFound), errors.Is(err, jetstream.ErrStreamNotFound):
		case err != nil:
			return fmt.Errorf("look at the run in the queue: %w", err)
		case c.NumPending+uint64(c.NumAckPending) > 0 && !stuck:
			return nil
		}
	}
	q.idle = time.Time{}
	q.mu.Lock()
	blocks := slices.Collect(maps.Values(q.out))
	q.mu.Unlock()
	if len(blocks) == 0 {
		return errors.New("a worker has left out trials of its block")
	}
	q.note(fmt.Sprintf("NATS has lost blocks of this run; %d are sent again", len(blocks)))
	if err := q.link.open(ctx); err != nil {
		return err
	}
	if err := q.link.clear(ctx, q.run); err != nil { // of what lies there and is not delivered
		return err
	}
	if err := q.announce(ctx); err != nil {
		return err
	}
	return q.Send(ctx, blocks)
}

// clear takes what there is of a run out of the streams.
func (l *link) clear(ctx context.Context, run string) (err error) {
	for s, prefix := range l.streams() {
		err = errors.Join(err,
			l.patiently(ctx, func(ctx context.Context) error {
				return s.Purge(ctx, jetstream.WithPurgeSubject(prefix+"."+run+".>"))
			}),
			l.patiently(ctx, func(ctx context.Context) error {
				err := s.DeleteConsumer(ctx, run)
				if errors.Is(err, jetstream.ErrConsumerNotFound) {
					return nil
				}
				return err
			}))
	}
	return err
}

const (
	// patienceAlone is how long nobody may be there before the user is told.
	patienceAlone = 5 * time.Second
	// patienceIdle is how long workers may be there and none of them has a block before the
	// queue is taken to have lost them.
	patienceIdle = 5 * ackWait
)

// look tells the user if nobody is there to do anything, and notes whether somebody is at
// work.
func (q *Sender) look(ctx context.Context) {
	list, err := find(ctx, q.link.nc, 300*time.Millisecond)
	if err != nil {
		q.note("NATS does not answer: " + err.Error())
		return
	}
	ours, held := 0, 0
	for _, w := range list {
		if q.head.same(w.Site.Tool) {
			ours++
			held += w.Held
		}
	}
	if ours == 0 || held > 0 {
		q.idle = time.Time{}
	} else if q.idle.IsZero() {
		q.idle = time.Now()
	}
	switch {
	case ours > 0:
		q.lone = time.Time{}
	case q.lone.IsZero():
		q.lone = time.Now()
	case time.Since(q.lone) > patienceAlone:
		q.lone = time.Now().Add(time.Minute) // not again at once
		why := "there are no workers"
		if len(list) > 0 {
			why = "no worker runs this program"
			for _, w := range list {
				why += fmt.Sprintf("; %s runs another one, build %.12s", w.Machine, w.Site.Tool.Binary)
			}
			why += "; " + q.head.Program.Remedy(list[0].Site.Tool, q.head.Virtual)
		}
		q.note(why + "; start one of the same build: " + q.link.server.Invitation(false))
	}
}

// open reads a parcel. It is false for one that is of no use, which is set aside.
func (q *Sender) open(ctx context.Context, m jetstream.Msg) (y work.Yield, ok bool, err error) {
	p, err := q.read(m)
	if err != nil {
		return y, false, q.without(ctx, m, err)
	}
	if !q.waits(p) { // two workers have done it
		q.settle(ctx, m, p)
		return y, false, nil
	}
	name := p.Block.Number
	if p.Stored != "" {
		data, err := q.link.get(ctx, fileOf(q.run, name, "rows"), p.Stored)
		if err == nil {
			p, err = openParcel(data)
		}
		if err != nil {
			return y, false, q.without(ctx, m, err)
		}
	}
	y = work.Yield{Block: p.Block, Of: p.Of, Last: p.Last, Worker: p.Worker, Failed: p.Failed, Ran: p.Ran,
		Traces: map[int][]byte{}, Keep: func() { q.keep(p); q.settle(ctx, m, p) }}
	if y.Rows, err = results.DecodeTrials(p.rows, q.design); err != nil && p.Failed == "" {
		return y, false, fmt.Errorf("a result of block %d (worker %s) cannot be read: %w", p.Of, p.Worker,
			err)
	}
	for trial, digest := range p.Files {
		y.Traces[trial], err = q.link.get(ctx, fileOf(q.run, name, fmt.Sprint(trial)), digest)
		if err != nil {
			return y, false, q.without(ctx, m, err)
		}
	}
	return y, true, nil
}

// waits says whether anything of a parcel is waited for.
func (q *Sender) waits(p *parcel) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if p.Failed != "" {
		_, waited := q.out[p.Of]
		return waited
	}
	return slices.ContainsFunc(p.Block.Trials, func(trial int) bool { return q.left[trial] > 0 })
}

// keep notes that the trials of a parcel are on disk.
func (q *Sender) keep(p *parcel) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, trial := range p.Block.Trials {
		number := q.left[trial]
		delete(q.left, trial)
		if b, is := q.out[number]; is {
			if b = b.Only(func(trial int) bool { return q.left[trial] > 0 }); len(b.Trials) == 0 {
				delete(q.out, number)
			} else {
				q.out[number] = b
			}
		}
	}
}

// leftSubject is where the runner of a run is asked what is left of a block.
func leftSubject(run string) string { return "conclave.runner.left." + run }

// tells answers workers that take up a block which another one has begun: a lost machine costs the trials
// alone that it has not handed over. A worker without an answer begins the whole block.
func (q *Sender) tells() error {
	_, err := q.link.nc.Subscribe(leftSubject(q.run), func(m *nats.Msg) {
		var b work.Block
		if json.Unmarshal(m.Data, &b) != nil {
			return
		}
		q.mu.Lock()
		b = b.Only(func(trial int) bool { return q.left[trial] > 0 })
		q.mu.Unlock()
		answer, _ := json.Marshal(&b) // numbers
		_ = m.RespondMsg(q.key.message(m.Reply, answer))
	})
	return err
}

// read is the parcel of a message. Nothing of one that is not signed is looked at.
func (q *Sender) read(m jetstream.Msg) (p *parcel, err error) {
	if err := q.key.verify(m); err != nil {
		return nil, err
	}
	data, err := unfold(m.Data())
	if err == nil {
		p, err = openParcel(data)
	}
	if err != nil {
		return nil, fmt.Errorf("a result on %s cannot be read: %w", m.Subject(), err)
	}
	return p, nil
}

// settle takes a parcel out of the queue. If it comes once more, it counts once.
func (q *Sender) settle(ctx context.Context, m jetstream.Msg, p *parcel) {
	_ = m.Ack()
	for trial := range p.Files {
		q.link.drop(ctx, fileOf(q.run, p.Block.Number, fmt.Sprint(trial)))
	}
	if p.Stored != "" {
		q.link.drop(ctx, fileOf(q.run, p.Block.Number, "rows"))
	}
}

// without sets a parcel aside that is of no use, and leaves one alone whose files are not
// there, for err: its block is sent again if they are lost (see mend), and it comes again if
// no server could give them. What a worker has signed and nobody can read ends the run: to
// run its block again would be of no avail.
func (q *Sender) without(ctx context.Context, m jetstream.Msg, err error) error {
	var bad unusable
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &bad):
		q.link.aside(ctx, m, bad)
		return q.named(ctx, m.Subject(), bad.Error())
	case errors.Is(err, jetstream.ErrObjectNotFound):
		return m.Ack()
	case transient(err):
		q.got = nil // the others have the same fate
		return nil
	}
	return err
}

// closeTimeout is how long the announcement of the end of a run may take.
const closeTimeout = 5 * time.Second

// Close implements work.Queue.
func (q *Sender) Close(over bool) error {
	defer q.link.nc.Close()
	if !over {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := errors.Join(q.link.forget(ctx, q.run), q.link.clear(ctx, q.run)); err != nil {
		q.note("the results are complete, but the run is still in the queue (see bench queue): " +
			err.Error())
	}
	if q.head.KeyFile != "" {
		_ = os.Remove(q.head.KeyFile) // it opens nothing any more
	}
	return nil
}

// forget takes a run out of the list of runs, which the workers look at.
func (l *link) forget(ctx context.Context, run string) error {
	return l.patiently(ctx, func(ctx context.Context) error {
		return l.names.Purge(ctx, jetstream.WithPurgeSubject(namesPrefix+run))
	})
}
