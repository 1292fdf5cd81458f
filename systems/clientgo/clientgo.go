// Package clientgo has the leader election of k8s.io/client-go, by which the controllers of Kubernetes choose
// the one that is active, elect leaders as it is.
package clientgo

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/klog/v2"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/systems/bubble"
)

const module = "k8s.io/client-go"

// least is the shortest time that makes sense for the library.
const least = time.Millisecond

func init() {
	silence()
	bubble.Register(algo.Spec{
		Name:    "client-go",
		Summary: "tools/leaderelection, the election of Kubernetes' controllers, as it is",
		Paper: algo.Paper{Authors: "The Kubernetes authors", Title: "client-go, tools/leaderelection",
			Venue: module, Year: 2025,
			Deviations: "The library runs unmodified. The API server is a process of the trial, store: a " +
				"record with a version, which survives its restart. A process that has lost the lease " +
				"competes again at once; most programs of Kubernetes exit, and are started again."},
		Messages: []algo.Message{get, getReply, create, createReply, update, updateReply},
		Params: []algo.Param{
			{Name: "store", Type: algo.Int, Min: int64(1), Process: true, Default: algo.Const(int64(1)),
				Doc: "the process that is the API server"},
			bubble.Patience("lease_duration", 15*time.Second, time.Second,
				"how long a record must stay unchanged before others take it; the record has whole seconds of it"),
			bubble.Wait("renew_deadline", 10*time.Second, least, "how long a holder tries to renew before it gives up"),
			bubble.Wait("retry_period", 2*time.Second, least, "between two attempts"),
			bubble.Wait("t_request", 5*time.Second, least, "how long to wait for an answer: half of renew_deadline in "+
				"Kubernetes' own programs"),
			{Name: "release_on_cancel", Type: algo.Bool, Default: algo.Const(false),
				Doc: "a holder that stops gives the lease back"},
		},
		Perpetual: true,
		// What a contender waits for counts from a renewal that it saw, at most retry_period after it happened.
		Settles: func(p algo.Params) time.Duration { return 3 * p.Duration("retry_period") },
		Needs: algo.Needs{Synchrony: algo.Synchronous, Nodes: func(n int) error {
			if n < 2 {
				return fmt.Errorf("%d processes: want the store and a member at least", n)
			}
			return nil
		}},
		Survives: algo.Faults{Loss: true, Duplication: true, Partition: true, Recovery: true,
			Crashes: func(n int, _ algo.Params) int { return n - 2 },
			Anchor:  func(p algo.Params) algo.ID { return algo.ID(p.Int("store")) }},
		Promises: algo.Promises{Announced: true, Leadership: algo.AtMostOne},
		Service:  algo.Agreed,
		Breaks: "Without the store, or a way to it, nobody leads: a holder gives up after renew_deadline. " +
			"Nothing fences a holder. One whose clock is slow, or that stands still for longer than " +
			"lease_duration exceeds renew_deadline, acts as leader beside the next.",
		Predicted: &algo.Prediction{By: "lease", Set: "kubernetes",
			Differs: "The algorithm begins with a settled leader, the library elects its first."},
	}, module, newProcess)
}

// silence has the library write no log. Errors go to standard error as well, unless their threshold says
// otherwise.
func silence() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	if err := flags.Set("stderrthreshold", "FATAL"); err != nil {
		panic(err)
	}
}

// The kinds of its messages.
var (
	get         = bubble.Kind("GET")
	getReply    = bubble.Kind("GET-REPLY")
	create      = bubble.Kind("CREATE")
	createReply = bubble.Kind("CREATE-REPLY")
	update      = bubble.Kind("UPDATE")
	updateReply = bubble.Kind("UPDATE-REPLY")
)

func newProcess(p *bubble.Process) bubble.Subject {
	if at := algo.ID(p.Params.Int("store")); at != p.ID {
		return &contender{Process: p, store: at, ended: make(chan struct{})}
	}
	return newServer(p)
}

// A contender is a process that wants to lead.
type contender struct {
	*bubble.Process
	store  algo.ID
	seen   atomic.Uint64 // the version of the record as last read
	cancel context.CancelFunc
	ended  chan struct{}
}

// Start competes until Stop.
func (c *contender) Start() error {
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: c, Name: "conclave", ReleaseOnCancel: c.Params.Bool("release_on_cancel"),
		LeaseDuration: c.Params.Duration("lease_duration"), RenewDeadline: c.Params.Duration("renew_deadline"),
		RetryPeriod: c.Params.Duration("retry_period"),
		Callbacks: leaderelection.LeaderCallbacks{
			// Of one that leads again after it gave up, OnNewLeader says nothing.
			OnStartedLeading: func(ctx context.Context) {
				if ctx.Err() == nil {
					c.Names(c.ID, c.seen.Load())
				}
			},
			OnStoppedLeading: func() { c.Names(algo.None, 0) },
			// Whom the record names does not lead yet if its own answer was lost.
			OnNewLeader: func(name string) {
				if p := number(name); p != c.ID {
					c.Names(p, c.seen.Load())
				}
			},
		}})
	if err != nil {
		close(c.ended)
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	go func() {
		defer close(c.ended)
		for ctx.Err() == nil {
			elector.Run(ctx)
		}
	}()
	return nil
}

func (c *contender) Stop() {
	if c.cancel != nil {
		c.cancel()
	}
	<-c.ended
}

func number(name string) algo.ID {
	n, _ := strconv.Atoi(name) // "": none
	return algo.ID(n)
}
