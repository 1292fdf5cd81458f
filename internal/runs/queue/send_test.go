package queue

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/conclave-bench/conclave/internal/runs/work"
)

// A farBus acknowledges what is published one round trip later.
type farBus struct {
	fakeBus
	trip    time.Duration
	refuses string // a subject whose message gets lost at first
}

type ack struct {
	jetstream.PubAckFuture
	ok  chan *jetstream.PubAck
	err chan error
}

func (a *ack) Ok() <-chan *jetstream.PubAck { return a.ok }
func (a *ack) Err() <-chan error            { return a.err }

func (b *farBus) PublishMsgAsync(m *nats.Msg, _ ...jetstream.PublishOpt) (jetstream.PubAckFuture, error) {
	a := &ack{ok: make(chan *jetstream.PubAck, 1), err: make(chan error, 1)}
	if m.Subject == b.refuses {
		a.err <- errors.New("no leader")
		return a, nil
	}
	time.AfterFunc(b.trip, func() {
		_, _ = b.PublishMsg(context.Background(), m)
		a.ok <- &jetstream.PubAck{}
	})
	return a, nil
}

// TestSender_Send: 1000 blocks take a few round trips, and one that got lost is sent again.
func TestSender_Send(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, at := newFeed(t.Context(), t)
		far := &farBus{fakeBus: fakeBus{f: at}, trip: 40 * time.Millisecond,
			refuses: subjectOf(trialsPrefix, "queued-1", 700)}
		f.worker.link.js = far
		q := &Sender{link: f.worker.link, run: "queued-1", key: secret, note: at.say, out: map[int]work.Block{},
			left: map[int]int{}}
		var blocks []work.Block
		for i := range 1000 {
			blocks = append(blocks, work.Block{Number: i + 1, Trials: []int{i + 1}, Orders: []int{i + 1}})
		}
		begun := time.Now()
		if err := q.Send(t.Context(), blocks); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took != 2*far.trip {
			t.Errorf("%v, want two round trips of %v", took, far.trip)
		}
		var subjects []string
		for _, m := range at.published {
			subjects = append(subjects, m.Subject)
		}
		slices.Sort(subjects)
		if n := len(slices.Compact(subjects)); n != 1000 || len(at.published) != 1000 || len(q.left) != 1000 {
			t.Errorf("%d messages, %d subjects, %d trials are waited for", len(at.published), n, len(q.left))
		}
	})
}

// TestSender_Keep: what is left of a block is what has not been handed over.
func TestSender_Keep(t *testing.T) {
	t.Parallel()
	q := &Sender{out: map[int]work.Block{}, left: map[int]int{}}
	b := work.Block{Number: 3, Trials: []int{7, 8, 9}, Orders: []int{3, 4, 5}}
	q.out[3] = b
	for _, trial := range b.Trials {
		q.left[trial] = 3
	}
	part := &parcel{Block: work.Block{Number: 4, Trials: []int{8}, Orders: []int{4}}, Of: 3}
	if !q.waits(part) {
		t.Error("it is not waited for")
	}
	q.keep(part)
	if got := q.out[3]; q.waits(part) || !slices.Equal(got.Trials, []int{7, 9}) || !slices.Equal(got.Orders, []int{3, 5}) {
		t.Errorf("%+v is left", got)
	}
	q.keep(&parcel{Block: b, Of: 3})
	if len(q.out)+len(q.left) != 0 {
		t.Errorf("%v, %v are left", q.out, q.left)
	}
}

// TestFeed_Passes: a machine that has met the cells of a real block more often than others leaves it to
// another machine, but not at the end of the run, and not for ever.
func TestFeed_Passes(t *testing.T) {
	t.Parallel()
	f, _ := newFeed(t.Context(), t)
	f.run.Virtual, f.experiment = false, experimentOf(t)
	first, second := &work.Block{Trials: []int{1, 13}}, &work.Block{Trials: []int{25, 37}}
	some := &jetstream.MsgMetadata{NumDelivered: 1, NumPending: 5}
	if f.passes(first, some) {
		t.Error("it has met nothing, and passes")
	}
	f.meets(first)
	if !f.passes(first, some) || f.passes(second, some) {
		t.Error("it does not prefer what it has not met")
	}
	for _, meta := range []jetstream.MsgMetadata{{NumDelivered: mostPasses + 1, NumPending: 5}, {NumDelivered: 1}} {
		if f.passes(first, &meta) {
			t.Errorf("it passes at %+v", meta)
		}
	}
}
