package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Machine runs trials on real nodes. Whoever wants one hands it in, as package nodes
// makes it: this package knows none, and so links no bus.
type Machine interface {
	// Baseline measures the bus alone.
	Baseline() (map[string]any, error)
	// Run executes one trial and hands its records to sink.
	Run(context.Context, *harness.Setup, trace.Sink) (harness.End, Quality, error)
	Close()
}

// Quality is what the machine did besides, during a trial.
type Quality struct {
	SchedDelayP99 time.Duration // how late the machine ran what was due
	Busy          float64       // share of processor time used; NaN if unknown
	Stolen        float64       // share of it that a hypervisor gave to others; NaN if unknown
	Throttled     time.Duration // for which a quota kept the nodes from running, over all processors
	Usage         harness.Usage
	ClockError    time.Duration // by how much an instant can be wrong; 0: all nodes have one clock
}

// Room is what a run needs of its machine.
type Room struct {
	Nodes int           // the most that a trial has
	Run   string        // marks what the machine starts
	Pause time.Duration // the longest that a node is to be paused
}

// machine is the one that o has for the trials of e, with the sites of the programs that
// have its nodes; none if this process has.
func (o *Options) machine(ctx context.Context, e *experiment.Experiment, r Room) (
	Machine, []results.Site, error) {
	if o.Machine == nil {
		return nil, nil, errors.New("this program has no machine for real nodes; use transport: sim")
	}
	return o.Machine(ctx, e, *o, r)
}

// otherProgram warns where the host may run other code than this process: its
// algorithms are then not those that the judge believes to see.
func otherProgram(ours results.Tool, site results.Site) []string {
	theirs, who := site.Tool, "the host"
	if site.Name != "" {
		who = site.Name
	}
	switch {
	case ours.Binary == theirs.Binary && ours.Binary != "",
		ours.Commit == theirs.Commit && ours.Commit != "" && !ours.Dirty && !theirs.Dirty:
		return nil
	case ours.Commit == theirs.Commit:
		return []string{fmt.Sprintf("it is not known whether %s runs the same program as bench: build both "+
			"from the same commit, without uncommitted changes", who)}
	}
	return []string{fmt.Sprintf("%s runs another program than bench: it was built from commit %.12s, "+
		"bench from %.12s; build both from the same one", who, cmp.Or(theirs.Commit, "unknown"),
		cmp.Or(ours.Commit, "unknown"))}
}
