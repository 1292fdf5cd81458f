package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/systems/service"
)

// A server is the process of a trial that is a server of a system.
type server struct {
	algo.Config
	system  service.System
	member  service.Member
	spawner *proc.Spawner
	running []*proc.Child
	cancel  context.CancelFunc
	ended   chan struct{} // when nobody asks for the leader any more
	leader  algo.ID
	term    uint64
}

var (
	_ algo.Live    = (*server)(nil)
	_ algo.Elector = (*server)(nil)
)

// Receive implements algo.Process: there are no messages.
func (*server) Receive(algo.Env, algo.ID, algo.Message) {}

// Elect implements algo.Elector. Servers elect a leader whenever they miss one, and cannot be asked to.
func (*server) Elect(algo.Env) {}

// startPatience is how long the first start of a server may take. That of a Java program on a busy machine takes
// half of it.
const startPatience = 80 * time.Second

// Open starts the programs of the server.
func (s *server) Open(at algo.Site, post func(func(algo.Env))) error {
	s.member = service.Member{Index: at.Server(s.ID), Addr: at.Addresses[s.ID.Index()],
		Peers: at.ServerAddresses(), Folder: at.Folder, Options: options(s.Params)}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel, s.ended = cancel, make(chan struct{})
	s.spawner = proc.NewSpawner()
	within, stop := context.WithTimeout(ctx, startPatience)
	defer stop()
	if err := s.start(within); err != nil {
		close(s.ended)
		return fmt.Errorf("%s, server %d: %w", s.system.Name(), s.member.Index+1, err)
	}
	go s.watch(ctx, at, post)
	return nil
}

// start prepares the folder, starts the programs, and at the first start waits until the server is ready.
func (s *server) start(ctx context.Context) error {
	if err := s.system.Prepare(ctx, s.member); err != nil {
		return err
	}
	for _, c := range s.system.Commands(s.member) {
		path, err := exec.LookPath(c.Path)
		if err != nil {
			_, err := s.system.Version(ctx) // it names the package
			return errors.Join(err, fmt.Errorf("%s cannot be started", c.Path))
		}
		dir := c.Dir
		if dir == "" {
			dir = s.member.Folder
		}
		child, err := s.spawner.Start(proc.Command{Path: path, Args: c.Args, Dir: dir,
			Env: append(os.Environ(), c.Env...)})
		if err != nil {
			return err
		}
		go drain(child)
		s.running = append(s.running, child)
	}
	if s.Incarnation > 0 {
		return nil
	}
	return s.await(ctx)
}

// drain reads what a program writes, so that it does not wait for that.
func drain(c *proc.Child) {
	buf := make([]byte, 32<<10)
	for {
		if _, err := c.Stdout.Read(buf); err != nil {
			return
		}
	}
}

// lookEvery is how often a server is asked whether it is ready.
const lookEvery = 50 * time.Millisecond

// await waits until the server is ready.
func (s *server) await(ctx context.Context) error {
	for {
		err := s.system.Ready(ctx, s.member)
		if err == nil {
			return nil
		}
		for _, c := range s.running {
			select {
			case <-c.Done():
				return fmt.Errorf("a program has ended before the server was ready: %s", c.Epitaph())
			default:
			}
		}
		select {
		case <-ctx.Done():
			said := ""
			for _, c := range s.running {
				said += c.Stderr()
			}
			return fmt.Errorf("it was not ready within %v (%w); its log: %.2000s", startPatience, err, said)
		case <-time.After(lookEvery):
		}
	}
}

// watch tells who leads, as the server knows, whenever that changes.
func (s *server) watch(ctx context.Context, at algo.Site, post func(func(algo.Env))) {
	defer close(s.ended)
	every := 5 * time.Millisecond
	if v, is := s.Params[look].(time.Duration); is {
		every = v
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		now, err := s.system.Leader(ctx, s.member)
		leader := algo.None
		if err == nil && now.Leader >= 0 && now.Leader < len(at.Servers) {
			leader = at.Servers[now.Leader]
		}
		if ctx.Err() != nil {
			return
		}
		if leader != s.leader || now.Term != s.term && leader != algo.None {
			s.leader, s.term = leader, now.Term
			term := now.Term
			post(func(env algo.Env) {
				if leader == algo.None {
					term = 0
				}
				env.Elected(leader, term)
			})
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Close ends the programs, the last one first.
func (s *server) Close() {
	s.cancel()
	<-s.ended
	for i := len(s.running) - 1; i >= 0; i-- {
		s.running[i].Close()
	}
	_ = s.spawner.Close()
}
