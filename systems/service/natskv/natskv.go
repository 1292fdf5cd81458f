// Package natskv runs NATS servers, which are part of this program, and locks in a bucket of JetStream's
// key-value store: a key that is created only if it is not there, and that goes if it is not renewed.
package natskv

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/conclave-bench/conclave/systems/service"
)

// A System is NATS JetStream.
type System struct{}

// The ports of each server.
const (
	clientPort = 4222
	routePort  = 6222
	webPort    = 8222
)

// Name implements service.System.
func (System) Name() string { return "natskv" }

// Title implements service.System.
func (System) Title() string { return "NATS JetStream KV" }

// Packages implements service.System: the server is a library.
func (System) Packages() []string { return nil }

// Version implements service.System.
func (System) Version(context.Context) (string, error) { return server.VERSION, nil }

// Sizes implements service.System.
func (System) Sizes() []int { return []int{1, 3, 5} }

// session is how long a lock lasts by default; NATS has none.
const session = 10 * time.Second

func sessionOf(o service.Options) time.Duration {
	if o.Session > 0 {
		return o.Session
	}
	return session
}

// Facts implements service.System.
func (System) Facts(o service.Options) service.Facts {
	return service.Facts{Fsync: !o.NoSync, Session: sessionOf(o), Fencing: true,
		Client: service.Library("github.com/nats-io/nats.go")}
}

const configName = "nats.conf"

// Prepare implements service.System.
func (System) Prepare(_ context.Context, m service.Member) error {
	return os.WriteFile(filepath.Join(m.Folder, configName), []byte(config(m)), 0o600)
}

func name(i int) string { return fmt.Sprintf("s%d", i+1) }

// config is a server's configuration. By default NATS forces what it has written to the disk every two
// minutes.
func config(m service.Member) string {
	sync := "always"
	if m.Options.NoSync {
		sync = `"2m"`
	}
	var b strings.Builder
	fmt.Fprintf(&b, "server_name: %s\nlisten: \"%s\"\nhttp: \"%s\"\n", name(m.Index),
		netip.AddrPortFrom(m.Addr, clientPort), netip.AddrPortFrom(m.Addr, webPort))
	fmt.Fprintf(&b, "jetstream: {store_dir: %q, max_mem: 64MB, max_file: 1GB, sync_interval: %s}\n",
		filepath.Join(m.Folder, "data"), sync)
	if len(m.Peers) > 1 {
		fmt.Fprintf(&b, "cluster: {\n  name: conclave\n  listen: \"%s\"\n  routes: [\n",
			netip.AddrPortFrom(m.Addr, routePort))
		for _, a := range m.Peers {
			fmt.Fprintf(&b, "    \"nats://%s\"\n", netip.AddrPortFrom(a, routePort))
		}
		b.WriteString("  ]\n}\n")
	}
	return b.String()
}

// Commands implements service.System.
func (System) Commands(m service.Member) []service.Command {
	c, err := service.Own("nats-server", "-c", configName)
	if err != nil {
		c.Path = "nats-server" // and that it is not found is said where it is started
	}
	return []service.Command{c}
}

func init() { service.Program("nats-server", serve) }

// serve is the function main of nats-server.
func serve(args []string) error {
	flags := flag.NewFlagSet("nats-server", flag.ContinueOnError)
	o, err := server.ConfigureOptions(flags, args, nil, nil, nil)
	if err != nil {
		return err
	}
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	s.ConfigureLogger()
	if err := server.Run(s); err != nil {
		return err
	}
	s.WaitForShutdown()
	return errors.New("the server has stopped")
}

// ask gets an answer of the server's monitoring.
func ask(ctx context.Context, m service.Member, what string, into any) error {
	ctx, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	url := "http://" + netip.AddrPortFrom(m.Addr, webPort).String() + what
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer func() { _ = r.Body.Close() }() // all was read
	b, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return err
	}
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %.200s", what, r.Status, b)
	}
	return json.Unmarshal(b, into)
}

// Ready implements service.System: JetStream has a leader, and this server is in step with it.
func (System) Ready(ctx context.Context, m service.Member) error {
	return ask(ctx, m, "/healthz", new(struct{}))
}

// Leader implements service.System: the leader of the stream that has the lock, where this server keeps a
// copy of it, and otherwise that of JetStream. A stream without copies has no election.
func (s System) Leader(ctx context.Context, m service.Member) (service.Leadership, error) {
	none := service.Leadership{Leader: -1}
	if len(m.Peers) == 1 {
		if err := s.Ready(ctx, m); err != nil {
			return none, err
		}
		return service.Leadership{Leader: 0}, nil
	}
	for _, account := range []string{"$G", "$SYS"} {
		answer := map[string]map[string]server.RaftzGroup{}
		if err := ask(ctx, m, "/raftz?acc="+account, &answer); err != nil {
			if account == "$G" && strings.Contains(err.Error(), "404") { // the account has no such groups
				continue
			}
			return none, err
		}
		for group, r := range answer[account] {
			if account == "$G" && !strings.HasPrefix(group, "S-") {
				continue // of a consumer
			}
			return leadership(m, r), nil
		}
	}
	return none, nil
}

// leadership is who leads a group of raft, by the names of its peers.
func leadership(m service.Member, r server.RaftzGroup) service.Leadership {
	leader := ""
	if r.State == server.Leader.String() {
		leader = name(m.Index)
	} else if p, is := r.Peers[r.Leader]; is {
		leader = p.Name
	}
	for i := range m.Peers {
		if name(i) == leader {
			return service.Leadership{Leader: i, Term: r.Term}
		}
	}
	return service.Leadership{Leader: -1}
}
