package queue

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/conclave-bench/conclave/pkg/bus"
)

// serverAt starts a server of NATS, and gives connections to it.
func serverAt(t *testing.T) (connect func() *nats.Conn) {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("NATS is not ready")
	}
	return func() *nats.Conn {
		nc, err := nats.Connect(s.ClientURL())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		return nc
	}
}

// TestAsk: the answer is for whoever has asked alone. One that it may be better in a moment is asked for
// again, for so long, and another refusal is none.
func TestAsk(t *testing.T) {
	t.Parallel()
	connect := serverAt(t)
	nc := connect()
	var seen []opened
	times := 0
	if _, err := nc.Subscribe("secret", func(m *nats.Msg) {
		var o opening
		a, err := opened{Error: "busy", Later: true}, json.Unmarshal(m.Data, &o)
		if times++; times > 1 {
			a, err = sealed("a secret of the run", o.Key)
		}
		if o.Inbox != "_INBOX.why" {
			t.Errorf("the reason is sent to %q", o.Inbox)
		}
		if err != nil {
			t.Error(err)
		}
		seen = append(seen, a)
		answer, _ := json.Marshal(&a) // strings and bytes
		_ = m.Respond(answer)
	}); err != nil {
		t.Fatal(err)
	}
	refusals := 0
	if _, err := nc.Subscribe("refused", func(m *nats.Msg) { refusals++; _ = m.Respond([]byte(`{"error": "no"}`)) }); err != nil {
		t.Fatal(err)
	}
	if _, err := nc.Subscribe("damaged", func(m *nats.Msg) { _ = m.Respond([]byte(`{"sealed": "eHh4"}`)) }); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := ask[string](t.Context(), nc, "secret", "_INBOX.why", 0); fmt.Sprint(err) != "busy" {
		t.Errorf("while it is busy: %v", err)
	}
	times = 0
	got, err := ask[string](t.Context(), connect(), "secret", "_INBOX.why", time.Minute)
	if err != nil || got != "a secret of the run" || len(seen) != 3 {
		t.Fatalf("%q, %v, after %d answers", got, err, len(seen))
	}
	stranger, err := nkeys.CreateCurveKeys()
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := stranger.Open(seen[2].Sealed, seen[2].Key); err == nil || bytes.Contains(seen[2].Sealed, []byte("secret")) {
		t.Errorf("a stranger reads %q", plain)
	}
	for subject, want := range map[string]string{"refused": "no", "damaged": "the answer cannot be read: nkeys: "} {
		if _, err := ask[string](t.Context(), nc, subject, "", time.Minute); !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("%s: %v", subject, err)
		}
	}
	if refusals != 1 {
		t.Errorf("a question that is refused is asked %d times", refusals)
	}
	if _, err := ask[string](t.Context(), nc, "nobody", "", 0); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("nobody: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), askAgain/2)
	defer cancel()
	if _, err := ask[string](ctx, nc, "nobody", "", time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("nobody, for a short time: %v", err)
	}
	late := make(chan error, 1)
	time.AfterFunc(askAgain/2, func() {
		_, err := nc.Subscribe("late", func(m *nats.Msg) { _ = m.Respond([]byte(`{"error": "here I am"}`)) })
		late <- errors.Join(err, nc.Flush())
	})
	if _, err := ask[string](t.Context(), nc, "late", "", time.Minute); fmt.Sprint(err) != "here I am" {
		t.Errorf("a listener that starts late does not answer: %v", err)
	}
	if err := <-late; err != nil {
		t.Error(err)
	}
}

// TestSealed: a value that cannot be sealed gives an error and an empty answer.
func TestSealed(t *testing.T) {
	t.Parallel()
	reader, err := nkeys.CreateCurveKeys()
	if err != nil {
		t.Fatal(err)
	}
	key, err := reader.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	for to, v := range map[string]any{"": "for nobody", "UNKEY": "for another kind of key", key: make(chan int)} {
		if a, err := sealed(v, to); err == nil || a.Key != "" || a.Sealed != nil {
			t.Errorf("%v: %+v, %v", v, a, err)
		}
	}
}

// TestHost_Stranger: whoever connects to a worker's machine without its certificate is turned away, and
// does not keep bench out.
func TestHost_Stranger(t *testing.T) {
	t.Parallel()
	a, err := bus.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	proof, err := a.Issue("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	other, err := bus.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	forged, err := other.Issue("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	serve, err := proof.Server(true)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	met := make(chan *tls.Conn, 1)
	go func() {
		conn, _ := accept(t.Context(), l, serve) // nil then
		met <- conn
	}()
	if c, err := net.Dial("tcp", l.Addr().String()); err != nil || c.Close() != nil {
		t.Error(err)
	}
	for _, who := range []*bus.TLS{{CA: proof.CA}, {CA: proof.CA, Cert: forged.Cert, Key: forged.Key}, proof} {
		cfg, err := who.Client()
		if err != nil {
			t.Fatal(err)
		}
		c, err := tls.Dial("tcp", l.Addr().String(), cfg)
		if err == nil {
			_, err = c.Write([]byte("hello"))
		}
		if who == proof {
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			break
		}
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("a stranger is let in")
		}
	}
	conn := <-met
	if conn == nil {
		t.Fatal("bench is kept out")
	}
	defer conn.Close()
	got := make([]byte, 5)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
}

// An echo is a program that says what it hears, and ends with its input.
type echo struct {
	*io.PipeReader
	*io.PipeWriter
	out  *io.PipeReader
	done chan struct{}
	once sync.Once
	why  string
}

func newEcho() *echo {
	e := &echo{done: make(chan struct{})}
	var out *io.PipeWriter
	e.PipeReader, e.PipeWriter = io.Pipe()
	e.out, out = io.Pipe()
	go func() {
		_, err := io.Copy(out, e.PipeReader)
		if e.end("exit code 0"); err != nil {
			_ = out.CloseWithError(io.EOF)
		}
		_ = out.Close()
	}()
	return e
}

func (e *echo) end(why string)                   { e.once.Do(func() { e.why = why; close(e.done) }) }
func (e *echo) Read(b []byte) (int, error)       { return e.out.Read(b) }
func (e *echo) Write(b []byte) (int, error)      { return e.PipeWriter.Write(b) }
func (e *echo) SetWriteDeadline(time.Time) error { return nil }

// CloseWrite returns when the program has had time to end.
func (e *echo) CloseWrite() error {
	err := e.PipeWriter.Close()
	time.Sleep(time.Millisecond)
	return err
}

func (e *echo) Done() <-chan struct{} { return e.done }
func (e *echo) Obituary() string      { <-e.done; return e.why }
func (e *echo) Kill()                 { e.end("SIGKILL"); _ = e.PipeReader.CloseWithError(io.EOF); _ = e.out.Close() }
func (e *echo) Close()                { e.Kill() }

// proven are both ends of a connection with the certificate of a run.
func proven(t *testing.T) (bench, worker *tls.Conn) {
	t.Helper()
	a, err := bus.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	proof, err := a.Issue("lab1")
	if err != nil {
		t.Fatal(err)
	}
	serve, err := proof.Server(true)
	if err != nil {
		t.Fatal(err)
	}
	dial, err := proof.Client()
	if err != nil {
		t.Fatal(err)
	}
	dial.ServerName = "lab1"
	ours, theirs := net.Pipe()
	return tls.Client(ours, dial), tls.Server(theirs, serve)
}

// TestCarry: what is said arrives both ways, and the end of either end is that of the other, with the
// reason. A bench that says nothing for long is taken for gone.
func TestCarry(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(bench *tls.Conn, e *echo, end func())
		want string
	}{
		"its input ends": {func(b *tls.Conn, _ *echo, _ func()) { _ = b.CloseWrite() }, "exit code 0"},
		"it is killed":   {func(_ *tls.Conn, e *echo, _ func()) { e.Kill() }, "SIGKILL"},
		"bench is gone":  {func(b *tls.Conn, _ *echo, _ func()) { _ = b.NetConn().Close() }, "exit code 0"},
		"bench is silent": {func(*tls.Conn, *echo, func()) {},
			"nothing came from bench for 6s"},
		"the worker ends": {func(_ *tls.Conn, _ *echo, end func()) { end() }, "its worker was ended"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancel(t.Context())
				defer end()
				bench, worker := proven(t)
				e, told, over := newEcho(), "", make(chan string, 1)
				go func() { over <- carry(ctx, worker, e, func(why string) { told = why }) }()
				got := make([]byte, 5)
				for range 5 { // beats keep it awake
					time.Sleep(silence / 2)
					if _, err := bench.Write([]byte("hello")); err != nil {
						t.Fatal(err)
					}
					if _, err := io.ReadFull(bench, got); err != nil || string(got) != "hello" {
						t.Fatalf("%q, %v", got, err)
					}
				}
				go func() { _, _ = io.Copy(io.Discard, bench) }()
				c.do(bench, e, end)
				if why := <-over; why != c.want || told != c.want {
					t.Errorf("%q, and it told %q, want %q", why, told, c.want)
				}
				select {
				case <-e.Done():
				default:
					t.Error("the program is left")
				}
				_ = bench.NetConn().Close()
				time.Sleep(time.Second) // CloseWrite returns
			})
		})
	}
}

// TestWorker_Turn: the queue and an agent exclude each other, and an agent that waits is next.
func TestWorker_Turn(t *testing.T) {
	t.Parallel()
	w := &worker{}
	for i, step := range []struct{ got, want bool }{
		{w.take(ofQueue), true}, {w.take(ofQueue), true}, {w.take(ofAgent), false},
		{func() bool { w.leave(ofAgent); return w.take(ofAgent) }(), false},
		{func() bool { w.leave(ofQueue); w.wanted = true; return w.take(ofQueue) }(), false},
		{w.take(ofAgent), true}, {w.take(ofAgent), false}, {w.take(ofQueue), false},
		{func() bool { w.leave(ofAgent); w.wanted = false; return w.take(ofQueue) }(), true},
	} {
		if step.got != step.want {
			t.Errorf("step %d: %v, want %v", i+1, step.got, step.want)
		}
	}
}

// TestUnpack: a message unfolds to as much as it may, and to no more.
func TestUnpack(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	for size, want := range map[int]bool{most: true, most + 1: false, 900 * most: false} {
		data := bytes.Repeat(pack(make([]byte, min(size, most))), max(size/most, 1)) // gzip of several parts is one
		if size == most+1 {
			data = pack(make([]byte, size))
		}
		got, err := unpack(data, most)
		if (err == nil) != want || len(got) > most+1 {
			t.Errorf("%d bytes: %d and %v, want them: %v", size, len(got), err, want)
		}
	}
}
