package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/systems/service"
	"github.com/conclave-bench/conclave/systems/service/servers"
)

// A server is the process of a trial that is a server of a system.
type server struct {
	algo.Config
	system  service.System
	member  service.Member
	spawner *proc.Spawner
	running *servers.Server
	machine *machine
	cancel  context.CancelFunc
	over    sync.WaitGroup // for the goroutines that poll the leader and restart programs
	among   bool           // the trial is an election among clients, and servers do not report theirs
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

// Open starts the programs of the server.
func (s *server) Open(at algo.Site, h algo.Host) error {
	s.member = service.Member{Index: at.Server(s.ID), Addr: at.Addresses[s.ID.Index()],
		Peers: at.ServerAddresses(), Folder: at.Folder, Options: options(s.Params)}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.spawner = proc.NewSpawner()
	within, stop := context.WithTimeout(ctx, s.Params.Duration(starting))
	defer stop()
	if err := s.start(within, &at, h); err != nil {
		return err
	}
	if !s.among {
		s.over.Go(func() { s.watch(ctx, at, h.Post) })
	}
	s.over.Go(func() { s.tend(ctx, h) })
	return nil
}

// start starts the programs, and at the first start waits until the server is ready.
func (s *server) start(ctx context.Context, at *algo.Site, h algo.Host) (err error) {
	if s.Incarnation == 0 {
		if err := service.Empty(s.member.Folder); err != nil {
			return err
		}
	}
	var wrap servers.Wrap
	if s.machine, wrap, err = newMachine(s.spawner, at.Faults, &s.member); err != nil {
		return err
	}
	if s.running, err = servers.Start(ctx, s.spawner, s.system, s.member, false, wrap); err != nil {
		return err
	}
	if err = s.machine.serve(at.Faults, s.running, at.Folder, h); err != nil || s.Incarnation > 0 {
		return err
	}
	if err = s.running.Await(ctx); err != nil {
		return err
	}
	return s.takeLead(ctx)
}

// takeLead has this server lead, if it is to be the first.
func (s *server) takeLead(ctx context.Context) error {
	if of, _ := s.Params[first].(int64); algo.ID(of) != s.ID {
		return nil
	}
	for ctx.Err() == nil {
		now, err := service.Leader(ctx, s.system, s.member)
		if err == nil && now.Leader == s.member.Index {
			return nil
		}
		_ = s.system.(service.Leading).Lead(ctx, s.member) // there may be no leader yet who could hand over
		time.Sleep(again)
	}
	return fmt.Errorf("%s, server %d, could not be made the leader: %w", s.system.About().Name,
		s.member.Index+1, ctx.Err())
}

// watch tells who leads, as the server knows, whenever that changes.
func (s *server) watch(ctx context.Context, at algo.Site, post func(func(algo.LiveEnv))) {
	every := 5 * time.Millisecond
	if v, is := s.Params[look].(time.Duration); is {
		every = v
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		now, err := service.Leader(ctx, s.system, s.member)
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
			post(func(env algo.LiveEnv) {
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

// A supervisor starts a program that has ended by itself again, as those of distributions do that have
// Restart=always, after the time that is systemd's default. It never gives up.
const (
	restartAfter = 100 * time.Millisecond
	superviseBy  = 10 * time.Millisecond // how often it looks
)

// tend is that supervisor.
func (s *server) tend(ctx context.Context, h algo.Host) {
	ends := 0
	for service.Wait(ctx, superviseBy) == nil {
		end := (*servers.EndedError)(nil)
		if !errors.As(s.running.Ended(), &end) {
			continue
		}
		text := end.Error()
		if ends++; ends > 1 { // the first words are enough
			text = fmt.Sprintf("%s has ended once more: %s", end.Program, end.Exit)
		}
		h.Post(func(env algo.LiveEnv) { env.Logf("%s", text) })
		if service.Wait(ctx, restartAfter) != nil {
			return
		}
		if err := s.running.Revive(); err != nil {
			h.Fail(err)
			return
		}
		h.Post(func(env algo.LiveEnv) { env.Logf("%s is started again", end.Program) })
	}
}

// Close ends the programs.
func (s *server) Close() {
	s.cancel()
	if s.running != nil {
		s.machine.heal()
	}
	s.over.Wait()
	if s.running != nil {
		s.running.Kill()
		s.machine.close()
	}
	_ = s.spawner.Close()
}
