package hub_test

import (
	"crypto/tls"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/conclave-bench/conclave/internal/runs/hub"
	"github.com/conclave-bench/conclave/internal/runs/queue"
)

func startHub(t *testing.T, folder hub.Folder) *hub.Hub {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h, err := hub.Start(hub.Config{Folder: folder, Listen: "127.0.0.1:0", Exe: exe})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// TestHub: a machine joins with a token, and reaches the queue.
func TestHub(t *testing.T) {
	t.Parallel()
	h := startHub(t, hub.Folder(t.TempDir()))
	i, err := h.Folder().Invite(hub.TokenRequest{Machines: 1, For: time.Hour, Role: hub.Worker})
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := hub.ParseInvitation(i.String())
	if err != nil || parsed != i {
		t.Fatalf("%v is read as %v: %v", i, parsed, err)
	}
	m, programs, err := hub.Join(t.Context(), i, "lab1")
	if err != nil || m.Role != hub.Worker || programs[hub.Platform].Size == 0 {
		t.Fatal(m, programs, err)
	}
	if _, err := queue.Workers(t.Context(), m.Server(), 10*time.Millisecond); err != nil {
		t.Error(err)
	}
	s, err := h.Folder().Runner()
	if err != nil {
		t.Fatal(err)
	}
	if list, err := queue.List(t.Context(), s, func(text string) { t.Log(text) }); err != nil || len(list) > 0 {
		t.Error(list, err)
	}
}

// ends fails unless err is a sentence with those words, for exit code 2.
func ends(t *testing.T, err error, words string) {
	t.Helper()
	var wrong hub.Mistake
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), words) {
		t.Errorf("%v, want %q", err, words)
	}
}

func invite(t *testing.T, h *hub.Hub, machines int, within time.Duration) hub.Invitation {
	t.Helper()
	i, err := h.Folder().Invite(hub.TokenRequest{Machines: machines, For: within, Role: hub.Worker})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// TestToken: a token is good for as many machines as it was made for, until it expires, at its own hub.
func TestToken(t *testing.T) {
	t.Parallel()
	h, other := startHub(t, hub.Folder(t.TempDir())), startHub(t, hub.Folder(t.TempDir()))
	join := func(i hub.Invitation, name string) error {
		_, _, err := hub.Join(t.Context(), i, name)
		return err
	}
	i := invite(t, h, 2, time.Hour)
	for _, name := range []string{"a", "b"} {
		if err := join(i, name); err != nil {
			t.Error(err)
		}
	}
	ends(t, join(i, "c"), "is used up")
	ends(t, join(invite(t, h, 1, time.Nanosecond), "d"), "has expired")
	foreign := invite(t, other, 1, time.Hour)
	foreign.Address = h.Address()
	ends(t, join(foreign, "e"), "is not the one of this token")
	text := i.String()
	for n := strings.Index(text, "#"); n < len(text); n++ {
		_, err := hub.ParseInvitation(text[:n])
		ends(t, err, "token")
	}
	for n := strings.Index(text, "#") + 1; n < len(text); n++ {
		other := byte('A')
		if text[n] == other {
			other = 'B'
		}
		_, err := hub.ParseInvitation(text[:n] + string(other) + text[n+1:])
		ends(t, err, "is mistyped")
	}
	_, err := hub.Start(hub.Config{Folder: h.Folder(), Listen: "127.0.0.1:0", Exe: "/proc/self/exe"})
	ends(t, err, "a hub runs already")
	_, err = hub.Start(hub.Config{Folder: hub.Folder(t.TempDir()), Listen: h.Address(), Exe: os.Args[0]})
	ends(t, err, "choose another address or port")
}

// TestStranger: without a certificate of the hub there is no program and no queue; one of another hub does not
// help.
func TestStranger(t *testing.T) {
	t.Parallel()
	h, other := startHub(t, hub.Folder(t.TempDir())), startHub(t, hub.Folder(t.TempDir()))
	m, _, err := hub.Join(t.Context(), invite(t, other, 1, time.Hour), "thief")
	if err != nil {
		t.Fatal(err)
	}
	stolen, err := tls.X509KeyPair(m.TLS.Cert, m.TLS.Key)
	if err != nil {
		t.Fatal(err)
	}
	for _, proof := range [][]tls.Certificate{nil, {stolen}} {
		c := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true,
			Certificates: proof}}}
		for _, path := range []string{"/program/" + hub.Platform, "/nats", "/member", "/"} {
			r, err := c.Get("https://" + h.Address() + path)
			if err != nil {
				continue // refused before it could ask
			}
			if _ = r.Body.Close(); r.StatusCode != http.StatusForbidden && path != "/" || r.StatusCode < 400 || proof != nil {
				t.Errorf("%s: %s", path, r.Status)
			}
		}
	}
}

// TestRestart: a hub that is started again is the same one, and a name is that of one machine.
func TestRestart(t *testing.T) {
	t.Parallel()
	folder := hub.Folder(t.TempDir())
	h := startHub(t, folder)
	m, _, err := hub.Join(t.Context(), invite(t, h, 1, time.Hour), "lab1")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := m.Dial("", "")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = hub.Join(t.Context(), invite(t, h, 1, time.Hour), "lab1")
	ends(t, err, "a machine called lab1 has joined already")
	_ = conn.Close()
	h.Close()
	conn, err = m.Dial("", "")
	if conn != nil || err == nil {
		t.Fatalf("without its hub: %v, %v", conn, err)
	}
	if final := (interface{ Exit() int })(nil); errors.As(err, &final) {
		t.Errorf("%v ends the machine, though its hub may be started again", err)
	}
	again := startHub(t, folder)
	m.Address = again.Address()
	if err := m.Try(t.Context()); err != nil {
		t.Error(err)
	}
	m.Address = startHub(t, hub.Folder(t.TempDir())).Address()
	ends(t, m.Try(t.Context()), "its key has changed")
}

// TestWorkerMay: a worker cannot act as a runner, or take work away.
func TestWorkerMay(t *testing.T) {
	t.Parallel()
	h := startHub(t, hub.Folder(t.TempDir()))
	m, _, err := hub.Join(t.Context(), invite(t, h, 1, time.Hour), "lab1")
	if err != nil {
		t.Fatal(err)
	}
	refused := make(chan error, 1)
	s := m.Server()
	nc, err := nats.Connect(s.URL, append(s.Hub, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		refused <- err
	}))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	for _, subject := range []string{"conclave.trials.run.1", "$KV.conclave-runs.run", "$JS.API.STREAM.DELETE.conclave-trials",
		"$JS.API.STREAM.PURGE.conclave-trials", "$JS.API.STREAM.MSG.DELETE.conclave-results", "$JS.API.STREAM.UPDATE.conclave-trials",
		"$JS.API.CONSUMER.DELETE.conclave-trials.run"} {
		if err := errors.Join(nc.Publish(subject, nil), nc.Flush()); err != nil {
			t.Fatal(err)
		}
		if err := <-refused; !errors.Is(err, nats.ErrPermissionViolation) || !strings.Contains(err.Error(), subject) {
			t.Errorf("%s: %v", subject, err)
		}
	}
	if _, err := nc.SubscribeSync("conclave.runner.key.run"); err != nil {
		t.Fatal(err)
	}
	if err := <-refused; !errors.Is(err, nats.ErrPermissionViolation) {
		t.Errorf("it answers for a runner: %v", err)
	}
	if err := errors.Join(nc.Publish("conclave.results.run.1", nil), nc.Flush()); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-refused:
		t.Errorf("results: %v", err)
	default:
	}
}
