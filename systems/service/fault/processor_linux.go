package fault

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A Processor limits how much of one processor the processes have that descend from some: by a control group
// where this process may make one, else by stopping them for a part of the time.
type Processor struct {
	roots func() []int // as this process sees them
	proc  string       // where /proc of this PID namespace is
	group string       // a folder of the control group; empty: there is none
	unify bool         // it is of the second version
	mu    sync.Mutex
	stop  func() // ends what Set has begun
}

// NewProcessor limits the processes roots and all that they have started and will start. Folder is for a
// mount of /proc, where that of this process shows another PID namespace.
func NewProcessor(roots func() []int, folder string) (*Processor, error) {
	p := &Processor{roots: roots, proc: "/proc"}
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		p.proc = filepath.Join(folder, "proc")
		if err := os.MkdirAll(p.proc, 0o700); err != nil {
			return nil, err
		}
		if err := unix.Mount("proc", p.proc, "proc", 0, ""); err != nil {
			return nil, fmt.Errorf("mount /proc of this PID namespace: %w", err)
		}
	}
	p.group, p.unify = newGroup()
	return p, nil
}

// How says what limits the processes.
func (p *Processor) How() string {
	switch {
	case p.group == "":
		return "stopped for a part of the time"
	case p.unify:
		return "control group, version 2"
	}
	return "control group, version 1"
}

// period is that of a quota, and of a turn of stopping and going on.
const period = 50 * time.Millisecond

// Set gives the processes a share of one processor; 0: all that they want.
func (p *Processor) Set(share float64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
	if p.group == "" {
		if share > 0 {
			p.stop = p.turns(share)
		}
		return nil
	}
	quota := "-1"
	if p.unify {
		quota = "max"
	}
	if share > 0 {
		quota = strconv.FormatInt(int64(share*float64(period/time.Microsecond)), 10)
	}
	write := func(name, text string) error {
		return os.WriteFile(filepath.Join(p.group, name), []byte(text), 0o600)
	}
	var err error
	if length := strconv.FormatInt(period.Microseconds(), 10); p.unify {
		err = write("cpu.max", quota+" "+length)
	} else {
		err = errors.Join(write("cpu.cfs_period_us", length), write("cpu.cfs_quota_us", quota))
	}
	return errors.Join(err, p.each(func(pid int) error { return write("cgroup.procs", strconv.Itoa(pid)) }))
}

// each does f to every process, also those that start meanwhile. One that has ended is no error.
func (p *Processor) each(f func(pid int) error) error {
	met := map[int]bool{}
	for again := true; again; {
		again = false
		for _, pid := range p.tree() {
			if met[pid] {
				continue
			}
			met[pid], again = true, true
			if err := f(pid); err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
		}
	}
	return nil
}

// tree is the processes and their descendants, as this process sees them.
func (p *Processor) tree() []int {
	children := map[int][]int{}
	list, err := filepath.Glob(p.proc + "/[0-9]*/stat")
	if err != nil {
		return nil
	}
	for _, name := range list {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		pid, rest, ok := strings.Cut(string(b), " ")
		fields := strings.Fields(rest[strings.LastIndexByte(rest, ')')+1:])
		n, err := strconv.Atoi(pid)
		if !ok || err != nil || len(fields) < 2 {
			continue
		}
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			children[parent] = append(children[parent], n)
		}
	}
	all := p.roots()
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

// turns stops the processes for a part of each period, until stop is called.
func (p *Processor) turns(share float64) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	signal := func(s unix.Signal) {
		_ = p.each(func(pid int) error { return unix.Kill(pid, s) }) // it has ended, perhaps
	}
	go func() {
		defer close(ended)
		for {
			signal(unix.SIGSTOP)
			select {
			case <-end:
				signal(unix.SIGCONT)
				return
			case <-time.After(time.Duration((1 - share) * float64(period))):
			}
			signal(unix.SIGCONT)
			select {
			case <-end:
				return
			case <-time.After(time.Duration(share * float64(period))):
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// Close ends the limit, and removes the control group once its processes have ended.
func (p *Processor) Close() error {
	p.mu.Lock()
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
	p.mu.Unlock()
	if p.proc != "/proc" {
		_ = unix.Unmount(p.proc, unix.MNT_DETACH) // it ends with the namespace, at the latest
	}
	if p.group == "" {
		return nil
	}
	return os.Remove(p.group)
}

// newGroup makes a control group with quotas below that of this process; empty: that cannot be had.
func newGroup() (path string, unified bool) {
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(b)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		root, limit := "/sys/fs/cgroup", "cpu.max"
		switch {
		case parts[0] == "0":
			unified = true
		case strings.Contains(","+parts[1]+",", ",cpu,"):
			root, limit, unified = "/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", false
		default:
			continue
		}
		path, err := os.MkdirTemp(filepath.Join(root, parts[2]), "conclave-")
		if err != nil {
			continue
		}
		if f, err := os.OpenFile(filepath.Join(path, limit), os.O_WRONLY, 0); err == nil {
			_ = f.Close() // nothing was written
			return path, unified
		}
		_ = os.Remove(path) // it has no quotas
	}
	return "", false
}
