package hub

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/pkg/bus"
)

// What a machine may do that has joined a hub.
const (
	// Worker runs trials, and hosts nodes.
	Worker = "worker"
	// Runner has runs done.
	Runner = "runner"
)

// The files of a hub's folder. Nobody but its user can read them.
const (
	identityFile = "hub.json"
	tokensFile   = "tokens.json"
	lockFile     = ".lock"   // of the hub that runs
	changesFile  = ".tokens" // likewise a lock: of who changes the tokens
	natsFolder   = "nats"
	programs     = "programs"
	mostIdentity = 64 << 10
	mostTokens   = 16 << 20
)

// An identity is what a hub keeps when it is started again.
type identity struct {
	Authority []byte            `json:"authority"` // PEM, with its key
	Passwords map[string]string `json:"passwords"` // by role: of the NATS server within
	Listens   string            `json:"listens"`   // at which this machine reaches the hub
	Invites   string            `json:"invites"`   // at which other machines reach it

	authority *bus.Authority
}

// A Folder is where a hub keeps its identity, its tokens and its queue.
type Folder string

// StateFolder is the folder for what this program keeps for its user, from run to run.
func StateFolder() (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", mistaken("there is no home folder to keep anything in (%v); name a folder with "+
				"--folder, or set XDG_STATE_HOME", err)
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "conclave"), nil
}

// DefaultFolder is the folder of a hub that none is named for.
func DefaultFolder() (Folder, error) {
	dir, err := StateFolder()
	return Folder(filepath.Join(dir, "hub")), err
}

// FleetFolder is the folder of the hub of the fleet that none is named for.
func FleetFolder() (Folder, error) {
	dir, err := StateFolder()
	return Folder(filepath.Join(dir, "fleet", "hub")), err
}

// Program is bench for a platform, as linux-arm64, that a hub with that folder has unpacked; false: it has
// none.
func (f Folder) Program(platform string) (path string, ok bool) {
	path = f.in(filepath.Join(programs, platform, "bench"))
	_, err := os.Stat(path)
	return path, err == nil
}

func (f Folder) in(name string) string { return filepath.Join(string(f), name) }

// hold makes the folder, and locks it for a hub until the lock is closed.
func (f Folder) hold() (*flock.Flock, error) {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return nil, mistaken("the folder of the hub cannot be made: %v; name another one with --folder", err)
	}
	lock := flock.New(f.in(lockFile), flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	if err != nil {
		return nil, mistaken("the folder of the hub cannot be used: %v; name another one with --folder", err)
	}
	if !held {
		return nil, mistaken("a hub runs already with the folder %s; end it, or name another folder with "+
			"--folder and another port with --listen", f)
	}
	return lock, nil
}

// read is the identity of a hub that was started there at least once.
func (f Folder) read() (*identity, error) {
	data, err := files.Read(f.in(identityFile), mostIdentity)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, mistaken("no hub was started with the folder %s; start one with bench hub, or name its "+
			"folder with --folder", f)
	}
	id := &identity{}
	if err == nil {
		err = json.Unmarshal(data, id)
	}
	if err == nil {
		id.authority, err = bus.ParseAuthority(id.Authority)
	}
	if err != nil {
		return nil, mistaken("the folder %s is not that of a hub: %v; name another one with --folder", f, err)
	}
	return id, nil
}

// open is the identity of the hub that starts there, the first time a new one.
func (f Folder) open() (*identity, error) {
	if _, err := os.Lstat(f.in(identityFile)); !errors.Is(err, fs.ErrNotExist) {
		return f.read()
	}
	id := &identity{Passwords: map[string]string{Worker: rand.Text(), Runner: rand.Text()}}
	var err error
	if id.authority, err = bus.NewAuthority(); err == nil {
		id.Authority, err = id.authority.Marshal()
	}
	return id, err
}

func (f Folder) write(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return writeSecret(f.in(name), data)
}

// writeSecret makes or replaces a file that its user alone can read.
func writeSecret(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".new-*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // gone already if all went well
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// A pass is a token as the hub remembers it. One that is of no use any more is kept for a while,
// so that the hub can say why it is.
type pass struct {
	Name    string    `json:"name"` // see token.name
	Role    string    `json:"role"`
	Left    int       `json:"left"` // machines that it still lets in
	Expires time.Time `json:"expires"`
}

// keepPasses is how long a pass is kept behind its end.
const keepPasses = 30 * 24 * time.Hour

// passes reads the tokens of a hub, has them changed, and writes them if that is without error.
// Several processes may do so.
func (f Folder) passes(change func(map[string]*pass) error) error {
	lock := flock.New(f.in(changesFile), flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	var list []*pass
	data, err := files.Read(f.in(tokensFile), mostTokens)
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("tokens of the hub: %w", err)
	}
	all := map[string]*pass{}
	for _, p := range list {
		if time.Since(p.Expires) < keepPasses {
			all[p.Name] = p
		}
	}
	if err := change(all); err != nil {
		return err
	}
	list = list[:0]
	for _, p := range all {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *pass) int { return a.Expires.Compare(b.Expires) })
	return f.write(tokensFile, list)
}

// admit takes one place of a token, and says which role its bearer has.
func (f Folder) admit(t token) (role string, err error) {
	err = f.passes(func(all map[string]*pass) error {
		const another = "; bench hub token prints another one"
		p := all[t.name()]
		switch {
		case p == nil:
			return mistaken("this hub does not know the token%s", another)
		case time.Now().After(p.Expires):
			return mistaken("the token has expired, at %s%s", p.Expires.UTC().Format(time.RFC3339), another)
		case p.Left < 1:
			return mistaken("the token is used up: as many machines have joined with it as it was made "+
				"for%s (--machines N for several machines)", another)
		}
		p.Left--
		role = p.Role
		return nil
	})
	return role, err
}

// revoke makes a token of no use.
func (f Folder) revoke(t token) error {
	return f.passes(func(all map[string]*pass) error {
		if p := all[t.name()]; p != nil {
			p.Left = 0
		}
		return nil
	})
}

// A TokenRequest says whom a token is to let in.
type TokenRequest struct {
	Machines int           // how many
	For      time.Duration // for how long from now
	Role     string        // Worker or Runner
}

// Default values of a request.
const (
	DefaultMachines = 1
	DefaultTokenFor = time.Hour
)

// Invite makes a token of the hub with that folder, whether it runs or not.
func (f Folder) Invite(r TokenRequest) (i Invitation, err error) {
	switch {
	case r.Machines < 1:
		return i, mistaken("--machines %d, expected 1 or more", r.Machines)
	case r.For <= 0:
		return i, mistaken("--token-for %v, expected a time as 1h", r.For)
	}
	id, err := f.read()
	if err != nil {
		return i, err
	}
	i = Invitation{id.Invites, newToken(pinOf(id.authority.Certificate()))}
	return i, f.passes(func(all map[string]*pass) error {
		all[i.token.name()] = &pass{i.token.name(), r.Role, r.Machines, time.Now().Add(r.For)}
		return nil
	})
}

// reachable is an address at which this machine reaches a listener.
func reachable(listener net.Addr) string {
	host, port, err := net.SplitHostPort(listener.String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
