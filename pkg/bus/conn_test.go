package bus

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/conclave-bench/conclave/internal/base/transport"
)

func TestConn_CarriesMessagesOfOneTrial(t *testing.T) {
	t.Parallel()
	_, conns := startBus(t, ServerConfig{}, 3)
	in := make([]<-chan *nats.Msg, 3)
	for i, c := range conns {
		var err error
		in[i], err = c.Subscribe("t-1", uint32(i+1))
		must(t, err)
		c.Address("t-1", uint32(i+1), 3)
		must(t, c.Flush(5*time.Second))
	}
	payload := []byte("hello")
	must(t, conns[0].Send(3, payload))
	must(t, conns[1].Send(3, payload))
	must(t, conns[2].Send(3, payload)) // to oneself
	var from []uint32
	for range 3 {
		msg := receive(t, in[2])
		sender, ok := Sender(msg.Subject)
		if !ok || string(msg.Data) != "hello" {
			t.Errorf("%s: %q", msg.Subject, msg.Data)
		}
		from = append(from, sender)
	}
	slices.Sort(from)
	if !slices.Equal(from, []uint32{1, 2, 3}) || len(in[0])+len(in[1]) > 0 {
		t.Errorf("from %v, and %d elsewhere", from, len(in[0])+len(in[1]))
	}
	for _, to := range []uint32{0, 4} {
		if conns[0].Send(to, payload) == nil {
			t.Errorf("to p%d: no error", to)
		}
	}
	if err := conns[0].Send(2, make([]byte, transport.MaxFrame+1)); err == nil {
		t.Error("a payload beyond the limit: no error")
	}
	for i, c := range conns {
		if faults := c.Faults(); len(faults) > 0 {
			t.Errorf("p%d: faults %q", i+1, faults)
		}
	}
}

func TestConn_SpeakingForAnotherIsAFault(t *testing.T) {
	t.Parallel()
	_, conns := startBus(t, ServerConfig{}, 2)
	overheard, err := conns[1].Subscribe("t", 2)
	must(t, err)
	must(t, conns[1].Flush(5*time.Second))

	conns[0].Address("t", 7, 2)
	must(t, conns[0].Send(2, []byte("I am p7")))
	awaitFault(t, conns[0], "Permissions Violation for Publish")
	if err := conns[0].Flush(5 * time.Second); err == nil {
		t.Error("flush after it: no error")
	}
	if len(overheard) > 0 {
		t.Error("p2 got a message that p1 sent as p7")
	}

	_, err = conns[1].Subscribe("t", 1)
	must(t, err)
	if err := conns[1].Flush(5 * time.Second); err == nil {
		t.Error("p2 hears what is for p1")
	}
	awaitFault(t, conns[1], "Permissions Violation for Subscription")
	for _, all := range []string{">", "d.>", "d.*.*.*", "$SYS.>", "_INBOX.>"} {
		sub, err := conns[1].nc.SubscribeSync(all)
		must(t, err)
		if conns[1].Flush(5*time.Second) == nil {
			t.Errorf("%s: no error", all)
		}
		if msg, err := sub.NextMsg(time.Millisecond); err == nil {
			t.Errorf("p2 overhears %s", msg.Subject)
		}
	}
}

func TestDial_RefusesStrangers(t *testing.T) {
	t.Parallel()
	s, _ := startBus(t, ServerConfig{}, 1)
	stranger, err := NewIdentities(1) // as of another run
	must(t, err)
	for name, cfg := range map[string]DialConfig{
		"nobody":          {},
		"old key":         {Seed: stranger[0].Secret()},
		"user":            {User: "admin", Password: "secret-word"},
		"token":           {Token: "secret-word"},
		"broken seed":     {Seed: []byte("secret-word")},
		"no such file":    {CredentialsFile: "/no/such/file"},
		"no such TLS CA":  {CAFile: "/no/such/file"},
		"no such TLS key": {CertFile: "/no/such/file", KeyFile: "/no/such/file"},
	} {
		cfg.URL, cfg.Timeout = s.URL(), 5*time.Second
		c, err := Dial(cfg)
		if err == nil {
			c.Close()
			t.Errorf("%s: let in", name)
			continue
		}
		if strings.Contains(err.Error(), "secret-word") {
			t.Errorf("%s: the error tells the secret: %v", name, err)
		}
		t.Logf("%s: %v", name, err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, free.Close())
	if _, err := Dial(DialConfig{URL: "nats://" + free.Addr().String()}); err == nil ||
		!strings.Contains(err.Error(), "is it running?") {
		t.Errorf("nobody listens: %v", err)
	}
}

func TestConn_SlowProcessIsCounted(t *testing.T) {
	t.Parallel()
	_, conns := startBus(t, ServerConfig{}, 2)
	in, err := conns[1].subscribe("t", 2, 10)
	must(t, err)
	must(t, conns[1].Flush(5*time.Second))
	conns[0].Address("t", 1, 2)
	for range 200 {
		must(t, conns[0].Send(2, []byte("x")))
	}
	must(t, conns[0].Flush(5*time.Second))
	awaitFault(t, conns[1], "slow consumer")
	_ = conns[1].Flush(5 * time.Second) // all of them have arrived, or been dropped
	dropped, err := conns[1].Dropped()
	must(t, err)
	if dropped != 190 || len(in) != 10 {
		t.Errorf("%d dropped, %d there, want 190 and 10", dropped, len(in))
	}
	conns[1].dropped = 0 // as if nobody had asked before
	conns[1].Close()
	if after, err := conns[1].Dropped(); after != 190 || err == nil {
		t.Errorf("after Close: %d, %v; want the last count and an error", after, err)
	}
}

func TestConn_LossOfTheServerIsAFault(t *testing.T) {
	t.Parallel()
	s, conns := startBus(t, ServerConfig{}, 1)
	conns[0].Address("t", 1, 1)
	s.Close()
	s.Close()
	awaitFault(t, conns[0], "disconnected")
	deadline := time.Now().Add(5 * time.Second)
	for conns[0].Send(1, []byte("x")) == nil {
		if time.Now().After(deadline) {
			t.Fatal("what is sent to a server that is gone is no error after 5s")
		}
	}
}

// TestConn_CutOffSaysWhy: a process that does not answer for too long is cut off, by a
// server that says so.
func TestConn_CutOffSaysWhy(t *testing.T) {
	t.Parallel()
	ids, err := NewIdentities(1)
	must(t, err)
	s, err := StartServer(ServerConfig{Users: users(ids), Patience: 150 * time.Millisecond})
	must(t, err)
	t.Cleanup(s.Close)
	at, mute := muffled(t, s)
	c, err := Dial(DialConfig{URL: at, Seed: ids[0].Secret(), Patience: time.Minute})
	must(t, err)
	t.Cleanup(c.Close)
	mute()
	awaitFault(t, c, "disconnected: nats: stale connection")
	if stats, err := s.Stats(); err != nil || stats.StaleClients != 1 {
		t.Errorf("%+v, %v; want one stale client", stats, err)
	}
}

// muffled is a way to s that lets nothing more through to it once mute is called.
func muffled(t *testing.T, s *Server) (at string, mute func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	var muted atomic.Bool
	go func() {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "nats://"))
		if err != nil {
			return
		}
		go func() {
			_, _ = io.Copy(client, server)
			_ = client.Close()
		}()
		b := make([]byte, 4096)
		for n := 0; err == nil; n, err = client.Read(b) {
			if !muted.Load() {
				_, _ = server.Write(b[:n])
			}
		}
		_ = server.Close()
	}()
	return "nats://" + l.Addr().String(), func() { muted.Store(true) }
}

// A server that comes back at the same port finds nobody: what was sent meanwhile is
// lost, so that the trial is.
func TestConn_ReturnOfTheServer(t *testing.T) {
	t.Parallel()
	ids, err := NewIdentities(1)
	must(t, err)
	cfg := ServerConfig{Users: users(ids)}
	first, err := StartServer(cfg)
	must(t, err)
	c, err := Dial(DialConfig{URL: first.URL(), Seed: ids[0].Secret()})
	must(t, err)
	defer c.Close()
	in, err := c.Subscribe("t", 1)
	must(t, err)
	c.Address("t", 1, 1)
	must(t, c.Flush(5*time.Second))
	first.Close()
	awaitFault(t, c, "disconnected")
	select {
	case <-c.closed:
	case <-time.After(5 * time.Second):
		t.Error("it waits for a server to come back")
	}
	u, err := url.Parse(first.URL())
	must(t, err)
	cfg.Port, err = strconv.Atoi(u.Port())
	must(t, err)
	second, err := StartServer(cfg)
	must(t, err)
	defer second.Close()
	if err := c.Send(1, []byte("kept for later?")); err == nil {
		t.Error("it can be sent to")
	}
	other, err := Dial(DialConfig{URL: second.URL(), Seed: ids[0].Secret()})
	must(t, err)
	defer other.Close()
	other.Address("t", 1, 1)
	must(t, other.Send(1, []byte("to the one that was here before")))
	must(t, other.Flush(5*time.Second))
	if stats, err := second.Stats(); err != nil || stats.TotalConnections != 1 || len(in) > 0 {
		t.Errorf("%+v, %v; %d messages came: want that it is gone for good", stats, err, len(in))
	}
}

func TestConn_NoFaultAfterClose(t *testing.T) {
	t.Parallel()
	_, conns := startBus(t, ServerConfig{}, 1)
	conns[0].Close()
	conns[0].Close()
	if faults := conns[0].Faults(); len(faults) > 0 {
		t.Errorf("faults %q", faults)
	}
}

func TestConn_KeepsTheFirstFaults(t *testing.T) {
	t.Parallel()
	c := &Conn{}
	for i := range keptFaults + 5 {
		c.fault(fmt.Errorf("fault %d", i))
	}
	faults := c.Faults()
	if len(faults) != keptFaults+1 || faults[0] != "fault 0" || faults[keptFaults] != "and 5 more" {
		t.Errorf("%q", faults)
	}
}

// Not parallel: it counts goroutines.
func TestClose_LeavesNoGoroutine(t *testing.T) {
	before := goleak.IgnoreCurrent()
	ids, err := NewIdentities(3)
	must(t, err)
	s, err := StartServer(ServerConfig{Users: users(ids)})
	must(t, err)
	for _, id := range ids {
		c, err := Dial(DialConfig{URL: s.URL(), Seed: id.Secret()})
		must(t, err)
		_, err = c.Subscribe("t", id.ID)
		must(t, err)
		defer c.Close()
		c.Close()
	}
	s.Close()
	goleak.VerifyNone(t, before)
}

func TestCheckTrial(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"1", "a-B_9", strings.Repeat("x", maxTrialName)} {
		must(t, checkTrial(name))
	}
	for _, name := range []string{"", ".", "*", ">", "a.b", "a b", "a\r\n", "ä", "a\x00",
		strings.Repeat("x", maxTrialName+1)} {
		if checkTrial(name) == nil {
			t.Errorf("%q: no error", name)
		}
		if _, err := new(Conn).Subscribe(name, 1); err == nil {
			t.Errorf("subscribe to %q: no error", name)
		}
	}
}

func TestSender(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]uint32{subject("t", 42, 7): 42, "d.t.4294967295.1": 1<<32 - 1} {
		if got, ok := Sender(s); !ok || got != want {
			t.Errorf("%s: %d, %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "d", "d.t", "d.t.1", "d.t.x.1", "d.t..1", "d.t.4294967296.1",
		"d.t.-1.1", "c.t.1.2"} {
		if got, ok := Sender(s); ok {
			t.Errorf("%q: %d", s, got)
		}
	}
}

func TestIdentity_NeverShowsItsSecret(t *testing.T) {
	t.Parallel()
	ids, err := NewIdentities(2)
	must(t, err)
	id, seed := ids[0], string(ids[0].Secret())
	encoded, err := json.Marshal(map[string]any{"one": id, "all": ids, "in": struct{ I Identity }{id}})
	must(t, err)
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "id", id, "ids", ids)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "id", id, "ids", ids)
	dial := DialConfig{
		URL: "nats://u:" + seed + "@h:1", Seed: id.Secret(), Password: seed, Token: seed,
		Credentials: []byte(seed),
	}
	server := ServerConfig{Cluster: &Cluster{Secret: seed}, TLS: &TLS{Key: []byte(seed)}}
	shown := string(encoded) + log.String() + fmt.Sprintf("%v %+v %#v %s %q %v %+v %#v %v %+v %#v %v %v %+v %#v %v %#v",
		id, id, id, id, id, ids, ids, ids, dial, dial, dial, &id, server, server, server, server.Cluster,
		*server.Cluster)
	for _, secret := range []string{seed, fmt.Sprint([]byte(seed)), fmt.Sprintf("%x", seed)} {
		if strings.Contains(shown, secret) {
			t.Errorf("the seed shows in %s", shown)
		}
	}
	if !strings.HasPrefix(seed, "SU") || id.ID != 1 || ids[1].ID != 2 || ids[1].Public == id.Public {
		t.Errorf("identities %v", ids)
	}
}

// startBus starts a server and connects the processes 1 to n to it.
func startBus(tb testing.TB, cfg ServerConfig, n int) (*Server, []*Conn) {
	tb.Helper()
	ids, err := NewIdentities(n)
	must(tb, err)
	cfg.Users = users(ids)
	s, err := StartServer(cfg)
	must(tb, err)
	tb.Cleanup(s.Close)
	conns := make([]*Conn, n)
	for i, id := range ids {
		conns[i], err = Dial(DialConfig{URL: s.URL(), Name: fmt.Sprint("p", id.ID), Seed: id.Secret()})
		must(tb, err)
		tb.Cleanup(conns[i].Close)
	}
	return s, conns
}

func users(ids []Identity) []User {
	var users []User
	for _, id := range ids {
		users = append(users, User{ID: id.ID, Public: id.Public})
	}
	return users
}

func receive(tb testing.TB, in <-chan *nats.Msg) *nats.Msg {
	tb.Helper()
	select {
	case msg := <-in:
		return msg
	case <-time.After(5 * time.Second):
		tb.Fatal("no message within 5s")
		return nil
	}
}

func awaitFault(tb testing.TB, c *Conn, want string) {
	tb.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for !strings.Contains(strings.Join(c.Faults(), "\n"), want) {
		if time.Now().After(deadline) {
			tb.Fatalf("faults %q, want one with %q", c.Faults(), want)
		}
		time.Sleep(time.Millisecond) // polled until the deadline
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func BenchmarkConnRoundTrip(b *testing.B) {
	_, conns := startBus(b, ServerConfig{}, 2)
	var in [2]<-chan *nats.Msg
	for i, c := range conns {
		var err error
		in[i], err = c.Subscribe("t", uint32(i+1))
		must(b, err)
		c.Address("t", uint32(i+1), 2)
		must(b, c.Flush(5*time.Second))
	}
	payload := make([]byte, 64)
	_, _ = rand.Read(payload)
	for b.Loop() {
		_ = conns[0].Send(2, payload)
		<-in[1]
		_ = conns[1].Send(1, payload)
		<-in[0]
	}
}

// TestDialConfig_WithoutFiles: what its files hold goes along, and their names stay behind.
func TestDialConfig_WithoutFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(name), 0o600))
		return path
	}
	c, err := DialConfig{URL: "tls://h:1", CredentialsFile: file("creds"), CAFile: file("ca"), CertFile: file("cert"),
		KeyFile: file("key")}.WithoutFiles()
	must(t, err)
	text, err := json.Marshal(c)
	must(t, err)
	if strings.Contains(string(text), dir) || string(c.Credentials) != "creds" || string(c.TLS.CA) != "ca" ||
		string(c.TLS.Cert) != "cert" || string(c.TLS.Key) != "key" {
		t.Errorf("%s", text)
	}
	if c, err = (DialConfig{URL: "tls://h:1"}).WithoutFiles(); err != nil || c.TLS != nil {
		t.Errorf("without files: TLS %v, %v", c.TLS, err)
	}
	if _, err = (DialConfig{CAFile: filepath.Join(dir, "none")}).WithoutFiles(); err == nil ||
		!strings.Contains(err.Error(), "none") {
		t.Errorf("a file that is not there: %v", err)
	}
}
