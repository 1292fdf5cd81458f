package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// A Sender is the runner's end of the queue.
type Sender struct {
	link *link
	run  string
	head Run
	from jetstream.Consumer
	note func(string) // tells the user something
	lone time.Time    // since when no worker answers; zero: one does
}

var _ runner.Queue = (*Sender)(nil)

// NewSender announces a run, under the name that its header has for it. Note is told what
// a user should know while the run waits.
func NewSender(ctx context.Context, s Server, r Run, note func(string)) (*Sender, error) {
	name := r.Header.Queue
	if name == "" || strings.ContainsAny(name, ". *>\t") {
		return nil, fmt.Errorf("a run in a queue needs a name without dots and spaces, not %q", name)
	}
	l, err := connect(ctx, s, "conclave runner "+name)
	if err != nil {
		return nil, err
	}
	q := &Sender{link: l, run: name, head: r, note: note}
	if err := q.announce(ctx); err != nil {
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
	err = patiently(ctx, func(ctx context.Context) error {
		_, err := q.link.trials.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{Durable: q.run,
			FilterSubject: trialsPrefix + "." + q.run + ".>", AckPolicy: jetstream.AckExplicitPolicy,
			AckWait: ackWait, MaxAckPending: -1})
		return err
	})
	if err != nil {
		return fmt.Errorf("announce the run: %w", err)
	}
	err = patiently(ctx, func(ctx context.Context) (err error) {
		q.from, err = q.link.results.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{Durable: q.run,
			FilterSubject: resultsPrefix + "." + q.run + ".>", AckPolicy: jetstream.AckExplicitPolicy,
			AckWait: ackWait, MaxAckPending: -1})
		return err
	})
	if err != nil {
		return fmt.Errorf("announce the run: %w", err)
	}
	return patiently(ctx, func(ctx context.Context) error {
		_, err := q.link.runs.Put(ctx, q.run, pack(data))
		return err
	})
}

// Send implements runner.Queue.
func (q *Sender) Send(ctx context.Context, blocks []runner.Block) error {
	for _, b := range blocks {
		data, err := json.Marshal(&b)
		if err != nil {
			return err
		}
		if err := q.link.publish(ctx, subjectOf(trialsPrefix, q.run, b.Repetition), data); err != nil {
			return fmt.Errorf("send block %d: %w", b.Repetition, err)
		}
	}
	return nil
}

// Next implements runner.Queue.
func (q *Sender) Next(ctx context.Context) (y runner.Yield, err error) {
	for {
		msgs, err := q.from.Fetch(1, jetstream.FetchMaxWait(askTimeout))
		if ctx.Err() != nil {
			return y, context.Cause(ctx)
		}
		if err == nil {
			for m := range msgs.Messages() {
				return q.open(ctx, m)
			}
		}
		q.look(ctx)
	}
}

// patienceAlone is how long nobody may be there before the user is told.
const patienceAlone = 5 * time.Second

// look tells the user if nobody is there to do anything.
func (q *Sender) look(ctx context.Context) {
	list, err := find(ctx, q.link.nc, 300*time.Millisecond)
	if err != nil {
		q.note("NATS does not answer: " + err.Error())
		return
	}
	for _, w := range list {
		if q.head.same(w.Site.Tool) {
			q.lone = time.Time{}
			return
		}
	}
	switch {
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
		}
		q.note(why + "; start one with bench work --join, of the same build")
	}
}

// open reads a parcel.
func (q *Sender) open(ctx context.Context, m jetstream.Msg) (y runner.Yield, err error) {
	data, err := unpack(m.Data())
	var p parcel
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	block := p.Block.Repetition
	if err == nil && p.Stored {
		if data, err = q.link.get(ctx, fileOf(q.run, block, "rows")); err == nil {
			err = json.Unmarshal(data, &p)
		}
	}
	if err != nil {
		return y, fmt.Errorf("a result on %s cannot be read: %w", m.Subject(), err)
	}
	if p.Failed != "" {
		return runner.Yield{Failed: fmt.Sprintf("block %d (worker %s): %s", block, p.Worker, p.Failed)},
			m.Ack()
	}
	y.Traces = map[int][]byte{}
	for _, row := range p.Rows {
		t, err := results.DecodeTrial(row, q.head.Header.Design)
		if err != nil {
			return y, fmt.Errorf("a result on %s cannot be read: %w", m.Subject(), err)
		}
		y.Rows = append(y.Rows, *t)
	}
	for _, trial := range p.Traces {
		data, err := q.link.get(ctx, fileOf(q.run, block, fmt.Sprint(trial)))
		if errors.Is(err, jetstream.ErrObjectNotFound) {
			continue // it was fetched with the same parcel before
		}
		if err != nil {
			return y, err
		}
		y.Traces[trial] = data
	}
	y.Keep = func() error {
		err := patiently(ctx, func(ctx context.Context) error { return m.DoubleAck(ctx) })
		for _, trial := range p.Traces {
			q.link.drop(ctx, fileOf(q.run, block, fmt.Sprint(trial)))
		}
		if p.Stored {
			q.link.drop(ctx, fileOf(q.run, block, "rows"))
		}
		return err
	}
	return y, nil
}

// closeTimeout is how long the end of a run may take to be told.
const closeTimeout = 5 * time.Second

// Close implements runner.Queue.
func (q *Sender) Close(over bool) error {
	defer q.link.nc.Close()
	if !over {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	// The workers look at the list of runs.
	err := patiently(ctx, func(ctx context.Context) error { return q.link.runs.Purge(ctx, q.run) })
	for s, prefix := range map[jetstream.Stream]string{
		q.link.trials: trialsPrefix, q.link.results: resultsPrefix,
	} {
		err = errors.Join(err,
			patiently(ctx, func(ctx context.Context) error {
				return s.Purge(ctx, jetstream.WithPurgeSubject(prefix+"."+q.run+".>"))
			}),
			patiently(ctx, func(ctx context.Context) error { return s.DeleteConsumer(ctx, q.run) }))
	}
	if err != nil {
		return fmt.Errorf("take the run out of the queue: %w", err)
	}
	return nil
}
