// Package postgresql runs a PostgreSQL server, and its advisory locks, which belong to a connection.
package postgresql

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/systems/service"
	"github.com/conclave-bench/conclave/systems/service/servers"
)

// A System is a single PostgreSQL server.
type System struct{}

// Port is that of each server.
const Port = 5432

// Name implements service.System.
func (System) Name() string { return "postgresql" }

// Title implements service.System.
func (System) Title() string { return "PostgreSQL" }

// Packages implements service.System.
func (System) Packages() []string { return []string{"postgresql"} }

// Sizes implements service.System.
func (System) Sizes() []int { return []int{1} }

// Program is the path of a program of PostgreSQL: Debian keeps those of each version in a folder.
func Program(name string) (string, error) {
	return service.Find(name, "postgresql", "/usr/lib/postgresql/*/bin/"+name)
}

// Version implements service.System.
func (System) Version(ctx context.Context) (string, error) {
	path, err := Program("postgres")
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("postgres --version: %w", err)
	}
	words := strings.Fields(strings.TrimPrefix(string(out), "postgres (PostgreSQL) "))
	if len(words) == 0 {
		return "", fmt.Errorf("postgres --version: %q", out)
	}
	return words[0], nil
}

// Facts implements service.System. The lock goes with the connection: the system of a client that is killed
// closes it. That of a client that cannot be reached is closed by the keep-alives of the server, after
// Session.
func (System) Facts(o service.Options) service.Facts {
	return service.Facts{Fsync: !o.NoSync, Client: service.Library("github.com/jackc/pgx/v5"), Fencing: true}
}

const dataFolder = "data"

// everybody has clients connect without password: nobody else is in the network of the server.
const everybody = "\nhost all all 0.0.0.0/0 trust\nhost all all ::/0 trust\n"

// Prepare implements service.System. It removes the note of the process that ran before: in a PID namespace
// of its own, that number is another's now.
func (System) Prepare(ctx context.Context, m service.Member) error {
	data := filepath.Join(m.Folder, dataFolder)
	err := os.Remove(filepath.Join(data, "postmaster.pid"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(data); err == nil {
		return nil
	}
	initdb, err := Program("initdb")
	if err != nil {
		return err
	}
	half := data + ".new"
	if err := os.RemoveAll(half); err != nil {
		return err
	}
	err = servers.Once(ctx, service.Command{Name: "initdb", Path: initdb, Dir: m.Folder,
		Args: []string{"-D", half, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale", "C",
			"--no-sync"}})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(half, "pg_hba.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(everybody); err != nil {
		return errors.Join(err, f.Close())
	}
	return errors.Join(f.Close(), os.Rename(half, data))
}

// Settings are those of a server, by name.
func Settings(o service.Options) map[string]string {
	s := map[string]string{"fsync": "on", "shared_buffers": "16MB", "max_connections": "100",
		"unix_socket_directories": ""}
	if o.NoSync {
		s["fsync"] = "off"
	}
	if o.Session > 0 { // the first keep-alive after a third of it, and each next one
		third := max(1, int(o.Session/time.Second/3))
		s["tcp_keepalives_idle"], s["tcp_keepalives_interval"] = fmt.Sprint(third), fmt.Sprint(third)
		s["tcp_keepalives_count"] = "2"
		s["tcp_user_timeout"] = fmt.Sprint(o.Session.Milliseconds())
	}
	return s
}

// Commands implements service.System.
func (System) Commands(m service.Member) []service.Command {
	path, err := Program("postgres")
	if err != nil {
		path = "postgres" // and this error is met again where it is started
	}
	args := []string{"-D", filepath.Join(m.Folder, dataFolder), "-h", m.Addr.String(), "-p", fmt.Sprint(Port)}
	for k, v := range Settings(m.Options) {
		args = append(args, "-c", k+"="+v)
	}
	return []service.Command{{Name: "postgres", Path: path, Args: args}}
}

// Ready implements service.System.
func (System) Ready(ctx context.Context, m service.Member) error {
	ctx, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	c, err := connect(ctx, []netip.Addr{m.Addr}, Port, false)
	if err != nil {
		return err
	}
	return c.Close(ctx)
}

// Leader implements service.System: there is one server.
func (s System) Leader(ctx context.Context, m service.Member) (service.Leadership, error) {
	if err := s.Ready(ctx, m); err != nil {
		return service.Leadership{Leader: -1}, err
	}
	return service.Leadership{Leader: 0}, nil
}

// Dial implements service.System.
func (System) Dial(ctx context.Context, c service.Cluster, name string) (service.Client, error) {
	return Dial(ctx, c, Port)
}
