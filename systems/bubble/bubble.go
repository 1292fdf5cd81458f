// Package bubble runs Go libraries as they are, with their goroutines, channels and clocks, in virtual
// time: the standard library's testing/synctest, from an ordinary program. Time stands still while any
// goroutine of a trial can run, and jumps to the next timer when none can. So a library of ten-second
// time-outs fails over a hundred times in a second.
//
// A Subject adapts one library: it starts and stops a process of it, carries its messages through
// Process.Call and its writes through Process.Disk, and says who leads. What goes wrong, what is recorded
// and how it is judged are those of simulated trials. The order of goroutines is nobody's: no trial
// repeats exactly.
package bubble

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/sim"
)

// A Subject is one process of a library.
type Subject interface {
	// Start begins its life. What it starts lives in goroutines of the bubble.
	Start() error
	// Stop ends all its goroutines, and returns when they have ended. After a crash, nothing that it
	// sends, writes or says until then counts.
	Stop()
}

// A Campaigner can be made an initiator of an election, which the line elect of a script does.
type Campaigner interface {
	Subject
	Campaign()
}

// A Library is what a program links.
type Library struct {
	ID      string // of its algorithm: "election/hashicorp-raft"
	Module  string // "github.com/hashicorp/raft"
	Version string // that is linked: "v1.8.0"
	New     func(*Process) Subject
}

var libraries struct {
	sync.RWMutex
	by map[string]Library
}

// Register adds a library that elects leaders, with the function that makes one process of it. It is
// called from init and panics on a defect of the Spec, naming it.
func Register(s algo.Spec, module string, newProcess func(*Process) Subject) {
	s.Summary = module + " " + versionOf(module) + ", " + s.Summary
	if err := algo.AddSubject(algo.Election, s); err != nil {
		panic("bubble: " + err.Error())
	}
	l := Library{ID: string(algo.Election) + "/" + s.Name, Module: module, Version: versionOf(module),
		New: newProcess}
	libraries.Lock()
	defer libraries.Unlock()
	if libraries.by == nil {
		libraries.by = map[string]Library{}
		sim.RunSubjects(Run)
	}
	libraries.by[l.ID] = l
}

// All is every library that is linked, sorted by ID.
func All() []Library {
	libraries.RLock()
	defer libraries.RUnlock()
	return slices.SortedFunc(maps.Values(libraries.by), func(a, b Library) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
}

func lookup(id string) (Library, error) {
	libraries.RLock()
	defer libraries.RUnlock()
	l, known := libraries.by[id]
	if !known {
		return l, fmt.Errorf("%s is not linked into this program", id)
	}
	return l, nil
}
