// Package live has the systems of package service take part in trials on real nodes: each server and each
// client of a system is the process of a node.
package live

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/systems/service"
)

// Names of parameters.
const (
	count    = "servers"
	beat     = "heartbeat"
	patience = "election_timeout"
	session  = "session"
	fsync    = "fsync"
	replicas = "replicas"
	look     = "look"
	first    = "first"
	starting = "start"
)

// Lock registers what a system has one of its clients hold: its lock as mutex/NAME, and a leadership as
// election/NAME-clients, for which all clients campaign. Servers stand behind them.
func Lock(s service.System) {
	spec := behind(s, "its lock, with servers of its own programs")
	algo.RegisterService(algo.MutualExclusion, spec, func(c algo.Config) algo.Live {
		if serves(&c) {
			return &server{Config: c, system: s}
		}
		return &client{connection: connection{Config: c, system: s}}
	})
	spec = behind(s, "the election among its clients, with servers of its own programs")
	spec.Name += "-clients"
	spec.Promises = algo.Promises{Announced: true, Leadership: algo.AtMostOne}
	spec.Service = algo.Agreed
	spec.Breaks = "A leader that stands still for longer than its session leads beside the next until it " +
		"learns of that."
	spec.Predicted = &algo.Prediction{By: "lease",
		Differs: "Servers that agree grant the leadership, not one store. Clients wait in the system, and " +
			"do not ask again and again, unless the column service_poll_ms says so."}
	algo.RegisterService(algo.Election, spec, func(c algo.Config) algo.Live {
		if serves(&c) {
			return &store{server: &server{Config: c, system: s, among: true}}
		}
		return &candidate{connection: connection{Config: c, system: s}}
	})
}

// behind is the Spec of processes that are clients, with servers behind them.
func behind(s service.System, what string) algo.Spec {
	spec := base(s, what)
	sizes := s.About().Sizes
	spec.Servers = count
	spec.Params = append([]algo.Param{{Name: count, Type: algo.Int, Min: int64(sizes[0]),
		Max: int64(sizes[len(sizes)-1]), Default: algo.Const(int64(usual(sizes))),
		Doc: "how many servers stand behind the processes, which are clients"}}, spec.Params...)
	return spec
}

// serves says whether a process is one of the servers behind the clients.
func serves(c *algo.Config) bool { return int(c.ID) > len(c.Peers)-int(c.Params.Int(count)) }

// Election registers the election among the servers of a system as election/NAME: each process is a server.
func Election(s service.Electing) {
	spec := base(s, "the election among its servers")
	sizes := s.About().Sizes
	spec.Needs.Nodes = func(n int) error {
		if n < sizes[0] || n > sizes[len(sizes)-1] {
			return fmt.Errorf("%d servers; expected %d to %d", n, sizes[0], sizes[len(sizes)-1])
		}
		return nil
	}
	spec.Survives.Crashes = func(n int, _ algo.Params) int { return (n - 1) / 2 }
	spec.Promises = algo.Promises{Announced: true, Leadership: algo.PerTerm}
	spec.Service = algo.Led
	if _, can := s.(service.Leading); can {
		spec.Params = append(spec.Params, algo.Param{Name: first, Type: algo.Int, Process: true,
			Min: int64(0), Default: algo.Const(int64(0)),
			Doc: "the server that leads when the trial begins; 0: any"})
	}
	spec.Params = append(spec.Params, algo.Param{Name: look, Type: algo.Duration, Min: time.Millisecond,
		Default: algo.Const(5 * time.Millisecond), Doc: "how often each server is asked for its leader; an " +
			"instant of an election is known to within that"})
	facts := s.Facts(service.Options{})
	if facts.Predicted != "" {
		spec.Predicted = &algo.Prediction{By: facts.Predicted, Set: facts.Set,
			Differs: "The algorithm begins with a settled leader, the servers elect their first."}
	}
	algo.RegisterService(algo.Election, spec, func(c algo.Config) algo.Live {
		return &server{Config: c, system: s}
	})
}

// versionPatience is how long a program may take to say its version.
const versionPatience = 20 * time.Second

// facts is what a reader of figures of s has to know. The version is asked for once.
func facts(s service.System) func(p algo.Params) (map[string]string, error) {
	version := sync.OnceValues(func() (string, error) {
		ctx, stop := context.WithTimeout(context.Background(), versionPatience)
		defer stop()
		return s.Version(ctx)
	})
	return func(p algo.Params) (map[string]string, error) {
		installed, err := version()
		if err != nil {
			return nil, err
		}
		o := options(p)
		f := s.Facts(o)
		copies := "all"
		if o.Replicas > 0 {
			copies = fmt.Sprint(o.Replicas)
		}
		return map[string]string{
			metric.ServiceName.Name:    s.About().Name,
			metric.ServiceVersion.Name: installed,
			metric.ServiceCopies.Name:  copies,
			metric.ServiceFsync.Name:   map[bool]string{true: "yes", false: "no"}[f.Fsync],
			metric.ServiceSession.Name: milliseconds(f.Session),
			metric.ServicePoll.Name:    milliseconds(f.Poll),
			metric.ServiceClient.Name:  f.Client,
		}, nil
	}
}

func milliseconds(d time.Duration) string { return fmt.Sprint(float64(d) / float64(time.Millisecond)) }

// usual is three servers, or as many as there are.
func usual(sizes []int) int {
	if slices.Contains(sizes, 3) {
		return 3
	}
	return sizes[len(sizes)-1]
}

// base is what the Specs of a system have in common.
func base(s service.System, what string) algo.Spec {
	wait := func(name string, usual time.Duration, doc string) algo.Param {
		return algo.Param{Name: name, Type: algo.Duration, Min: time.Duration(0), Default: algo.Const(usual),
			Doc: doc + "; 0s: the system's default"}
	}
	f, about := s.Facts(service.Options{}), s.About()
	timeOut := wait(patience, f.ElectionTimeout, "without a heartbeat, until a server stands for election")
	timeOut.Tunes = algo.Patience
	programs := "The programs of the package " + strings.Join(about.Packages, ", ") + ", unmodified."
	if len(about.Packages) == 0 {
		programs = "The server is the library that this program links, unmodified."
	}
	return algo.Spec{
		Name: about.Name, Summary: about.Title + ": " + what,
		Paper: algo.Paper{Authors: about.Title, Title: about.Title, Venue: algo.Unpublished,
			Deviations: programs},
		Perpetual: true, Facts: facts(s), Ails: ails(s),
		Params: []algo.Param{
			wait(beat, f.Heartbeat, "between two heartbeats of the leader"),
			timeOut,
			wait(session, f.Session, "without a sign of life, until a client's lock is free"),
			{Name: fsync, Type: algo.Bool, Default: algo.Const(true), Doc: "writes are on the disk before " +
				"they are answered, where the system does that"},
			{Name: starting, Type: algo.Duration, Min: time.Millisecond, Max: 85 * time.Second,
				Default: algo.Const(80 * time.Second), Doc: "how long a server may take until it serves, " +
					"and a client until it is connected, before the trial begins"},
			{Name: replicas, Type: algo.Int, Min: int64(0), Max: int64(9), Default: algo.Const(int64(0)),
				Doc: "servers that a lock is kept on, where a system can keep it on fewer than all; 0: all"},
		},
		Needs: algo.Needs{Synchrony: algo.Synchronous},
		Survives: algo.Faults{Loss: true, Duplication: true, Partition: true, Recovery: true,
			Crashes: func(n int, _ algo.Params) int { return n }},
		Breaks: "A holder that stands still for longer than its session is inside beside the next, unless " +
			"what it writes is fenced.",
	}
}

// options are those of package service with parameters p.
func options(p algo.Params) service.Options {
	return service.Options{Heartbeat: p.Duration(beat), ElectionTimeout: p.Duration(patience),
		Session: p.Duration(session), NoSync: !p.Bool(fsync), Replicas: int(p.Int(replicas))}
}
