// Package servers runs the servers of a system as child processes.
package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/base/text"
	"github.com/conclave-bench/conclave/systems/service"
)

// A Server is a member whose programs run.
type Server struct {
	System service.System
	Member service.Member
	mu     sync.Mutex // for running
	began  []*running
}

// A running is a program, and the end of what it has written.
type running struct {
	name  string
	begin func() (*proc.Child, error) // starts it, as at first
	child *proc.Child
	mu    sync.Mutex
	out   []byte
	ended chan struct{} // at the end of what it writes
}

// A Wrap returns the command to run in place of another, whose path and folder are known.
type Wrap func(service.Command) service.Command

// Start prepares the member's folder and starts its programs. Apart has each be in a user namespace, where it
// is not root. Wrap, unless nil, wraps each. After an error nothing runs.
func Start(ctx context.Context, spawner *proc.Spawner, system service.System, m service.Member, apart bool,
	wrap Wrap) (*Server, error) {
	s := &Server{System: system, Member: m}
	if err := system.Prepare(ctx, m); err != nil {
		return nil, fmt.Errorf("%s, server %d: prepare: %w", system.About().Name, m.Index+1, err)
	}
	for _, c := range system.Commands(m) {
		if err := s.add(ctx, spawner, c, apart, wrap); err != nil {
			s.Kill()
			return nil, fmt.Errorf("%s, server %d: %w", system.About().Name, m.Index+1, err)
		}
	}
	return s, nil
}

// add starts one program.
func (s *Server) add(ctx context.Context, spawner *proc.Spawner, c service.Command, apart bool,
	wrap Wrap) (err error) {
	if c.Path, err = service.Find(c.Path, strings.Join(s.System.About().Packages, ", ")); err != nil {
		_, missing := s.System.Version(ctx) // it names the package that lacks
		return errors.Join(missing, err)
	}
	c.Dir = cmp.Or(c.Dir, s.Member.Folder)
	if wrap != nil {
		c = wrap(c)
	}
	r, err := run(c.Name, func() (*proc.Child, error) {
		return spawner.Start(proc.Command{Path: c.Path, Args: c.Args, Dir: c.Dir, Apart: apart,
			Env: append(os.Environ(), c.Env...)})
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.began = append(s.began, r)
	s.mu.Unlock()
	return nil
}

// run starts a program.
func run(name string, begin func() (*proc.Child, error)) (*running, error) {
	child, err := begin()
	if err != nil {
		return nil, err
	}
	r := &running{name: name, begin: begin, child: child, ended: make(chan struct{})}
	go r.read()
	return r, nil
}

// mostOutput is how much is kept of what a program writes to its standard output.
const mostOutput = 16 << 10

// read keeps the end of what the program writes.
func (r *running) read() {
	defer close(r.ended)
	b := make([]byte, 8<<10)
	for {
		n, err := r.child.Stdout.Read(b)
		r.mu.Lock()
		r.out = append(r.out, b[:n]...)
		if len(r.out) > 2*mostOutput {
			r.out = append([]byte(nil), r.out[len(r.out)-mostOutput:]...)
		}
		r.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// How much of a log is shown.
const (
	shownLines = 12
	shownWidth = 300
)

// nothing is the log of a program that is silent.
const nothing = "nothing"

// log is the end of what the program wrote, without what a terminal would obey.
func (r *running) log() string {
	r.mu.Lock()
	all := string(r.out) + r.child.Stderr()
	r.mu.Unlock()
	lines := strings.Split(strings.TrimRight(all, "\n"), "\n")
	lines = lines[max(0, len(lines)-shownLines):]
	var b strings.Builder
	for _, l := range lines {
		if l = text.Printable(strings.ReplaceAll(l, "\t", " ")); len(l) > shownWidth {
			l = l[:shownWidth] + "..."
		}
		if l != "" {
			b.WriteString("\n\t" + l)
		}
	}
	if b.Len() == 0 {
		return nothing
	}
	return b.String()
}

// Log is the end of what the server's programs wrote, in lines that a terminal shows as they are.
func (s *Server) Log() string {
	var b strings.Builder
	for _, r := range s.programs() {
		fmt.Fprintf(&b, "%s wrote: %s\n", r.name, r.log())
	}
	return b.String()
}

func (s *Server) programs() []*running {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*running(nil), s.began...)
}

// An EndedError is of a program that has ended by itself.
type EndedError struct {
	Program string
	Exit    string // how
	Log     string // the end of what it wrote
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("%s has ended: %s%s; it wrote: %s", e.Program, e.Exit, lastWords(e.Log), e.Log)
}

// lastWords are the last line of a log, for a summary that has only the beginning of a text.
func lastWords(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	if words := strings.TrimSpace(lines[len(lines)-1]); words != "" && words != nothing {
		return ", with the last words: " + words
	}
	return ""
}

// over is how a program has ended; nil: it runs.
func (r *running) over() error {
	select {
	case <-r.child.Done():
		select {
		case <-r.ended: // all of its last words are there
		case <-time.After(time.Second):
		}
		return &EndedError{r.name, r.child.Exit().String(), r.log()}
	default:
		return nil
	}
}

// Ended says which of the server's programs has ended by itself, and how, as an *EndedError; nil: all run.
func (s *Server) Ended() error {
	for _, r := range s.programs() {
		if err := r.over(); err != nil {
			return err
		}
	}
	return nil
}

// Revive starts those programs again that have ended by themselves, as a supervisor does. What they have
// started ends before.
func (s *Server) Revive() error {
	for i, r := range s.programs() {
		if r.over() == nil {
			continue
		}
		r.child.Close()
		next, err := run(r.name, r.begin)
		if err != nil {
			return fmt.Errorf("%s, server %d: start again: %w", s.System.About().Name, s.Member.Index+1, err)
		}
		s.mu.Lock()
		s.began[i] = next
		s.mu.Unlock()
	}
	return nil
}

// lookEvery is how often a server is asked whether it is ready.
const lookEvery = 50 * time.Millisecond

// Await waits until the server is ready. A server of which a program has ended never is.
func (s *Server) Await(ctx context.Context) error {
	for {
		err := service.Ready(ctx, s.System, s.Member)
		if err == nil {
			return nil
		}
		if ended := s.Ended(); ended != nil {
			return fmt.Errorf("%s, server %d, is not ready: %w", s.System.About().Name,
				s.Member.Index+1, ended)
		}
		select {
		case <-ctx.Done():
			all := s.programs()
			return fmt.Errorf("%s, server %d, is not ready in time: %w%s; %s", s.System.About().Name,
				s.Member.Index+1, err, lastWords(all[len(all)-1].log()), s.Log())
		case <-time.After(lookEvery):
		}
	}
}

// Kill ends the programs at once, as a crash does, and waits for that.
func (s *Server) Kill() {
	all := s.programs()
	for _, r := range all {
		r.child.Kill()
	}
	for _, r := range all {
		r.child.Close()
	}
}

// Pause stops all of the programs; Resume lets them go on.
func (s *Server) Pause() error {
	for _, r := range s.programs() {
		if _, err := r.child.Pause(); err != nil {
			return err
		}
	}
	return nil
}

// Resume lets paused programs go on.
func (s *Server) Resume() error {
	for _, r := range s.programs() {
		if _, err := r.child.Resume(); err != nil {
			return err
		}
	}
	return nil
}

// Pids are the processes of the programs, as this process sees them.
func (s *Server) Pids() []int {
	var out []int
	for _, r := range s.programs() {
		out = append(out, r.child.Pid())
	}
	return out
}

// Once runs a program to its end, as another user than root, for an adapter that prepares a server. Its error
// has what the program wrote.
func Once(ctx context.Context, c service.Command) error {
	path, err := service.Find(c.Path, c.Path)
	if err != nil {
		return err
	}
	spawner := proc.NewSpawner()
	defer func() { _ = spawner.Close() }() // its only child has ended
	r, err := run(c.Name, func() (*proc.Child, error) {
		return spawner.Start(proc.Command{Path: path, Args: c.Args, Dir: c.Dir, Apart: os.Getuid() == 0,
			Env: append(os.Environ(), c.Env...)})
	})
	if err != nil {
		return err
	}
	child := r.child
	select {
	case <-ctx.Done():
		child.Kill()
	case <-child.Done():
	}
	exit := child.Exit()
	<-r.ended
	if exit.Code != 0 {
		return fmt.Errorf("%s: %v; it wrote: %s", c.Name, exit, r.log())
	}
	return nil
}
