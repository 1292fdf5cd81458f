package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/conclave-bench/conclave/pkg/results"
)

// An opening asks for something in confidence: the answer is sealed to a key that its reader made
// for this question. NATS carries both and can read neither.
type opening struct {
	Program results.Tool `json:"program"` // that asks
	Key     string       `json:"key"`
	Inbox   string       `json:"inbox,omitempty"` // for why an agent has ended
}

// An opened is the answer.
type opened struct {
	Key    string `json:"key,omitempty"` // of the process that answers
	Sealed []byte `json:"sealed,omitempty"`
	Error  string `json:"error,omitempty"`
	Later  bool   `json:"later,omitempty"` // it may be better in a moment
}

// sealed is v for the reader of a key alone.
func sealed(v any, to string) (a opened, err error) {
	if !nkeys.IsValidPublicCurveKey(to) {
		return a, errors.New("no key to seal the answer to")
	}
	data, err := json.Marshal(v)
	if err != nil {
		return a, err
	}
	own, err := nkeys.CreateCurveKeys()
	if err == nil {
		a.Key, err = own.PublicKey()
	}
	if err == nil {
		a.Sealed, err = own.Seal(data, to)
	}
	return a, err
}

// askAgain is how long to wait before a question is repeated.
const askAgain = 250 * time.Millisecond

// ask asks whoever listens to a subject for something in confidence, until there is an answer, for as
// long as within.
func ask[T any](ctx context.Context, nc *nats.Conn, subject, inbox string, within time.Duration) (
	v T, err error) {
	own, err := nkeys.CreateCurveKeys()
	if err != nil {
		return v, err
	}
	o := opening{Program: results.ThisSite().Tool, Inbox: inbox}
	if o.Key, err = own.PublicKey(); err != nil {
		return v, err
	}
	question, err := json.Marshal(&o)
	if err != nil {
		return v, err
	}
	for deadline := time.Now().Add(within); ; pause(ctx, askAgain) {
		var a opened
		once, cancel := context.WithTimeout(ctx, turnWait+askTimeout)
		m, err := nc.RequestWithContext(once, subject, question)
		cancel()
		if err == nil {
			err = json.Unmarshal(m.Data, &a)
		}
		if err == nil && a.Error == "" {
			data, err := own.Open(a.Sealed, a.Key)
			if err == nil {
				err = json.Unmarshal(data, &v)
			}
			if err != nil {
				return v, fmt.Errorf("the answer cannot be read: %w", err)
			}
			return v, nil
		}
		if err == nil {
			err = errors.New(a.Error)
		}
		if a.Error == "" && ctx.Err() != nil {
			err = context.Cause(ctx) // whatever the last answer was
		}
		if a.Error != "" && !a.Later || ctx.Err() != nil || !time.Now().Before(deadline) {
			return v, err
		}
	}
}
