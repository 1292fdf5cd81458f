package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

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

// otherPrograms warns where hosts may run other code than this process: their algorithms are then not those
// that the judge believes to see. Hosts of which the same is to be said share a note. A host may run node,
// which is another file of the same program.
func otherPrograms(ours results.Tool, sites []results.Site) (notes []string) {
	who := map[string][]string{} // by what is said of them
	for _, site := range sites {
		theirs := site.Tool
		text := fmt.Sprintf("runs another program than bench: it was built from %s, bench from %s; build "+
			"both from the same one", origin(theirs), origin(ours))
		switch {
		case ours.Same(theirs, true):
			continue
		case origin(ours) == origin(theirs):
			text = "is not known to run the same program as bench: " + ours.Remedy(theirs, true)
		}
		if who[text] == nil {
			notes = append(notes, text)
		}
		who[text] = append(who[text], cmp.Or(site.Name, "the host"))
	}
	for i, text := range notes {
		notes[i] = strings.Join(who[text], ", ") + ": " + text
		if len(who[text]) == 1 {
			notes[i] = who[text][0] + " " + text
		}
	}
	return notes
}

// origin is what a program was built from, as far as that is known.
func origin(t results.Tool) string {
	return cmp.Or(t.Source, fmt.Sprintf("commit %.12s", cmp.Or(t.Commit, "unknown")))
}

// onePlatform refuses hosts of several platforms: their times do not go into one trial.
func onePlatform(sites []results.Site) error {
	for _, site := range sites {
		a, b := sites[0].Machine, site.Machine
		if a.OS != b.OS || a.Arch != b.Arch {
			return mixed(fmt.Sprintf("%s is %s/%s, and %s is %s/%s: trials on real nodes need hosts of one "+
				"platform; leave one of them out", sites[0].Name, a.OS, a.Arch, site.Name, b.OS, b.Arch))
		}
	}
	return nil
}

// mixed is a mistake of the user's.
type mixed string

func (m mixed) Error() string { return string(m) }

// Exit is the exit code of a command that was refused so.
func (m mixed) Exit() int { return 2 }
