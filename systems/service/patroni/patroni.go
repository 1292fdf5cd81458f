// Package patroni runs Patroni: PostgreSQL servers, one of which is the primary, beside etcd servers, in
// which Patroni keeps who that is. A lock is an advisory lock of the primary.
package patroni

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/systems/service"
	"github.com/conclave-bench/conclave/systems/service/etcd"
	"github.com/conclave-bench/conclave/systems/service/postgresql"
	"github.com/conclave-bench/conclave/systems/service/servers"
)

// A System is Patroni.
type System struct{ etcd etcd.System }

const webPort = 8008

// About implements service.System.
func (s *System) About() service.About {
	return service.About{Name: "patroni", Title: "Patroni", Sizes: []int{3, 5},
		Packages: slices.Concat([]string{"patroni"}, postgresql.System{}.About().Packages,
			s.etcd.About().Packages)}
}

// Version implements service.System: that of Patroni, of PostgreSQL and of etcd.
func (s *System) Version(ctx context.Context) (string, error) {
	own, err := service.Version(ctx, "patroni ", "patroni", "patroni")
	if err != nil {
		return "", err
	}
	database, err := postgresql.System{}.Version(ctx)
	if err != nil {
		return "", err
	}
	store, err := s.etcd.Version(ctx)
	if err != nil {
		return "", err
	}
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
	if err := postgresql.Forget(filepath.Join(m.Folder, dataFolder)); err != nil {
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
	return service.WriteFiles(m.Folder, map[string]string{configName: string(text)})
}

// defaults are Patroni's loop_wait and ttl.
var defaults = service.Options{Heartbeat: 10 * time.Second, ElectionTimeout: 30 * time.Second}

// timing is loop_wait and ttl, in whole seconds, as Patroni has them.
func timing(o service.Options) (loop, patience int) {
	o = o.Or(defaults)
	return max(1, int(o.Heartbeat/time.Second)), max(1, int(o.ElectionTimeout/time.Second))
}

// config is a member's configuration, in JSON, which is YAML as well.
func config(m service.Member) ([]byte, error) {
	program, err := service.Find(postgresql.Program("postgres"), "postgresql")
	if err != nil {
		return nil, err
	}
	loop, patience := timing(m.Options)
	type object = map[string]any
	stores := service.Cluster{Servers: m.Peers}.At(etcd.ClientPort)
	web, database := m.At(webPort), m.At(postgresql.Port)
	rules := []string{"host all all 0.0.0.0/0 trust", "host replication all 0.0.0.0/0 trust",
		"host all all ::/0 trust", "host replication all ::/0 trust"}
	return json.MarshalIndent(object{
		"scope": scope, "name": m.Name(),
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
	own := servers.UnderInit(service.Command{Name: "patroni", Path: path, Args: []string{configName}})
	return append(store, own)
}

// Ready implements service.System: it leads, or it follows the one that leads.
func (*System) Ready(ctx context.Context, m service.Member) error {
	return service.Get(ctx, m, webPort, "/readiness", nil)
}

// Leader implements service.Electing: who holds Patroni's key, as the etcd server of the member knows. That
// one is on the way to become primary. To ask Patroni would take milliseconds of processor time each.
func (s *System) Leader(ctx context.Context, m service.Member) (service.Leadership, error) {
	value, created, err := s.etcd.Local(ctx, m.Addr, "/service/"+scope+"/leader")
	if err != nil {
		return service.Nobody, err
	}
	return m.Led(value, uint64(created)), nil
}

// Dial implements service.System.
func (*System) Dial(ctx context.Context, c service.Cluster, name string) (service.Client, error) {
	conn, err := postgresql.System{}.Dial(ctx, c, name)
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
