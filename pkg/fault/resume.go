package fault

import (
	"fmt"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// Resume is the name of the fault by which a paused process continues.
const Resume = "resume"

func init() {
	Register(Fault{
		Name: Resume, Doc: "resumes; without who: all",
		Takes: []string{"who"}, Who: []string{"all"}, Default: "all",
		Outside: func(x Executor, i *Instruction) { x.Resume(i.Node) },
		Record:  trace.Resume, State: paused, Over: func(*trace.Record) bool { return true },
		Words: func(r *trace.Record, _ Args) string { return fmt.Sprintf("p%d goes on", r.Process) },
	})
}
