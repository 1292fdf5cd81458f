package bus

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// startCluster starts so many servers, joined by routes, all with the same users.
func startCluster(t *testing.T, servers, n int) (list []*Server, ids []Identity, authority *Authority) {
	t.Helper()
	authority, err := NewAuthority()
	must(t, err)
	ids, err = NewIdentities(n)
	must(t, err)
	var routes []string
	for range servers {
		proof, err := authority.Issue("127.0.0.1")
		must(t, err)
		s, err := StartServer(ServerConfig{Users: users(ids), TLS: proof,
			Cluster: &Cluster{Secret: "of this run", Routes: slices.Clone(routes)}})
		must(t, err)
		t.Cleanup(s.Close)
		list, routes = append(list, s), append(routes, s.Route())
	}
	return list, ids, authority
}

// TestCluster: what a process says at one server is heard at all others, in its order; a
// server knows whom it reaches; and one that goes is missed.
func TestCluster(t *testing.T) {
	t.Parallel()
	servers, ids, authority := startCluster(t, 3, 3)
	var conns []*Conn
	in := map[int]<-chan string{}
	for i, s := range servers {
		c, err := Dial(DialConfig{URL: s.URL(), Seed: ids[i].Secret(), TLS: authority.Believer()})
		must(t, err)
		t.Cleanup(c.Close)
		heard, err := c.Join("t", uint32(i+1), 3)
		must(t, err)
		out := make(chan string, 100)
		go func() {
			for m := range heard {
				out <- fmt.Sprintf("%d %s", m.From, m.Data)
			}
		}()
		conns, in[i+1] = append(conns, c), out
	}
	eventually(t, "everybody hears everybody", func() bool {
		return !slices.ContainsFunc(servers, func(s *Server) bool { return len(s.Deaf("t", 3)) > 0 })
	})
	if deaf := servers[1].Deaf("t", 5); !slices.Equal(deaf, []uint32{4, 5}) {
		t.Errorf("deaf: %v, want 4 and 5", deaf)
	}
	for i, c := range conns {
		for k := range 20 {
			must(t, c.Send(uint32((i+1)%3+1), []byte(fmt.Sprint(k))))
		}
	}
	for to := 1; to <= 3; to++ {
		for k := range 20 {
			want := fmt.Sprintf("%d %d", (to+1)%3+1, k)
			select {
			case got := <-in[to]:
				if got != want {
					t.Fatalf("p%d heard %q, want %q", to, got, want)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("p%d has not heard %q", to, want)
			}
		}
	}
	stats, err := servers[0].Stats()
	must(t, err)
	if stats.Routes != 2 || stats.TotalConnections != 1 {
		t.Errorf("%+v, want 2 routes and one connection", stats)
	}
	servers[2].Close()
	eventually(t, "a route is gone", func() bool {
		stats, err := servers[0].Stats()
		return err == nil && stats.Routes == 1
	})
}

// TestCluster_Strangers: nobody is let in without the certificate and the secret of the run.
func TestCluster_Strangers(t *testing.T) {
	t.Parallel()
	servers, ids, authority := startCluster(t, 1, 1)
	other, err := NewAuthority()
	must(t, err)
	for name, how := range map[string]DialConfig{
		"no TLS":            {Seed: ids[0].Secret(), URL: strings.Replace(servers[0].URL(), "tls:", "nats:", 1)},
		"another authority": {Seed: ids[0].Secret(), TLS: other.Believer()},
		"no key":            {TLS: authority.Believer()},
	} {
		if how.URL == "" {
			how.URL = servers[0].URL()
		}
		if c, err := Dial(how); err == nil {
			c.Close()
			t.Errorf("%s: it was let in", name)
		}
	}
	for name, change := range map[string]func(*ServerConfig){
		"another authority": func(c *ServerConfig) {
			c.TLS, err = other.Issue("127.0.0.1")
			must(t, err)
		},
		"another secret": func(c *ServerConfig) { c.Cluster.Secret = "guessed" },
	} {
		proof, err := authority.Issue("127.0.0.1")
		must(t, err)
		cfg := ServerConfig{Observer: ids[0].Public, TLS: proof,
			Cluster: &Cluster{Secret: "of this run", Routes: []string{servers[0].Route()}}}
		change(&cfg)
		before, err := servers[0].Stats()
		must(t, err)
		s, err := StartServer(cfg)
		must(t, err)
		eventually(t, name+" is refused", func() bool {
			stats, err := servers[0].Stats()
			return err == nil && stats.Errors > before.Errors && stats.Routes == 0
		})
		s.Close()
	}
	for name, cfg := range map[string]ServerConfig{
		"without TLS": {Host: "0.0.0.0", Users: []User{{1, ids[0].Public}}},
		"a cluster":   {Cluster: &Cluster{Secret: "x"}, Users: []User{{1, ids[0].Public}}},
	} {
		if s, err := StartServer(cfg); err == nil || !strings.Contains(err.Error(), "TLS") {
			t.Errorf("%s: %v", name, err)
			if s != nil {
				s.Close()
			}
		}
	}
	if proof, err := authority.Issue("127.0.0.1"); err != nil || strings.Contains(fmt.Sprintf("%v %+v %#v",
		proof, *proof, ServerConfig{TLS: proof}.TLS), "PRIVATE") {
		t.Errorf("printed, the key can be read: %v", err)
	}
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not after 10 s: %s", what)
		}
	}
}
