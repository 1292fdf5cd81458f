// Package postgresql runs a PostgreSQL server, and its advisory locks, which belong to a connection.
package postgresql

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/conclave-bench/conclave/systems/service"
	"github.com/conclave-bench/conclave/systems/service/servers"
)

// A System is a single PostgreSQL server.
type System struct{}

// Port is that of each server.
const Port = 5432

// About implements service.System.
func (System) About() service.About {
	return service.About{Name: "postgresql", Title: "PostgreSQL", Packages: []string{debian}, Sizes: []int{1}}
}

const debian = "postgresql" // the package

// Program is where a program of PostgreSQL is, for service.Find: Debian keeps those of each version in a
// folder.
func Program(name string) string { return "/usr/lib/postgresql/*/bin/" + name }

// Version implements service.System.
func (System) Version(ctx context.Context) (string, error) {
	return service.Version(ctx, "(PostgreSQL) ", Program("postgres"), debian)
}

// Facts implements service.System. The lock goes with the connection: the system of a client that is killed
// closes it. That of a client that cannot be reached is closed by the keep-alives of the server, after
// Session.
func (System) Facts(o service.Options) service.Facts {
	return service.Facts{Fsync: !o.NoSync, Client: service.Library("github.com/jackc/pgx/v5"), Fencing: true}
}

const dataFolder = "data"

// rules have clients connect without password: nobody else is in the network of the server.
const (
	rulesName = "pg_hba.conf"
	rules     = "host all all 0.0.0.0/0 trust\nhost all all ::/0 trust\n"
)

// Forget removes the note of the process that ran before from a folder of data: in a PID namespace of its
// own, that number is another's now.
func Forget(data string) error {
	if err := os.Remove(filepath.Join(data, "postmaster.pid")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Prepare implements service.System.
func (System) Prepare(ctx context.Context, m service.Member) error {
	data := filepath.Join(m.Folder, dataFolder)
	if err := Forget(data); err != nil {
		return err
	}
	if err := service.WriteFiles(m.Folder, map[string]string{rulesName: rules}); err != nil {
		return err
	}
	return service.Once(data, func(at string) error {
		return servers.Once(ctx, service.Command{Name: "initdb", Path: Program("initdb"), Dir: m.Folder,
			Args: []string{"-D", at, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale", "C",
				"--no-sync"}})
	})
}

// Settings are those of a server, by name.
func Settings(o service.Options) map[string]string {
	s := map[string]string{"fsync": "on", "shared_buffers": "16MB", "max_connections": "100",
		"unix_socket_directories": "",
		// Shared memory in the data folder goes with it, also after SIGKILL; that of POSIX would stay.
		"dynamic_shared_memory_type": "mmap"}
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
	args := []string{"-D", filepath.Join(m.Folder, dataFolder), "-h", m.Addr.String(), "-p", fmt.Sprint(Port),
		"-c", "hba_file=" + filepath.Join(m.Folder, rulesName)}
	for k, v := range Settings(m.Options) {
		args = append(args, "-c", k+"="+v)
	}
	return []service.Command{{Name: "postgres", Path: Program("postgres"), Args: args}}
}

// Ready implements service.System.
func (System) Ready(ctx context.Context, m service.Member) error {
	c, err := connect(ctx, []string{m.At(Port)}, "any")
	if err != nil {
		return err
	}
	return c.Close(ctx)
}
