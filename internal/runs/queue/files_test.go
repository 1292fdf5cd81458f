package queue

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A slowFile delivers its bytes after a delay, unless the request ends first.
type slowFile struct {
	jetstream.ObjectResult
	ctx   context.Context
	takes time.Duration
	data  *bytes.Reader
}

func (f *slowFile) Read(b []byte) (int, error) {
	select {
	case <-f.ctx.Done():
		// The library reads from a pipe, whose deadline may expire just before the context.
		return 0, os.ErrDeadlineExceeded
	case <-time.After(f.takes):
		f.takes = 0
		return f.data.Read(b)
	}
}

func (f *slowFile) Close() error { return nil }

// slowFiles is a store with one file. Request k takes takes[k]; later ones take as long as the last.
type slowFiles struct {
	jetstream.ObjectStore
	takes []time.Duration
	data  []byte
	asked int
}

func (s *slowFiles) GetInfo(context.Context, string, ...jetstream.GetObjectInfoOpt) (*jetstream.ObjectInfo, error) {
	return &jetstream.ObjectInfo{Size: uint64(len(s.data))}, nil
}

func (s *slowFiles) Get(ctx context.Context, _ string, _ ...jetstream.GetObjectOpt) (jetstream.ObjectResult, error) {
	return &slowFile{ctx: ctx, takes: s.next(), data: bytes.NewReader(s.data)}, nil
}

func (s *slowFiles) PutBytes(ctx context.Context, _ string, data []byte) (*jetstream.ObjectInfo, error) {
	select {
	case <-ctx.Done():
		return nil, nats.ErrTimeout
	case <-time.After(s.next()):
		s.data = data
		return nil, nil
	}
}

func (s *slowFiles) next() time.Duration {
	s.asked++
	return s.takes[min(s.asked, len(s.takes))-1]
}

// TestFiles_Slow: the time limit of a transfer, in either direction, grows with the size of the file. A
// transfer that exceeds it is repeated, and a file that never arrives does not end the run.
func TestFiles_Slow(t *testing.T) {
	t.Parallel()
	data := make([]byte, 512<<10)
	for i := range data {
		data[i] = byte(rand.Uint32()) // which does not compress
	}
	for _, c := range []struct {
		takes []time.Duration
		asked int
		comes bool
	}{
		{[]time.Duration{0}, 1, true},
		{[]time.Duration{15 * time.Second}, 1, true},
		{[]time.Duration{time.Hour, time.Second}, 2, true},
		{[]time.Duration{time.Hour}, 2, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			up := &slowFiles{takes: c.takes}
			l := &link{files: up, note: func(string) {}}
			hash, err := l.put(ctx, "a", data)
			if (err == nil) != c.comes || c.comes && up.asked != c.asked {
				t.Errorf("%v: stored: %v, with %d requests", c, err, up.asked)
			}
			down := &slowFiles{takes: c.takes, data: pack(data)}
			l.files = down
			got, err := l.get(t.Context(), "a", hash)
			if (err == nil) != c.comes || down.asked != c.asked || c.comes && !bytes.Equal(got, data) {
				t.Errorf("%v: fetched: %v, with %d requests", c, err, down.asked)
			}
			if !c.comes {
				q := &Sender{link: l, got: of()}
				if err := q.without(t.Context(), nil, err); err != nil || q.got != nil {
					t.Errorf("the run ends: %v", err)
				}
			}
		})
	}
}
