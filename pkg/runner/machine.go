package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A Machine runs trials on real nodes. Options hand it in, as package nodes makes it: this
// package knows none, and so links no bus. A Room is what a run needs of it. A Queue hands trials to
// workers elsewhere.
type (
	Machine = work.Machine
	Room    = work.Room
	Queue   = work.Queue
)

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
		return []string{fmt.Sprintf("%s: it is not known whether it runs the same program as bench; build "+
			"both from the same commit, without uncommitted changes", who)}
	}
	return []string{fmt.Sprintf("%s: it runs another program than bench: it was built from commit %.12s, "+
		"bench from %.12s; build both from the same one", who, cmp.Or(theirs.Commit, "unknown"),
		cmp.Or(ours.Commit, "unknown"))}
}
