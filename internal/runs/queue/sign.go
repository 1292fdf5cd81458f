package queue

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/conclave-bench/conclave/internal/base/files"
)

// A key is a secret of one run. Its runner makes it and gives it to workers in confidence;
// whatever either puts into the queue is signed with it.
type key []byte

const keyBytes = 32

// signature is the header of a message that holds its signature (HMAC-SHA256).
const signature = "Conclave-Signature"

// sign is the signature of a message. It covers the subject, so a block or a result counts for
// its own block of its own run alone.
func (k key) sign(subject string, data []byte) string {
	h := hmac.New(sha256.New, k)
	_, _ = io.WriteString(h, subject+"\x00") // to memory
	_, _ = h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// An unusable is why a message or a file of the queue is of no use. It is set aside.
type unusable struct{ error }

// verify refuses a message that nobody who knows the key has sent.
func (k key) verify(m jetstream.Msg) error {
	return k.verifies(m.Subject(), m.Data(), m.Headers().Get(signature))
}

// verifies is verify for what a message consists of.
func (k key) verifies(subject string, data []byte, got string) error {
	switch {
	case got == "":
		return unusable{errors.New("it is not signed")}
	case !hmac.Equal([]byte(got), []byte(k.sign(subject, data))):
		return unusable{errors.New("its signature is wrong")}
	}
	return nil
}

// message is a signed message.
func (k key) message(subject string, data []byte) *nats.Msg {
	return &nats.Msg{Subject: subject, Data: data,
		Header: nats.Header{signature: {k.sign(subject, data)}}}
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// keyIn is the key that the file has, which this makes if there is none: the runner of a run
// that is resumed must know what its workers sign with. It is of no use once the run is over.
// Without a file the key lives as long as this process.
func keyIn(path string) (key, error) {
	k := make(key, keyBytes)
	_, _ = rand.Read(k) // it never fails
	if path == "" {
		return k, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = f.Write(k)
		return k, errors.Join(err, f.Sync(), f.Close())
	}
	if k, err = files.Read(path, keyBytes); err == nil && len(k) != keyBytes {
		err = fmt.Errorf("%s has %d bytes, expected %d; remove it, and blocks whose results are still in "+
			"the queue are run again", path, len(k), keyBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("key of the run: %w", err)
	}
	return k, nil
}

// keySubject is where the runner of a run is asked for its key.
func keySubject(run string) string { return "conclave.runner.key." + run }

// A grant is what a runner tells a worker in confidence.
type grant struct {
	Key key    `json:"key"`
	Run string `json:"run"` // the digest of what it has announced
}

// grants answers workers that ask for the key, one after the other, until the connection ends.
func (q *Sender) grants() error {
	_, err := q.link.nc.Subscribe(keySubject(q.run), q.grant)
	return err
}

func (q *Sender) grant(m *nats.Msg) {
	var o opening
	var a opened
	err := json.Unmarshal(m.Data, &o)
	switch {
	case err != nil:
	case !q.head.same(o.Program):
		err = fmt.Errorf("run %s is of build %.12s, and the worker of %.12s", q.run, q.head.Program.Binary,
			o.Program.Binary)
	default:
		a, err = sealed(&grant{q.key, q.announced.Load().(string)}, o.Key)
	}
	if err != nil {
		a = opened{Error: err.Error()}
	}
	answer, _ := json.Marshal(&a) // strings and bytes
	_ = m.Respond(answer)         // one that hears nothing asks again
}

// errAway is that a run has no runner just now.
var errAway = errors.New("its runner does not answer")

// ask asks the runner of a run for its key.
func (w *worker) ask(ctx context.Context, run string) (grant, error) {
	g, err := ask[grant](ctx, w.link.nc, keySubject(run), "", 0)
	if errors.Is(err, nats.ErrNoResponders) {
		return g, errAway
	}
	if err == nil && len(g.Key) != keyBytes {
		err = fmt.Errorf("it has %d bytes, expected %d", len(g.Key), keyBytes)
	}
	if err != nil {
		return g, fmt.Errorf("ask its runner for the key: %w", err)
	}
	return g, nil
}

// keyOf is the key of a run that the queue has announced with such a digest.
func (w *worker) keyOf(ctx context.Context, run, announced string) (key, error) {
	if g, ok := w.grants[run]; ok && g.Run == announced {
		return g.Key, nil
	}
	g, err := w.ask(ctx, run)
	if err != nil {
		return nil, err
	}
	if g.Run != announced {
		return nil, errors.New("its data in the queue differ from what its runner announced")
	}
	w.grants[run] = g
	return g.Key, nil
}
