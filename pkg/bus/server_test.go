package bus

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"
)

func TestStartServer_PortTakenIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { must(t, taken.Close()) }()
	_, port, err := net.SplitHostPort(taken.Addr().String())
	must(t, err)
	cfg := ServerConfig{Users: someUsers(t)}
	cfg.Port, err = strconv.Atoi(port)
	must(t, err)

	began := time.Now()
	_, err = StartServer(cfg)
	if err == nil || !strings.Contains(err.Error(), "address already in use") ||
		!strings.Contains(err.Error(), port) {
		t.Errorf("got %v, want that %s is in use", err, port)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
	t.Log(err)
}

func TestStartServer_RefusesBadConfigurations(t *testing.T) {
	t.Parallel()
	good := someUsers(t)
	for name, cfg := range map[string]ServerConfig{
		"nobody may connect":   {},
		"no public key":        {Users: []User{{ID: 1, Public: "U123"}}},
		"no public key either": {Observer: "x"},
		"payload over pending": {Users: good, MaxPayload: 100, MaxPending: 99},
		"no such address":      {Users: good, Host: "192.0.2.1"},
	} {
		s, err := StartServer(cfg)
		if err == nil {
			s.Close()
			t.Errorf("%s: no error", name)
			continue
		}
		t.Logf("%s: %v", name, err)
	}
}

func TestServer_Stats(t *testing.T) {
	t.Parallel()
	s, conns := startBus(t, ServerConfig{}, 2)
	in, err := conns[1].Subscribe("t", 2)
	must(t, err)
	must(t, conns[1].Flush(5*time.Second))
	conns[0].Address("t", 1, 2)
	for range 10 {
		must(t, conns[0].Send(2, []byte("12345")))
	}
	for range 10 {
		receive(t, in)
	}
	stats, err := s.Stats()
	must(t, err)
	if stats.Connections != 2 || stats.TotalConnections != 2 || stats.InMsgs != 10 ||
		stats.OutMsgs != 10 || stats.InBytes != 50 || stats.SlowConsumers != 0 ||
		stats.StalledClients != 0 || stats.Errors != 0 {
		t.Errorf("%+v", stats)
	}
}

func TestServer_CutsOffWhoDoesNotRead(t *testing.T) {
	t.Parallel()
	ids, err := NewIdentities(2)
	must(t, err)
	s, err := StartServer(ServerConfig{MaxPending: 128 << 10, Users: users(ids)})
	must(t, err)
	defer s.Close()
	deaf := subscribeDeaf(t, s, ids[1])
	defer func() { must(t, deaf.Close()) }()
	sender, err := Dial(DialConfig{URL: s.URL(), Seed: ids[0].Secret()})
	must(t, err)
	defer sender.Close()
	sender.Address("t", 1, 2)
	payload := make([]byte, 16<<10)
	deadline := time.Now().Add(20 * time.Second)
	for {
		must(t, sender.Send(2, payload))
		must(t, sender.Flush(5*time.Second))
		stats, err := s.Stats()
		must(t, err)
		if stats.StalledClients > 0 {
			t.Fatal("the sender had to wait for the reader")
		}
		if stats.SlowConsumers > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("not cut off after 20s: %+v", stats)
		}
	}
	if faults := sender.Faults(); len(faults) > 0 {
		t.Errorf("the sender's faults: %q", faults)
	}
}

func TestServer_SurvivesHostileBytes(t *testing.T) {
	t.Parallel()
	s, conns := startBus(t, ServerConfig{}, 1)
	in, err := conns[0].Subscribe("t", 1)
	must(t, err)
	conns[0].Address("t", 1, 1)
	must(t, conns[0].Flush(5*time.Second))

	noise := make([]byte, 64<<10)
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(noise)
	for i, hostile := range [][]byte{
		nil, noise,
		[]byte("PUB d.t.1.1 5\r\nhello\r\n"),
		[]byte("CONNECT {}\r\nPUB d.t.1.1 5\r\nhello\r\nPING\r\n"),
		[]byte("CONNECT {\"nkey\":\"UAAA\",\"sig\":\"AAAA\"}\r\nSUB > 1\r\n"),
		[]byte("CONNECT " + strings.Repeat("[", 1<<16) + "\r\n"),
		[]byte("SUB " + strings.Repeat("a", 1<<16) + " 1\r\n"),
		[]byte("PUB d.t.1.1 99999999999999999999\r\n"),
		[]byte("PUB d.t.1.1 -5\r\n\r\n"),
		[]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		bytes.Repeat([]byte{0}, 1<<16),
		bytes.Repeat([]byte("PING\r\n"), 1<<10),
	} {
		c := knock(t, s)
		_, _ = c.Write(hostile) // it may be cut off in the middle
		if i%2 == 0 {
			must(t, c.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
			_, _ = io.Copy(io.Discard, c)
		}
		must(t, c.Close())
	}
	must(t, conns[0].Send(1, []byte("still here")))
	if msg := receive(t, in); string(msg.Data) != "still here" {
		t.Errorf("got %q", msg.Data)
	}
	if stats, err := s.Stats(); err != nil || stats.InMsgs != 1 || stats.Errors == 0 {
		t.Errorf("%+v, %v; want 1 message, and errors", stats, err)
	}
	if faults := conns[0].Faults(); len(faults) > 0 {
		t.Errorf("faults %q", faults)
	}
}

func TestServer_LimitsConnections(t *testing.T) {
	t.Parallel()
	s, conns := startBus(t, ServerConfig{}, 1)
	const most = 4 + 16 // as of one node
	var crowd []net.Conn
	for range 200 {
		crowd = append(crowd, knock(t, s))
	}
	defer func() {
		for _, c := range crowd {
			must(t, c.Close())
		}
	}()
	deadline := time.Now().Add(5 * time.Second)
	for {
		stats, err := s.Stats()
		must(t, err)
		if stats.TotalConnections == 201 && stats.Connections <= most && stats.Errors > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v, want at most %d connections of 201", stats, most)
		}
		time.Sleep(time.Millisecond) // polled until the deadline
	}
	if err := conns[0].Flush(5 * time.Second); err != nil || len(conns[0].Faults()) > 0 {
		t.Errorf("who was in first: %v, %q", err, conns[0].Faults())
	}
}

func TestServeProcess(t *testing.T) {
	t.Parallel()
	ids, err := NewIdentities(1)
	must(t, err)
	stdin, commands := io.Pipe()
	answers, stdout := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- ServeProcess(stdin, stdout)
		_ = stdout.Close()
	}()
	lines := bufio.NewScanner(answers)
	ask := func(line string, answer any) {
		t.Helper()
		_, err := fmt.Fprintln(commands, line)
		must(t, err)
		if !lines.Scan() {
			t.Fatalf("no answer to %.20q: %v", line, lines.Err())
		}
		must(t, json.Unmarshal(lines.Bytes(), answer))
	}

	cfg, err := json.Marshal(ServerConfig{Users: users(ids)})
	must(t, err)
	var reply ServerReply
	ask(string(cfg), &reply)
	c, err := Dial(DialConfig{URL: reply.URL, Seed: ids[0].Secret()})
	must(t, err)
	defer c.Close()
	var stats ServerStats
	ask("stats", &stats)
	if stats.Connections != 1 {
		t.Errorf("%+v", stats)
	}
	must(t, commands.Close())
	must(t, <-ended)
	awaitFault(t, c, "disconnected")
}

func TestServeProcess_Refuses(t *testing.T) {
	t.Parallel()
	good, err := json.Marshal(ServerConfig{Users: someUsers(t)})
	must(t, err)
	for name, in := range map[string]string{
		"nothing":         "",
		"no JSON":         "hello\n",
		"no users":        "{}\n",
		"unknown command": string(good) + "\nquit\n",
	} {
		var out strings.Builder
		err := ServeProcess(strings.NewReader(in), &out)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if name != "unknown command" && !strings.HasPrefix(out.String(), `{"error":"`) {
			t.Errorf("%s: said %q", name, out.String())
		}
	}
	if err := ServeProcess(strings.NewReader(string(good)+"\n"), brokenPipe{}); err == nil {
		t.Error("nobody reads: no error")
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func FuzzServeProcess(f *testing.F) {
	f.Add([]byte(`{"users":[{"id":1,"public":"U"}],"port":-1}` + "\nstats\n"))
	f.Add([]byte(`{"observer":"x","host":"::1","max_payload":-1}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		// A user's public key has a checksum: no input here starts a server.
		if ServeProcess(bytes.NewReader(in), io.Discard) == nil {
			t.Error("no error")
		}
	})
}

func someUsers(tb testing.TB) []User {
	tb.Helper()
	ids, err := NewIdentities(1)
	must(tb, err)
	return users(ids)
}

// knock is a bare connection to the server's port.
func knock(tb testing.TB, s *Server) net.Conn {
	tb.Helper()
	u, err := url.Parse(s.URL())
	must(tb, err)
	c, err := net.Dial("tcp", u.Host)
	must(tb, err)
	return c
}

// subscribeDeaf is a connection that subscribes and then reads nothing, as that of
// a process that has been stopped.
func subscribeDeaf(tb testing.TB, s *Server, id Identity) net.Conn {
	tb.Helper()
	c := knock(tb, s)
	must(tb, c.(*net.TCPConn).SetReadBuffer(4<<10))
	greeting, err := bufio.NewReader(c).ReadString('\n')
	must(tb, err)
	var info struct{ Nonce string }
	must(tb, json.Unmarshal([]byte(strings.TrimPrefix(greeting, "INFO ")), &info))
	pair, err := nkeys.FromSeed(id.Secret())
	must(tb, err)
	signature, err := pair.Sign([]byte(info.Nonce))
	must(tb, err)
	_, err = fmt.Fprintf(c, "CONNECT {\"nkey\":%q,\"sig\":%q,\"verbose\":false}\r\nSUB %s 1\r\n",
		id.Public, base64.RawURLEncoding.EncodeToString(signature), subjectOfAll("t", id.ID))
	must(tb, err)
	deadline := time.Now().Add(5 * time.Second)
	for s.nats.NumSubscriptions() == 0 {
		if time.Now().After(deadline) {
			tb.Fatal("not subscribed after 5s")
		}
		time.Sleep(time.Millisecond) // polled until the deadline
	}
	return c
}
