// Package natskv runs NATS servers, which are part of this program, and locks in a bucket of JetStream's
// key-value store: a key that is created only if it is not there, and that goes if it is not renewed.
package natskv

import (
	"context"
	"errors"
	"fmt"
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

// About implements service.System.
func (System) About() service.About {
	return service.About{Name: "natskv", Title: "NATS JetStream KV", Sizes: []int{1, 3, 5}}
}

// Version implements service.System.
func (System) Version(context.Context) (string, error) { return server.VERSION, nil }

// defaults has how long a lock lasts; NATS itself has none.
var defaults = service.Options{Session: 10 * time.Second}

// Facts implements service.System.
func (System) Facts(o service.Options) service.Facts {
	return service.Facts{Fsync: !o.NoSync, Session: o.Or(defaults).Session, Fencing: true,
		Client: service.Library("github.com/nats-io/nats.go")}
}

const configName = "nats.conf"

// Prepare implements service.System.
func (System) Prepare(_ context.Context, m service.Member) error {
	return service.WriteFiles(m.Folder, map[string]string{configName: config(m)})
}

// config is a server's configuration. By default NATS forces what it has written to the disk every two
// minutes.
func config(m service.Member) string {
	sync := "always"
	if m.Options.NoSync {
		sync = `"2m"`
	}
	var b strings.Builder
	fmt.Fprintf(&b, "server_name: %s\nlisten: \"%s\"\nhttp: \"%s\"\n", m.Name(), m.At(clientPort),
		m.At(webPort))
	fmt.Fprintf(&b, "jetstream: {store_dir: %q, max_mem: 64MB, max_file: 1GB, sync_interval: %s}\n",
		filepath.Join(m.Folder, "data"), sync)
	if len(m.Peers) > 1 {
		fmt.Fprintf(&b, "cluster: {\n  name: conclave\n  listen: \"%s\"\n  routes: [\n", m.At(routePort))
		for _, a := range m.Peers {
			fmt.Fprintf(&b, "    \"nats://%s\"\n", service.At(a, routePort))
		}
		b.WriteString("  ]\n}\n")
	}
	return b.String()
}

// Commands implements service.System.
func (System) Commands(m service.Member) []service.Command {
	c, err := service.Own("nats-server", configName)
	if err != nil {
		c.Path = "nats-server" // and that it is not found is said where it is started
	}
	return []service.Command{c}
}

func init() { service.Program("nats-server", serve) }

// serve is the function main of nats-server.
func serve(args []string) error {
	o, err := server.ProcessConfigFile(args[0])
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

// Ready implements service.System: JetStream has a leader, and this server is in step with it.
func (System) Ready(ctx context.Context, m service.Member) error {
	return service.Get(ctx, m, webPort, "/healthz", nil)
}

// Leader implements service.Electing: the leader of the stream that has the lock, where this server keeps a
// copy of it, and otherwise that of JetStream. A stream without copies has no election.
func (System) Leader(ctx context.Context, m service.Member) (service.Leadership, error) {
	for _, account := range []string{"$G", "$SYS"} {
		answer := map[string]map[string]server.RaftzGroup{}
		if err := service.Get(ctx, m, webPort, "/raftz?acc="+account, &answer); err != nil {
			if account == "$G" && strings.Contains(err.Error(), "404") { // the account has no such groups
				continue
			}
			return service.Nobody, err
		}
		for group, r := range answer[account] {
			if account == "$G" && !strings.HasPrefix(group, "S-") {
				continue // of a consumer
			}
			if r.State == server.Leader.String() {
				return m.Led(m.Name(), r.Term), nil
			}
			return m.Led(r.Peers[r.Leader].Name, r.Term), nil
		}
	}
	return service.Nobody, nil
}
