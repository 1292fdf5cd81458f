package host

import (
	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// usage is what the processes of the trial have used, each in all of its lives. The nodes
// have ended.
func (t *trial) usage() (u harness.Usage) {
	used := map[algo.ID]proc.Usage{}
	t.eachJournal(func(n *node, j *agent.Journal) {
		sum := used[n.ID]
		sum.Add(j.Usage)
		used[n.ID] = sum
		u.Handling += j.Handling
	})
	for _, p := range used {
		u.CPU += p.CPU
		u.BusiestCPU = max(u.BusiestCPU, p.CPU)
		u.Switches += p.Voluntary + p.Involuntary
		u.BusiestSwitches = max(u.BusiestSwitches, p.Voluntary+p.Involuntary)
		u.Involuntary += p.Involuntary
	}
	return u
}
