package queue

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// bus starts a server of NATS, and gives connections to it.
func bus(t *testing.T) (connect func() *nats.Conn) {
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

// pair is the two ends of a session, at a server that keeps all that it carries.
func pair(t *testing.T, begin ...bool) (lead, other *session, seen func() [][]byte) {
	t.Helper()
	connect := bus(t)
	var mu sync.Mutex
	var all [][]byte
	spy := connect()
	if _, err := spy.Subscribe(">", func(m *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, m.Data)
	}); err != nil {
		t.Fatal(err)
	}
	if err := spy.Flush(); err != nil {
		t.Fatal(err)
	}
	var ends [2]*session
	var keys [2]string
	for i := range ends {
		var err error
		if ends[i], keys[i], err = newSession(connect(), i == 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(ends[i].Close)
		if err := ends[i].nc.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range ends {
		if len(begin) > 0 && !begin[i] {
			continue
		}
		if err := ends[i].begin(ends[1-i].sub.Subject, keys[1-i]); err != nil {
			t.Fatal(err)
		}
	}
	return ends[0], ends[1], func() [][]byte {
		sent := 0
		for _, s := range ends {
			s.mu.Lock()
			sent += int(s.number)
			s.mu.Unlock()
			if err := s.nc.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		// A frame may have reached its reader, and not yet the spy.
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			mu.Lock()
			frames := all
			mu.Unlock()
			if len(frames) >= sent {
				return frames
			}
			if time.Now().After(deadline) {
				t.Fatalf("the server has carried %d of %d frames", len(frames), sent)
			}
		}
	}
}

// TestSession: much arrives whole, both ways at once and more than may be on its way; what is
// read on the server, sent again, sent back or made up has no effect.
func TestSession(t *testing.T) {
	t.Parallel()
	lead, other, seen := pair(t)
	secret := bytes.Repeat([]byte("a secret of the run "), 3*window/20)
	var both sync.WaitGroup
	for _, way := range [][2]*session{{lead, other}, {other, lead}} {
		both.Go(func() {
			if _, err := way[0].Write(secret); err != nil {
				t.Error(err)
			}
		})
		both.Go(func() {
			got := make([]byte, len(secret))
			if _, err := io.ReadFull(way[1], got); err != nil || !bytes.Equal(got, secret) {
				t.Errorf("%v, or it is not what was sent", err)
			}
		})
	}
	both.Wait()
	frames := seen()
	if len(frames) < 6*window/atMost {
		t.Errorf("%d frames were seen", len(frames))
	}
	for _, f := range frames {
		if bytes.Contains(f, []byte("secret of")) {
			t.Fatal("the server sees what is carried")
		}
	}
	for _, f := range append(frames[:20], []byte("xkv1"+rand.Text()+rand.Text()+rand.Text()), nil) {
		for _, s := range []*session{lead, other} {
			if err := lead.nc.Publish(s.sub.Subject, f); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := lead.Write([]byte("then")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if n, err := other.Read(got); err != nil || string(got[:n]) != "then" {
		t.Errorf("%q, %v", got[:n], err)
	}
	other.finish("exit code 7: no room")
	if all, err := io.ReadAll(lead); len(all) > 0 || err != nil {
		t.Errorf("%d bytes, %v", len(all), err)
	}
	if why := lead.Obituary(); why != "exit code 7: no room" {
		t.Error(why)
	}
}

// TestSession_SentBack: an end does not take what it has said itself for what the other end
// says. One key opens both, and the other end has said nothing yet, so nothing but the side
// in a frame tells them apart.
func TestSession_SentBack(t *testing.T) {
	t.Parallel()
	lead, other, seen := pair(t, true, false)
	lead.mu.Lock()
	lead.last = time.Now().Add(time.Hour) // the silence does not end the session
	lead.mu.Unlock()
	if _, err := lead.Write([]byte("mine")); err != nil {
		t.Fatal(err)
	}
	for _, f := range seen() {
		if err := other.nc.Publish(lead.sub.Subject, f); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.begin(lead.sub.Subject, publicKey(t, lead)); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Write([]byte("theirs")); err != nil { // over the same connection: it comes later
		t.Fatal(err)
	}
	got := make([]byte, 10)
	if n, err := lead.Read(got); err != nil || string(got[:n]) != "theirs" {
		t.Errorf("%q, %v", got[:n], err)
	}
}

func publicKey(t *testing.T, s *session) string {
	t.Helper()
	key, err := s.keys.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestSession_Ends: a frame that is lost, an end that is silent or sends too much, and one
// that is told to stop, end a session with the reason. Nobody waits for ever.
func TestSession_Ends(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(lead, other *session){
		"messages from it were lost by way of NATS: 1": func(lead, _ *session) {
			lead.number++
			lead.send(data, []byte("x"))
		},
		"nothing came from it by way of NATS for 1m": func(_, other *session) {
			other.last = other.last.Add(-time.Minute)
		},
		"it sent more by way of NATS than was asked for": func(lead, _ *session) {
			for range window/atMost + 1 {
				lead.send(data, make([]byte, atMost))
			}
		},
		"it was ended by bench": func(lead, _ *session) { lead.send(kill, nil) },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			// An end that has not begun says nothing: the silence is not broken.
			lead, other, _ := pair(t, !strings.HasPrefix(want, "nothing"), true)
			lead.mu.Lock()
			other.mu.Lock()
			spoil(lead, other)
			other.mu.Unlock()
			lead.mu.Unlock()
			select {
			case <-other.Done():
			case <-time.After(time.Minute):
				t.Fatal("it has not ended")
			}
			if why := other.Obituary(); !strings.Contains(why, want) {
				t.Errorf("%q, want %q", why, want)
			}
			if _, err := io.Copy(io.Discard, other); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("reading: %v", err)
			}
			if _, err := other.Write([]byte("x")); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("writing: %v", err)
			}
		})
	}
}

// TestSession_WriteDeadline: who does not read is noticed.
func TestSession_WriteDeadline(t *testing.T) {
	t.Parallel()
	lead, _, _ := pair(t)
	if err := lead.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	n, err := lead.Write(make([]byte, window+1))
	if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) || n != window {
		t.Errorf("%d bytes, %v", n, err)
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
