package queue

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/conclave-bench/conclave/internal/base/text"
	"github.com/conclave-bench/conclave/internal/runs/work"
)

const (
	asideStream = "CONCLAVE_ASIDE"
	asidePrefix = "conclave.aside"
	// mostAside is how many messages are kept; older ones go.
	mostAside = 256
	// asideWhy is the header that has the reason, and asideSize that has how many bytes there
	// were of a message of which not all are kept.
	asideWhy, asideSize = "Conclave-Reason", "Conclave-Size"
	asideHeads          = 4 << 10 // room for headers in a message
	mostWhy             = 200     // characters of a reason
)

// asideOf is where a message with that subject is put aside.
func asideOf(subject string) string {
	return asidePrefix + strings.TrimPrefix(subject, "conclave")
}

// Printable is a text that somebody else has sent, on one line of bounded length.
func Printable(s string) string {
	return fmt.Sprintf("%.*s", mostWhy, text.Printable(s))
}

// aside takes a message of no use out of the queue, and keeps it where it can be looked at. One
// that stays in the queue comes again.
func (l *link) aside(ctx context.Context, m jetstream.Msg, why error) {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	// First of all it is out of the way: who hears of it may send another in its place.
	_ = l.patiently(ctx, m.DoubleAck)
	kept := &nats.Msg{Subject: asideOf(m.Subject()), Data: m.Data(),
		Header: nats.Header{asideWhy: {Printable(why.Error())}}}
	if most := int(l.nc.MaxPayload()) - asideHeads; len(kept.Data) > most {
		kept.Header.Set(asideSize, strconv.Itoa(len(kept.Data)))
		kept.Data = kept.Data[:max(most, 0)]
	}
	err := l.patiently(ctx, func(ctx context.Context) error {
		_, err := l.js.PublishMsg(ctx, kept)
		return err
	})
	if err != nil {
		l.note(fmt.Sprintf("%s could not be kept: %v", Printable(m.Subject()), err))
	}
}

// mostNamed is how many messages that were set aside a runner names.
const mostNamed = 20

// named tells the user of a message that was set aside, and has the block that it stood for run
// again.
func (q *Sender) named(ctx context.Context, subject, why string) error {
	var b work.Block
	waited := false
	if n, err := strconv.Atoi(subject[strings.LastIndexByte(subject, '.')+1:]); err == nil {
		q.mu.Lock()
		b, waited = q.out[n]
		q.mu.Unlock()
	}
	then := "bench queue list shows it"
	if waited {
		then = fmt.Sprintf("block %d is run again; %s", b.Number, then)
	}
	switch q.asides++; {
	case q.asides <= mostNamed:
		q.note(fmt.Sprintf("%s was not usable, and is set aside: %s; %s", Printable(subject),
			Printable(why), then))
	case q.asides == mostNamed+1:
		q.note("more messages were set aside; bench queue list shows them")
	}
	if waited {
		return q.sendOne(ctx, b)
	}
	return nil
}

// An Aside is a message that was set aside.
type Aside struct {
	Subject  string    `json:"subject"`
	Reason   string    `json:"reason"`
	Bytes    int       `json:"bytes"`
	At       time.Time `json:"at"`
	Sequence uint64    `json:"sequence"` // in the stream CONCLAVE_ASIDE
}

// asides are the messages that were set aside, the oldest first.
func (l *link) asides(ctx context.Context) (list []Aside, err error) {
	var info *jetstream.StreamInfo
	err = l.patiently(ctx, func(ctx context.Context) (err error) {
		info, err = l.set.Info(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	for n := info.State.FirstSeq; n <= info.State.LastSeq && info.State.Msgs > 0; n++ {
		var m *jetstream.RawStreamMsg
		err := l.patiently(ctx, func(ctx context.Context) (err error) {
			m, err = l.set.GetMsg(ctx, n)
			return err
		})
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue // removed
		}
		if err != nil {
			return nil, err
		}
		size, err := strconv.Atoi(m.Header.Get(asideSize))
		if err != nil {
			size = len(m.Data)
		}
		list = append(list, Aside{Subject: "conclave" + strings.TrimPrefix(m.Subject, asidePrefix),
			Reason: m.Header.Get(asideWhy), Bytes: size, At: m.Time, Sequence: n})
	}
	return list, nil
}
