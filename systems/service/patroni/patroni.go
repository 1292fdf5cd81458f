// Package patroni runs Patroni: PostgreSQL servers, one of which is the primary, beside etcd servers, in
// which Patroni keeps who that is. A lock is an advisory lock of the primary.
package patroni

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/systems/service"
	"github.com/conclave-bench/conclave/systems/service/etcd"
	"github.com/conclave-bench/conclave/systems/service/postgresql"
	"github.com/conclave-bench/conclave/systems/service/servers"
)

// A System is Patroni.
type System struct{ etcd etcd.System }

const webPort = 8008

// Name implements service.System.
func (*System) Name() string { return "patroni" }

// Title implements service.System.
func (*System) Title() string { return "Patroni" }

// Packages implements service.System.
func (s *System) Packages() []string {
	return append([]string{"patroni", "postgresql"}, s.etcd.Packages()...)
}

// Sizes implements service.System.
func (*System) Sizes() []int { return []int{3, 5} }

// Version implements service.System: that of Patroni, of PostgreSQL and of etcd.
func (s *System) Version(ctx context.Context) (string, error) {
	path, err := service.Find("patroni", "patroni")
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("patroni --version: %w", err)
	}
	database, err := postgresql.System{}.Version(ctx)
	if err != nil {
		return "", err
	}
	store, err := s.etcd.Version(ctx)
	if err != nil {
		return "", err
	}
	own := strings.TrimSpace(strings.TrimPrefix(string(out), "patroni "))
	return fmt.Sprintf("%s (PostgreSQL %s, etcd %s)", own, database, store), nil
}

// Facts implements service.System. Replication does not wait for a replica by default, so that the next
// primary may not know of the last tokens: there is no fencing.
func (*System) Facts(o service.Options) service.Facts {
	f := postgresql.System{}.Facts(o)
	f.Fencing, f.Predicted, f.Set = false, "lease", "patroni"
	loop, patience := timing(o)
	f.Heartbeat, f.ElectionTimeout = time.Duration(loop)*time.Second, time.Duration(patience)*time.Second
	return f
}

const (
	configName = "patroni.yml"
	dataFolder = "postgresql"
	etcdFolder = "etcd"
	scope      = "conclave"
)

// below is the member as the etcd server that belongs to it. It has etcd's own time-outs.
func below(m service.Member) service.Member {
	m.Folder = filepath.Join(m.Folder, etcdFolder)
	m.Options = service.Options{NoSync: m.Options.NoSync}
	return m
}

// Prepare implements service.System.
func (s *System) Prepare(ctx context.Context, m service.Member) error {
	err := os.Remove(filepath.Join(m.Folder, dataFolder, "postmaster.pid")) // the number is another's now
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	store := below(m)
	if err := os.MkdirAll(store.Folder, 0o700); err != nil {
		return err
	}
	if err := s.etcd.Prepare(ctx, store); err != nil {
		return err
	}
	text, err := config(m)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(m.Folder, configName), text, 0o600)
}

func name(i int) string { return fmt.Sprintf("s%d", i+1) }

// Defaults of Patroni, in seconds.
const (
	ttl      = 30
	loopWait = 10
)

// timing is loop_wait and ttl, in whole seconds, as Patroni has them.
func timing(o service.Options) (loop, patience int) {
	loop, patience = loopWait, ttl
	if o.Heartbeat > 0 {
		loop = max(1, int(o.Heartbeat/time.Second))
	}
	if o.ElectionTimeout > 0 {
		patience = max(1, int(o.ElectionTimeout/time.Second))
	}
	return loop, patience
}

// config is a member's configuration, in JSON, which is YAML as well.
func config(m service.Member) ([]byte, error) {
	program, err := postgresql.Program("postgres")
	if err != nil {
		return nil, err
	}
	loop, patience := timing(m.Options)
	type object = map[string]any
	var stores []string
	for _, a := range m.Peers {
		stores = append(stores, etcd.ClientAddress(a))
	}
	web, database := netip.AddrPortFrom(m.Addr, webPort), netip.AddrPortFrom(m.Addr, postgresql.Port)
	rules := []string{"host all all 0.0.0.0/0 trust", "host replication all 0.0.0.0/0 trust",
		"host all all ::/0 trust", "host replication all ::/0 trust"}
	return json.MarshalIndent(object{
		"scope": scope, "name": name(m.Index),
		"restapi": object{"listen": web, "connect_address": web},
		"etcd3":   object{"hosts": stores},
		"bootstrap": object{
			"initdb": []any{object{"encoding": "UTF8"}, object{"locale": "C"}, object{"auth": "trust"}},
			"pg_hba": rules,
			"dcs": object{"ttl": patience, "loop_wait": loop, "retry_timeout": max(1, (patience-loop)/2),
				"postgresql": object{"use_pg_rewind": true}},
		},
		"postgresql": object{
			"listen": database, "connect_address": database, "bin_dir": filepath.Dir(program),
			"data_dir": filepath.Join(m.Folder, dataFolder), "pgpass": filepath.Join(m.Folder, "pgpass"),
			"parameters": postgresql.Settings(m.Options), "pg_hba": rules,
			"basebackup": []any{object{"checkpoint": "fast"}},
			"authentication": object{
				"superuser":   object{"username": "postgres", "password": "postgres"},
				"replication": object{"username": "replicator", "password": "replicator"},
			},
		},
	}, "", "  ")
}

// Commands implements service.System: Patroni itself starts PostgreSQL.
func (s *System) Commands(m service.Member) []service.Command {
	store := s.etcd.Commands(below(m))
	path, err := service.Find("patroni", "patroni")
	if err != nil {
		path = "patroni" // and that it is not found is said where it is started
	}
	own := servers.SeesItself(service.Command{Name: "patroni", Path: path, Args: []string{configName}})
	return append(store, own)
}

// Ready implements service.System: it leads, or it follows the one that leads.
func (*System) Ready(ctx context.Context, m service.Member) error {
	ctx, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	url := "http://" + netip.AddrPortFrom(m.Addr, webPort).String() + "/readiness"
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(io.LimitReader(r.Body, 64<<10))
	_ = r.Body.Close() // all was read
	if r.StatusCode != http.StatusOK {
		return errors.Join(fmt.Errorf("%s: %.200s", r.Status, b), err)
	}
	return err
}

// Leader implements service.System: who holds Patroni's key, as the etcd server of the member knows. That one
// is on the way to become primary. To ask Patroni would take milliseconds of processor time each.
func (s *System) Leader(ctx context.Context, m service.Member) (service.Leadership, error) {
	none := service.Leadership{Leader: -1}
	value, created, err := s.etcd.Local(ctx, m.Addr, "/service/"+scope+"/leader")
	if err != nil {
		return none, err
	}
	i, err := strconv.Atoi(strings.TrimPrefix(value, "s"))
	if err != nil || i < 1 || i > len(m.Peers) {
		return none, nil
	}
	return service.Leadership{Leader: i - 1, Term: uint64(created)}, nil
}

// Dial implements service.System.
func (*System) Dial(ctx context.Context, c service.Cluster, _ string) (service.Client, error) {
	conn, err := postgresql.Dial(ctx, c, postgresql.Port)
	if err != nil {
		return nil, err
	}
	return &client{conn}, nil
}

// A client has no use for tokens.
type client struct{ service.Client }

// Acquire implements service.Client.
func (c *client) Acquire(ctx context.Context, key service.Key, value string) (service.Grant, error) {
	g, err := c.Client.Acquire(ctx, key, value)
	return service.Grant{Lost: g.Lost}, err
}

// Write implements service.Client.
func (*client) Write(context.Context, int64, string) error { return service.ErrUnfenced }
