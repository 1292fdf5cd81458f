package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/conclave-bench/conclave/pkg/results"
)

// TestKey_Sign: the signature is HMAC-SHA256 of the subject, a zero and the data, and the digest
// is SHA-256.
func TestKey_Sign(t *testing.T) {
	t.Parallel()
	k := make(key, keyBytes)
	for i := range k {
		k[i] = byte(i)
	}
	m := k.message("conclave.results.queued-1.7", []byte("a block"))
	const want = "7e6a3693d617894ba70c509a14acd0e0f9709ffd1ce276bd346eb233fe9be002"
	if got := m.Header.Get(signature); got != want || m.Subject != "conclave.results.queued-1.7" ||
		string(m.Data) != "a block" {
		t.Errorf("%+v, want the signature %s", m, want)
	}
	if got := digest([]byte("abc")); got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Error(got)
	}
}

// TestKey_Verify: a message counts as it was signed, under its own subject.
func TestKey_Verify(t *testing.T) {
	t.Parallel()
	const subject = "conclave.results.queued-1.7"
	ok := secret.message(subject, []byte("a block")).Header
	for _, c := range []struct {
		name, subject, data string
		header              nats.Header
		key                 key
		want                string
	}{
		{"as it was signed", subject, "a block", ok, secret, ""},
		{"no header", subject, "a block", nil, secret, "it is not signed"},
		{"no signature", subject, "a block", nats.Header{signature: {""}}, secret, "it is not signed"},
		{"another block", subject, "a bloc", ok, secret, "its signature is wrong"},
		{"of another repetition", subject + "0", "a block", ok, secret, "its signature is wrong"},
		{"with the end of the subject in it", subject[:len(subject)-1], "7\x00a block", ok, secret,
			"its signature is wrong"},
		{"of another run", subject, "a block", ok, secret[1:], "its signature is wrong"},
	} {
		err := c.key.verify(&message{subject: c.subject, data: []byte(c.data), header: c.header})
		var bad unusable
		if (err == nil) != (c.want == "") || err != nil && (err.Error() != c.want || !errors.As(err, &bad)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestKeyIn: a key is made once for each file, for nobody else to read; without a file it is another
// one each time.
func TestKeyIn(t *testing.T) {
	t.Parallel()
	a, err := keyIn("")
	if err != nil {
		t.Fatal(err)
	}
	b, err := keyIn("")
	if err != nil || len(a) != keyBytes || len(b) != keyBytes || bytes.Equal(a, b) {
		t.Errorf("%x and %x, %v", a, b, err)
	}
	path := filepath.Join(t.TempDir(), "key")
	made, err := keyIn(path)
	if err != nil {
		t.Fatal(err)
	}
	found, err := keyIn(path)
	if err != nil || len(made) != keyBytes || !bytes.Equal(made, found) || bytes.Equal(made, make(key, keyBytes)) {
		t.Errorf("%x, and then %x, %v", made, found, err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != keyBytes || info.Mode().Perm()&0o077 != 0 &&
		os.PathSeparator == '/' {
		t.Errorf("%v, %v", info, err)
	}
	for name, content := range map[string]string{"empty": "", "short": strings.Repeat("k", keyBytes-1),
		"long": strings.Repeat("k", keyBytes+1)} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if k, err := keyIn(path); k != nil || !strings.HasPrefix(fmt.Sprint(err), "key of the run: ") {
			t.Errorf("%s: %x, %v", name, k, err)
		}
	}
	if k, err := keyIn(filepath.Join(t.TempDir(), "none", "key")); k != nil || !errors.Is(err, fs.ErrNotExist) ||
		!strings.HasPrefix(fmt.Sprint(err), "key of the run: ") {
		t.Errorf("in no folder: %x, %v", k, err)
	}
	if k, err := keyIn(t.TempDir()); k != nil || err == nil || strings.Contains(fmt.Sprint(err), "bytes, expected") {
		t.Errorf("in place of a folder: %x, %v", k, err)
	}
}

// granting is a runner that gives its key to workers, and a worker, each with a connection of its own.
func granting(t *testing.T) (q *Sender, w *worker, connect func() *nats.Conn) {
	t.Helper()
	connect = serverAt(t)
	q = &Sender{link: &link{nc: connect()}, run: "queued-1", head: Run{Program: results.ThisSite().Tool}, key: secret}
	q.announced.Store("as announced")
	if err := q.grants(); err != nil {
		t.Fatal(err)
	}
	if err := q.link.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return q, &worker{link: &link{nc: connect()}, grants: map[string]grant{}}, connect
}

// answered asks again until a busy machine lets the answer come in time.
func answered[T any](question func() (T, error)) (v T, err error) {
	for range 20 {
		if v, err = question(); !errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	return v, err
}

// asks asks the runner of a run for its key.
func asks(t *testing.T, w *worker, run string) (grant, error) {
	t.Helper()
	return answered(func() (grant, error) { return w.ask(t.Context(), run) })
}

// TestGrants: a runner gives its key and the digest of what it has announced to each worker that
// asks, and to the next one at once.
func TestGrants(t *testing.T) {
	t.Parallel()
	q, w, _ := granting(t)
	for range 40 {
		if g, err := asks(t, w, "queued-1"); err != nil || !bytes.Equal(g.Key, secret) || g.Run != "as announced" {
			t.Fatalf("%+v, %v", g, err)
		}
	}
	if _, err := asks(t, w, "queued-2"); !errors.Is(err, errAway) {
		t.Errorf("of a run without a runner: %v", err)
	}
	q.key = secret[1:]
	if _, err := asks(t, w, "queued-1"); fmt.Sprint(err) !=
		"ask its runner for the key: it has 31 bytes, expected 32" {
		t.Error(err)
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if _, err := w.ask(ctx, "queued-1"); err == nil {
		t.Error("who is to end asks")
	}
	w.link.nc.Close()
	if _, err := asks(t, w, "queued-1"); err == nil || errors.Is(err, errAway) {
		t.Errorf("without a connection: %v", err)
	}
	q.link.nc.Close()
	if err := q.grants(); err == nil {
		t.Error("it hears without a connection")
	}
	opening, err := json.Marshal(&opening{Program: results.ThisSite().Tool, Key: "key"})
	if err != nil {
		t.Fatal(err)
	}
	q.grant(&nats.Msg{Data: opening}) // the worker repeats its request
}

// TestGrants_Refused: another program gets no key, nor does whoever names no key to seal it to.
func TestGrants_Refused(t *testing.T) {
	t.Parallel()
	q, w, _ := granting(t)
	ask := func(opening any) (a opened) {
		data, ok := opening.([]byte)
		if !ok {
			var err error
			if data, err = json.Marshal(opening); err != nil {
				t.Fatal(err)
			}
		}
		m, err := w.link.nc.Request(keySubject("queued-1"), data, time.Minute)
		if err == nil {
			err = json.Unmarshal(m.Data, &a)
		}
		if err != nil || a.Sealed != nil || a.Key != "" {
			t.Fatalf("%+v, %v", a, err)
		}
		return a
	}
	ours := results.ThisSite().Tool
	other := results.Tool{Binary: strings.Repeat("b", 64)}
	for want, got := range map[string]string{
		"unexpected end of JSON input":                           ask([]byte("{")).Error,
		"and the worker of bbbbbbbbbbbb":                         ask(&opening{Program: other, Key: "x"}).Error,
		"run queued-1 is of build " + ours.Binary[:12] + ", and": ask(&opening{Program: other}).Error,
		"no key to seal the answer to":                           ask(&opening{Program: ours, Key: "y"}).Error,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	q.head.Program = other
	if _, err := asks(t, w, "queued-1"); !strings.Contains(fmt.Sprint(err), "is of build bbbbbbbbbbbb, and") ||
		!strings.HasPrefix(fmt.Sprint(err), "ask its runner for the key: ") {
		t.Error(err)
	}
}

// TestAsk_Ended: a worker that is to end waits no longer for a runner that says nothing.
func TestAsk_Ended(t *testing.T) {
	t.Parallel()
	connect := serverAt(t)
	runner, w := connect(), &worker{link: &link{nc: connect()}}
	ctx, end := context.WithCancel(t.Context())
	if _, err := runner.Subscribe(keySubject("queued-1"), func(*nats.Msg) { end() }); err != nil {
		t.Fatal(err)
	}
	if err := runner.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.ask(ctx, "queued-1"); err == nil {
		t.Error("it has got a key")
	}
}

// TestKeyOf: a worker asks once for a run, and again if that was announced anew. It takes no part in
// one that the queue holds otherwise than its runner has announced it.
func TestKeyOf(t *testing.T) {
	t.Parallel()
	q, w, _ := granting(t)
	keys := func(run, announced string) (key, error) {
		return answered(func() (key, error) { return w.keyOf(t.Context(), run, announced) })
	}
	if k, err := keys("queued-1", "altered"); k != nil || len(w.grants) != 0 ||
		fmt.Sprint(err) != "its data in the queue differ from what its runner announced" {
		t.Errorf("%x, %v", k, err)
	}
	if k, err := keys("queued-1", "as announced"); err != nil || !bytes.Equal(k, secret) {
		t.Fatalf("%x, %v", k, err)
	}
	if k, err := keys("queued-2", ""); k != nil || !errors.Is(err, errAway) {
		t.Errorf("of one that it has not heard of: %x, %v", k, err)
	}
	q.announced.Store("anew")
	q.key = key(bytes.Repeat([]byte{8}, keyBytes))
	if k, err := keys("queued-1", "as announced"); err != nil || !bytes.Equal(k, secret) {
		t.Errorf("once more: %x, %v", k, err)
	}
	if k, err := keys("queued-1", "anew"); err != nil || !bytes.Equal(k, q.key) {
		t.Errorf("anew: %x, %v", k, err)
	}
	if k, err := keys("queued-2", "anew"); k != nil || !errors.Is(err, errAway) {
		t.Errorf("of another run: %x, %v", k, err)
	}
}

// TestRun_Same: a worker of another platform takes part in simulated runs of its program, and in no others.
func TestRun_Same(t *testing.T) {
	t.Parallel()
	ours, theirs := results.Tool{Source: "commit c1", Binary: "a"}, results.Tool{Source: "commit c1", Binary: "b"}
	for _, virtual := range []bool{true, false} {
		r := Run{Program: ours, Virtual: virtual}
		if r.same(theirs) != virtual || !r.same(ours) || r.same(results.Tool{Binary: "b"}) {
			t.Errorf("virtual %v: %v, %v", virtual, r.same(theirs), r.same(ours))
		}
	}
}
