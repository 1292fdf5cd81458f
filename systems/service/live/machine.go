package live

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/systems/service"
	failing "github.com/conclave-bench/conclave/systems/service/fault"
	"github.com/conclave-bench/conclave/systems/service/servers"
)

// A machine is what fails below the programs of a server. It has only what the trial's faults need: a disk
// that can fail costs time also while it works.
type machine struct {
	disk   *failing.Disk
	clock  *failing.Clock
	cpu    *failing.Processor
	states chan algo.Ailment
	over   sync.WaitGroup // for what takes on the states
}

// The faults of disks and clocks.
var (
	disks  = []string{fault.SlowDisk, fault.HungDisk, fault.FullDisk}
	clocks = []string{"skew", fault.Drift}
)

func anyOf(faults, of []string) bool {
	return slices.ContainsFunc(faults, func(f string) bool { return slices.Contains(of, f) })
}

// newMachine makes the machine of a server, whose folder it may move to a disk that can fail. The server's
// programs need the wrap that it returns.
func newMachine(s *proc.Spawner, faults []string, m *service.Member) (out *machine, wrap servers.Wrap,
	err error) {
	out = &machine{states: make(chan algo.Ailment, 16)}
	if anyOf(faults, disks) {
		store, at := filepath.Join(m.Folder, "store"), filepath.Join(m.Folder, "disk")
		for _, dir := range []string{store, at} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return out, nil, err
			}
		}
		if out.disk, err = failing.Mount(s, store, at); err != nil {
			return out, nil, err
		}
		m.Folder = at
	}
	if anyOf(faults, clocks) {
		if out.clock, err = failing.NewClock(m.Folder); err != nil {
			return out, nil, err
		}
		wrap = out.clock.Wrap
	}
	return out, wrap, nil
}

// serve has the machine of running programs be in the states that it is given. An error makes the trial
// invalid.
func (m *machine) serve(faults []string, running *servers.Server, folder string, h algo.Host) error {
	var err error
	if slices.Contains(faults, "throttle") {
		if m.cpu, err = failing.NewProcessor(running.Pids, folder); err != nil {
			return err
		}
	}
	m.over.Go(func() {
		for a := range m.states {
			if err := m.become(&a); err != nil {
				h.Fail(fmt.Errorf("a fault of a server's machine: %w", err))
			}
		}
	})
	return nil
}

// become is the change to a state.
func (m *machine) become(a *algo.Ailment) error {
	var errs []error
	if m.disk != nil {
		state := failing.DiskState{Hung: a.Disk == fault.HungDisk, Full: a.Disk == fault.FullDisk}
		if a.Disk == fault.SlowDisk {
			state.Slow = a.By
		}
		errs = append(errs, m.disk.Set(state))
	}
	if m.clock != nil {
		errs = append(errs, m.clock.Set(a.Ahead, a.Speed))
	}
	if m.cpu != nil {
		errs = append(errs, m.cpu.Set(a.CPU))
	}
	return errors.Join(errs...)
}

// heal ends all faults, for good, so that programs can end, and what reads their files.
func (m *machine) heal() {
	close(m.states)
	m.over.Wait()
	if m.disk != nil {
		_ = m.disk.Set(failing.DiskState{}) // its process may have ended
	}
	if m.cpu != nil {
		_ = m.cpu.Close() // likewise
	}
}

// close gives up what the machine had, after its programs.
func (m *machine) close() {
	if m.disk != nil {
		_ = m.disk.Close() // the namespace ends with the node
	}
}

// ails says why servers of s cannot have a fault.
func ails(s service.System) func(name string) error {
	return func(name string) error {
		switch {
		case slices.Contains(clocks, name):
			return deaf(s)
		case name == fault.LyingDisk:
			return errors.New("its disk is a file system of this program, which keeps what it has " +
				"acknowledged; use slow-disk, hung-disk or full-disk")
		case name == fault.Slow:
			return errors.New("its programs are others'; use throttle, with a share of a processor")
		}
		return nil
	}
}

// deaf says why the programs of a system cannot have a clock of their own.
func deaf(s service.System) error {
	addr := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	peers := slices.Repeat([]netip.Addr{addr}, s.About().Sizes[0])
	return failing.Deaf(s.Commands(service.Member{Addr: addr, Peers: peers, Folder: os.TempDir()}))
}

var _ algo.Ailing = (*server)(nil)

// Ail implements algo.Ailing.
func (s *server) Ail(a algo.Ailment) {
	if a.Speed == 0 {
		a.Speed = 1
	}
	s.machine.states <- a
}
