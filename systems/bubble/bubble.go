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
	"sync"
	"time"

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

var libraries struct {
	sync.RWMutex
	by map[string]func(*Process) Subject // by the ID of the algorithm
}

// Register adds a library that elects leaders, with the function that makes one process of it. Its Summary gets
// the module and the version that is linked. It is called from init and panics on a defect of the Spec, naming
// it.
func Register(s algo.Spec, module string, newProcess func(*Process) Subject) {
	if s.Breaks == "" {
		panic("bubble: " + s.Name + " has no Breaks: say what happens beyond what it needs and survives")
	}
	s.Summary = module + " " + versionOf(module) + ", " + s.Summary
	if err := algo.AddSubject(algo.Election, s); err != nil {
		panic("bubble: " + err.Error())
	}
	libraries.Lock()
	defer libraries.Unlock()
	if libraries.by == nil {
		libraries.by = map[string]func(*Process) Subject{}
		sim.RunSubjects(Run)
	}
	libraries.by[string(algo.Election)+"/"+s.Name] = newProcess
}

func lookup(id string) (func(*Process) Subject, error) {
	libraries.RLock()
	defer libraries.RUnlock()
	newProcess, known := libraries.by[id]
	if !known {
		return nil, fmt.Errorf("%s is not linked into this program", id)
	}
	return newProcess, nil
}

// Wait declares a duration among the settings of a library: its usual value, and the least that the library takes.
func Wait(name string, usual, least time.Duration, doc string) algo.Param {
	return algo.Param{Name: name, Type: algo.Duration, Default: algo.Const(usual), Min: least, Max: time.Hour,
		Doc: doc}
}

// Patience is the Wait that bench tune varies: for how long the library bears a silence.
func Patience(name string, usual, least time.Duration, doc string) algo.Param {
	p := Wait(name, usual, least, doc)
	p.Tunes = algo.Patience
	return p
}

// Kind declares a kind of messages of a library, of which a trial knows the name and the size.
func Kind(name string) algo.Message { return algo.Raw{Name: name} }
