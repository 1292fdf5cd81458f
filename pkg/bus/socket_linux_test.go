package bus

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// quickPair is a connection as Dial makes it, and its other end.
func quickPair(t *testing.T) (quick net.Conn, other *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	options, err := new(Conn).options(DialConfig{})
	must(t, err)
	o := &nats.Options{}
	for _, set := range options {
		must(t, set(o))
	}
	quick, err = o.CustomDialer.Dial("tcp", l.Addr().String())
	must(t, err)
	t.Cleanup(func() { _ = quick.Close() })
	if _, ok := quick.(*quickConn); !ok {
		t.Fatalf("dialled a %T", quick)
	}
	accepted, err := l.Accept()
	must(t, err)
	t.Cleanup(func() { _ = accepted.Close() })
	return quick, accepted.(*net.TCPConn)
}

// TestQuickConn: more than the system keeps passes both ways, and the end is told.
func TestQuickConn(t *testing.T) {
	t.Parallel()
	quick, other := quickPair(t)
	sent := bytes.Repeat([]byte("all of it, in order. "), 1<<19)
	echoed := make(chan error, 1)
	go func() {
		_, err := io.Copy(other, other)
		echoed <- errors.Join(err, other.CloseWrite())
	}()
	wrote := make(chan error, 1)
	go func() {
		n, err := quick.Write(sent)
		if n != len(sent) {
			err = errors.Join(err, io.ErrShortWrite)
		}
		wrote <- errors.Join(err, quick.(*quickConn).CloseWrite())
	}()
	got, err := io.ReadAll(quick)
	must(t, errors.Join(err, <-wrote, <-echoed))
	if !bytes.Equal(got, sent) {
		t.Errorf("%d bytes came back of %d, or others", len(got), len(sent))
	}
}

// TestQuickConn_Fails: deadlines, ends and breaks are those of any connection.
func TestQuickConn_Fails(t *testing.T) {
	t.Parallel()
	quick, other := quickPair(t)
	must(t, quick.SetDeadline(time.Now().Add(time.Millisecond)))
	if _, err := quick.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read: %v", err)
	}
	if n, err := quick.Write(make([]byte, 64<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("wrote %d, %v", n, err)
	}
	must(t, quick.SetDeadline(time.Time{}))
	must(t, other.SetLinger(0))
	must(t, other.Close()) // resets the connection
	if _, err := quick.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read: %v", err)
	}
	if _, err := quick.Write([]byte{1}); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("write: %v", err)
	}
	must(t, quick.Close())
	if _, err := quick.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("read: %v", err)
	}
}
