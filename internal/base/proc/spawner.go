// Package proc starts child processes that do not outlive this one, signals them, and
// says how they ended.
package proc

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// closePatience is how long Spawner.Close waits for children that it has killed.
// Only a process that hangs in the kernel takes longer.
const closePatience = 5 * time.Second

// FilesPerChild is how many open files a child costs this process.
const FilesPerChild = 5

// A Command is a program to start.
type Command struct {
	Path string   // of the executable; not searched for
	Args []string // without the program's own name
	Env  []string // "KEY=value", the last of a key counts; nil: as this process has it
	Dir  string   // working directory; empty: that of this process
	// Name is what the program finds as its own name; empty: Path.
	Name string
	// Files are open files that the child inherits beside its three streams, from number 3 on.
	Files []*os.File
	// Sweep has everything ended that the child has started, when it has ended itself: on Linux also
	// what has left its process group.
	Sweep bool
	// Joins has the child in the process group of this process: a signal to the group reaches both.
	Joins bool
	// Outlives has the child not end with this process on Linux either: it notices by the end of its input,
	// and has something to do then.
	Outlives bool
	// Apart has the child be the first process of a PID namespace of its own, as another user than root:
	// with it ends all that it has started, and Pause stops that as well. It may mount file systems that
	// nobody else sees. Linux alone has such namespaces.
	Apart bool
	// Net is the network namespace, an open file of /proc, in which the child runs; nil: that of this
	// process. Linux alone has them, and to enter one takes CAP_SYS_ADMIN.
	Net *os.File
}

// A Spawner starts child processes that do not outlive this process. On Linux the
// kernel kills a child when the thread that forked it ends, so that one thread
// that never ends forks them all. On other systems, and besides, a child notices
// by its standard input, which reaches its end.
type Spawner struct {
	requests chan spawnRequest
	closed   chan struct{}

	mu       sync.Mutex // for the closing of closed, and
	children map[*Child]struct{}
}

var errSpawnerClosed = errors.New("the spawner is closed")

type spawnRequest struct {
	command Command
	files   []*os.File
	result  chan<- spawnResult
	over    <-chan struct{} // closed when the process has ended
}

type spawnResult struct {
	process *os.Process
	err     error
}

// NewSpawner returns a spawner. Close it. No child inherits files that the parent of
// this process happened to leave open.
func NewSpawner() *Spawner {
	closeStrangeFilesOnExec()
	s := &Spawner{
		requests: make(chan spawnRequest),
		closed:   make(chan struct{}),
		children: make(map[*Child]struct{}),
	}
	go s.fork()
	return s
}

// fork starts processes on a thread of its own until the spawner is closed. The
// thread is given back then, and not ended with the goroutine.
func (s *Spawner) fork() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		select {
		case <-s.closed:
			return
		case r := <-s.requests:
			r.result <- r.start()
		}
	}
}

// start starts the process on the present thread.
func (r *spawnRequest) start() spawnResult {
	args := append([]string{cmp.Or(r.command.Name, r.command.Path)}, r.command.Args...)
	p, err := os.StartProcess(r.command.Path, args, &os.ProcAttr{
		Dir: r.command.Dir, Env: lastOfKeys(r.command.Env), Files: r.files,
		Sys: childAttr(&r.command),
	})
	return spawnResult{p, err}
}

// Start starts a child in a process group of its own, so that Ctrl-C at the
// terminal reaches this process alone. It inherits no file but its standard
// input, output and error, all of them pipes. Start returns when the program is
// loaded; some milliseconds pass before it does anything.
func (s *Spawner) Start(c Command) (*Child, error) {
	if errNoChildren != nil {
		return nil, fmt.Errorf("start process: %s: %w", c.Path, errNoChildren)
	}
	child, err := s.start(c)
	if err != nil {
		return nil, fmt.Errorf("start process: %w", explainStart(err))
	}
	return child, nil
}

func (s *Spawner) start(c Command) (*Child, error) {
	var ours, theirs [3]*os.File
	closeAll := func(files []*os.File) {
		for _, f := range files {
			if f != nil {
				_ = f.Close() // an end that was given away, or of a child that never was
			}
		}
	}
	defer func() { closeAll(theirs[:]) }()
	for i := range theirs {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(ours[:])
			return nil, err
		}
		if ours[i], theirs[i] = r, w; i == 0 {
			ours[i], theirs[i] = w, r
		}
	}
	trail := ""
	if c.Sweep {
		adopt()
		trail = newTrail()
		if c.Env == nil {
			c.Env = os.Environ()
		}
		c.Env = append(slices.Clone(c.Env), trail)
	}
	over := make(chan struct{})
	process, err := s.request(c, append(theirs[:], c.Files...), over)
	if err != nil {
		closeAll(ours[:])
		return nil, err
	}
	child := &Child{
		Stdin: ours[0], Stdout: ours[1], stderr: newExcerpt(ours[2]),
		pid: process.Pid, joins: c.Joins, apart: c.Apart, trail: trail, done: make(chan struct{}),
	}
	if !s.adopt(child) { // closed in the meantime
		child.Kill()
	}
	go s.supervise(child, process, over)
	return child, nil
}

// trailKey is the variable of the environment by which what a child starts is found again.
const trailKey = "BENCH_CHILD"

var trails atomic.Uint64

// newTrail is that variable with a value that no other child has. It begins with that of this
// process, if it has one, so that its own parent finds what it leaves.
func newTrail() string {
	own := cmp.Or(os.Getenv(trailKey), "c")
	return fmt.Sprintf("%s=%s.%d-%d", trailKey, own, os.Getpid(), trails.Add(1))
}

// request has a process forked.
func (s *Spawner) request(c Command, files []*os.File, over <-chan struct{}) (*os.Process, error) {
	result := make(chan spawnResult, 1)
	if c.Net != nil && !s.isClosed() { // start looks again
		startIn(spawnRequest{c, files, result, over})
		r := <-result
		return r.process, r.err
	}
	select {
	case <-s.closed:
		return nil, fmt.Errorf("%s: %w", c.Path, errSpawnerClosed)
	case s.requests <- spawnRequest{c, files, result, over}:
		r := <-result
		return r.process, r.err
	}
}

// adopt says whether Close will find the child.
func (s *Spawner) adopt(c *Child) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.children[c] = struct{}{}
	return !s.isClosed()
}

func (s *Spawner) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// supervise waits for the child's end.
func (s *Spawner) supervise(c *Child, process *os.Process, over chan<- struct{}) {
	c.reap(process)
	close(over)
	if c.trail != "" {
		sweep(c.trail)
	}
	close(c.done)
	c.stderr.finish()
	s.mu.Lock()
	delete(s.children, c)
	s.mu.Unlock()
}

// Close kills the children that are alive and waits for their end. The pipes stay
// open, so that what a child wrote can still be read. Close may be called twice.
func (s *Spawner) Close() error {
	s.mu.Lock()
	if !s.isClosed() {
		close(s.closed)
	}
	children := make([]*Child, 0, len(s.children))
	for c := range s.children {
		children = append(children, c)
	}
	s.mu.Unlock()

	for _, c := range children {
		c.Kill()
	}
	deadline := time.NewTimer(closePatience)
	defer deadline.Stop()
	for i, c := range children {
		select {
		case <-c.done:
		case <-deadline.C:
			return fmt.Errorf("close spawner: process %d: killed, but not gone after %v "+
				"(%d such processes at most)", c.pid, closePatience, len(children)-i)
		}
	}
	return nil
}

// lastOfKeys is env without the settings that a later one of their key replaces:
// programs differ in which of two they believe.
func lastOfKeys(env []string) []string {
	if env == nil {
		return nil
	}
	kept := make([]string, 0, len(env))
	seen := make(map[string]bool, len(env))
	for _, setting := range slices.Backward(env) {
		key, _, _ := strings.Cut(setting, "=")
		if !seen[key] {
			seen[key] = true
			kept = append(kept, setting)
		}
	}
	slices.Reverse(kept)
	return kept
}

// explainStart adds a remedy to the errors that have one.
func explainStart(err error) error {
	switch {
	case isTooManyFiles(err):
		return fmt.Errorf("%w: a process takes %d open files here; raise the limit with "+
			"\"ulimit -n\" or use fewer nodes", err, FilesPerChild)
	case isTooManyProcesses(err):
		return fmt.Errorf("%w: raise the limit with \"ulimit -u\" or use fewer nodes", err)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w: is it executable?", err)
	}
	return err
}

// CanSpawn says why this system cannot have child processes; nil: it can.
func CanSpawn() error { return errNoChildren }
