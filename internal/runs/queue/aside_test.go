package queue

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/conclave-bench/conclave/internal/runs/work"
)

// TestPrintable: what somebody else has sent takes one line of bounded length, and does nothing to
// a terminal.
func TestPrintable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain, and ünïcode": "plain, and ünïcode", "two\nlines\r\x1b[31m": "two?lines??[31m", "\u202eback": "?back",
		strings.Repeat("ü", mostWhy):   strings.Repeat("ü", mostWhy),
		strings.Repeat("ü", mostWhy+1): strings.Repeat("ü", mostWhy),
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestLink_Aside: a message of no use is taken out of the queue, and then kept with the reason, as
// much of it as a message may have.
func TestLink_Aside(t *testing.T) {
	t.Parallel()
	nc := serverAt(t)()
	most := int(nc.MaxPayload()) - asideHeads
	for size, c := range map[int]struct {
		kept int
		size string
	}{0: {0, ""}, 7: {7, ""}, most: {most, ""}, most + 1: {most, fmt.Sprint(most + 1)}} {
		f, at := newFeed(t.Context(), t)
		l := f.worker.link
		l.nc = nc
		m := &message{subject: "conclave.results.queued-1.3", data: make([]byte, size)}
		at.publish = func(ctx context.Context) error {
			if deadline, ok := ctx.Deadline(); m.done() != "ack, and sure" || !ok || time.Until(deadline) > closeTimeout {
				t.Errorf("%q, and until %v", m.done(), deadline)
			}
			return nil
		}
		l.aside(t.Context(), m, errors.New("no\nuse"))
		if len(at.published) != 1 || len(at.asked) != 0 {
			t.Fatalf("%d are kept, %q", len(at.published), at.asked)
		}
		got := at.published[0]
		if got.Subject != "conclave.aside.results.queued-1.3" || len(got.Data) != c.kept ||
			got.Header.Get(asideWhy) != "no?use" || got.Header.Get(asideSize) != c.size {
			t.Errorf("%d bytes: %s, %d of them, %v", size, got.Subject, len(got.Data), got.Header)
		}
	}
	f, at := newFeed(t.Context(), t) // where no message may be larger than its head
	f.worker.link.aside(t.Context(), block(t, 3), errors.New("no use"))
	if got := at.published; len(got) != 1 || len(got[0].Data) != 0 || got[0].Header.Get(asideSize) == "" {
		t.Errorf("%+v", got)
	}
	f, at = newFeed(t.Context(), t)
	at.publish = func(context.Context) error { return errors.New("the stream is sealed") }
	m := block(t, 3)
	f.worker.link.aside(t.Context(), m, errors.New("no use"))
	if want := []string{"conclave.trials.queued-1.3 could not be kept: the stream is sealed"}; m.done() != "ack, and sure" ||
		!slices.Equal(at.asked, want) {
		t.Errorf("%q, want %q", at.asked, want)
	}
}

// TestSender_Named: the block for which a message stood that was set aside is run again. The user is
// told of some of them.
func TestSender_Named(t *testing.T) {
	t.Parallel()
	f, at := newFeed(t.Context(), t)
	q := &Sender{link: f.worker.link, run: "queued-1", key: secret, note: at.say,
		out: map[int]work.Block{3: {Number: 3, Trials: []int{1}, Orders: []int{2}}, 0: {}}}
	for _, c := range []struct {
		subject, note string
		again         bool
	}{
		{"conclave.results.queued-1.3", "conclave.results.queued-1.3 was not usable, and is set aside: no?use; " +
			"block 3 is run again; bench queue list shows it", true},
		{"conclave.results.queued-1.4", "conclave.results.queued-1.4 was not usable, and is set aside: no?use; " +
			"bench queue list shows it", false},
		{"conclave.results.queued-1.\n", "conclave.results.queued-1.? was not usable, and is set aside: no?use; " +
			"bench queue list shows it", false},
		{"3", "3 was not usable, and is set aside: no?use; block 3 is run again; bench queue list shows it", true},
	} {
		at.asked, at.published = nil, nil
		if err := q.named(t.Context(), c.subject, "no\nuse"); err != nil {
			t.Error(err)
		}
		if !slices.Equal(at.asked, []string{c.note}) || (len(at.published) == 1) != c.again {
			t.Errorf("%q: %q, %d blocks are sent, want %q", c.subject, at.asked, len(at.published), c.note)
		}
		for _, m := range at.published {
			if m.Subject != "conclave.trials.queued-1.3" || string(m.Data) != `{"number":3,"trials":[1],"orders":[2]}` {
				t.Errorf("%s: %s", m.Subject, m.Data)
			}
		}
	}
	at.asked, at.published = nil, nil
	for range mostNamed {
		if err := q.named(t.Context(), "conclave.results.queued-1.3", "no use"); err != nil {
			t.Error(err)
		}
	}
	if n := len(at.asked); n != mostNamed-4+1 || at.asked[n-1] !=
		"more messages were set aside; bench queue list shows them" || len(at.published) != mostNamed {
		t.Errorf("%d notes, %d blocks: %q", n, len(at.published), at.asked)
	}
	at.publish = func(context.Context) error { return errors.New("the stream is sealed") }
	if err := q.named(t.Context(), "conclave.results.queued-1.3", "no use"); err == nil {
		t.Error("it was sent again")
	}
}

// kept are messages that were set aside.
type kept struct {
	jetstream.Stream
	state jetstream.StreamState
	of    map[uint64]*jetstream.RawStreamMsg
	fails error
}

func (k *kept) Info(context.Context, ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	return &jetstream.StreamInfo{State: k.state}, k.fails
}

func (k *kept) GetMsg(_ context.Context, n uint64, _ ...jetstream.GetMsgOpt) (*jetstream.RawStreamMsg, error) {
	if k.state.LastSeq == 99 {
		return nil, errors.New("no leader")
	}
	if m := k.of[n]; m != nil {
		return m, nil
	}
	return nil, jetstream.ErrMsgNotFound
}

// TestLink_Asides: what was set aside is listed from the oldest on, as it was; what was removed
// meanwhile is not.
func TestLink_Asides(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	set := &kept{of: map[uint64]*jetstream.RawStreamMsg{
		4: {Subject: "conclave.aside.results.queued-1.3", Data: []byte("abc"), Time: at,
			Header: nats.Header{asideWhy: {"no use"}}},
		6: {Subject: "conclave.aside.trials.queued-2.1", Data: []byte("abc"), Time: at.Add(time.Second),
			Header: nats.Header{asideWhy: {"too large"}, asideSize: {"4000000"}}},
	}}
	l := &link{set: set}
	if got, err := l.asides(t.Context()); len(got) != 0 || err != nil {
		t.Errorf("%+v, %v of an empty stream", got, err)
	}
	set.state = jetstream.StreamState{FirstSeq: 4, LastSeq: 6, Msgs: 2}
	want := []Aside{{"conclave.results.queued-1.3", "no use", 3, at, 4},
		{"conclave.trials.queued-2.1", "too large", 4000000, at.Add(time.Second), 6}}
	if got, err := l.asides(t.Context()); !reflect.DeepEqual(got, want) || err != nil {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	set.state = jetstream.StreamState{FirstSeq: 4, LastSeq: 6} // all of them were removed
	if got, err := l.asides(t.Context()); len(got) != 0 || err != nil {
		t.Errorf("%+v, %v of a stream that was emptied", got, err)
	}
	set.state = jetstream.StreamState{FirstSeq: 99, LastSeq: 99, Msgs: 1}
	if got, err := l.asides(t.Context()); got != nil || fmt.Sprint(err) != "no leader" {
		t.Errorf("%+v, %v", got, err)
	}
	set.fails = errors.New("no such stream")
	if got, err := l.asides(t.Context()); got != nil || !errors.Is(err, set.fails) {
		t.Errorf("%+v, %v", got, err)
	}
}
