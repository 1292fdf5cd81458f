package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/runs/hub"
)

// stateFile has the fleet, in its folder; lockFile is locked while somebody changes it.
const stateFile, lockFile = "fleet.json", "lock"

// hubName is the hub among the machines in logs, its folder in that of the fleet, and its log beside that.
const hubName = "hub"

func (s *state) hubLog() string { return filepath.Join(s.folder, hubName+".log") }

// A Machine is a host of the fleet.
type Machine struct {
	Host
	Platform string    `json:"platform,omitempty"` // as linux/amd64; "": nothing of the fleet is there
	Since    time.Time `json:"since,omitzero"`     // its worker is there; zero: it is not
}

// A state is what a fleet is. It is on disk before a host is touched, so that down finds whatever up has
// begun.
type state struct {
	ID       string     `json:"id"`  // names the folders on the machines
	SSH      string     `json:"ssh"` // command
	Hub      string     `json:"hub"` // folder
	Own      bool       `json:"own"` // the hub is of this fleet, and ends with it
	Address  string     `json:"address"`
	Machines []*Machine `json:"machines"`

	folder string
	mu     sync.Mutex // of the machines
}

// load is the fleet in a folder.
func load(folder string) (*state, error) {
	b, err := files.Read(filepath.Join(folder, stateFile), files.MiB)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &none{folder}
	}
	if err != nil {
		return nil, err
	}
	s := &state{folder: folder}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(folder, stateFile), err)
	}
	return s, nil
}

// none is the error of a folder without a fleet.
type none struct{ folder string }

func (n *none) Error() string {
	return "there is no fleet in " + n.folder + "; start one with bench fleet up hosts.txt"
}

// Exit is that of a mistake on the command line.
func (*none) Exit() int { return answer.Usage }

// held has nobody else change the fleet in a folder until the state is released.
func held(folder string) (*flock.Flock, error) {
	l := flock.New(filepath.Join(folder, lockFile))
	ok, err := l.TryLock()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("another bench fleet changes the fleet in %s; wait until it has ended", folder)
	}
	return l, nil
}

// save writes the fleet to its folder.
func (s *state) save() error {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return files.Write(filepath.Join(s.folder, stateFile), append(b, '\n'))
}

// change changes the fleet and writes it.
func (s *state) change(f func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	return s.save()
}

// machine is the one of that name; nil: there is none.
func (s *state) machine(name string) *Machine {
	if i := slices.IndexFunc(s.Machines, func(m *Machine) bool { return m.Name == name }); i >= 0 {
		return s.Machines[i]
	}
	return nil
}

// remove takes what the fleet has on this machine away, and the folder for all state if that is empty then.
func (s *state) remove() error {
	if all, err := hub.StateFolder(); err == nil && all == filepath.Dir(s.folder) {
		defer func() { _ = os.Remove(all) }() // others have something there
	}
	return os.RemoveAll(s.folder)
}
