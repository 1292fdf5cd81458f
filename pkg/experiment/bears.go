package experiment

import (
	"fmt"

	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// What a processor bears of an algorithm that does not talk all the time, so that trials are
// valid: see docs/evidence/performance.md.
const (
	processesEach = 100
	memberEach    = 500
)

// Bears is how many nodes so many processors bear, about, of an algorithm that does not talk all the time:
// nodes that share processes, or have one each.
func Bears(processors int, shared bool) int {
	if shared {
		return processors * memberEach
	}
	return processors * processesEach
}

// tooMany says that so many processors do not bear the largest cell of e; "" if they do.
func (e *Experiment) tooMany(processors int) string {
	if !transport.Real(e.Transport) {
		return ""
	}
	nodes, most, remedy := 0, 0, ""
	for i := range e.Cells {
		p := &e.Cells[i].Plan
		switch {
		case p.Nodes <= nodes:
		case p.Nodes <= Bears(processors, p.PerProcess > 0):
		case p.PerProcess > 0:
			nodes, most, remedy = p.Nodes, Bears(processors, true), ""
		default:
			nodes, most = p.Nodes, Bears(processors, false)
			remedy = fmt.Sprintf("write hosting: {run_as: %s}, or ", metric.RunAsGoroutine)
		}
	}
	if nodes == 0 {
		return ""
	}
	return fmt.Sprintf("%d nodes on one machine, with %d processors: it bears about %d, and fewer that "+
		"talk all the time; expect invalid trials, or %sspread them over machines with --hosts",
		nodes, processors, most, remedy)
}
