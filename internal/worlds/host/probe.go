package host

import (
	"cmp"
	"fmt"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// A probe is a trial whose nodes start in batches. After each batch it is known what a node takes, and so
// whether the machines bear those that are missing: none of them swaps to find out.

// firstBatch is how many nodes start before anything is known; each batch doubles how many there are.
const firstBatch = 100

// spare is the part of what a machine has left that stays free: the records of a trial, and other programs,
// need some.
const spare = 0.1

// nextBatch is where the batch ends that begins with a node: with the last, unless it is a probe.
func (t *trial) nextBatch(from int) int {
	if !t.setup.Probe {
		return len(t.nodes)
	}
	return min(max(2*from, firstBatch), len(t.nodes))
}

// readStocks is what each site has now.
func (t *trial) readStocks() (list []agent.Stock, err error) {
	for _, s := range t.sites {
		stock, err := s.agent.Stock()
		if err != nil {
			return nil, err
		}
		list = append(list, stock)
	}
	return list, nil
}

// measureShares notes what each site bears when so many nodes have started, and says why the probe ends
// where one does not bear the next batch, or by far not its share. In between, the next batch tells more:
// the first nodes of a process take the memory of the process, too.
func (t *trial) measureShares(started int) (why []string, err error) {
	if !t.setup.Probe {
		return nil, nil
	}
	now, err := t.readStocks()
	if err != nil {
		return nil, err
	}
	t.shares = nil
	for i, s := range t.sites {
		share, soon := harness.Share{Host: s.agent.Name(), Started: int(s.spawned)}, 0
		for node, at := range t.place {
			if at == i {
				share.Nodes++
			}
			if at == i && node < t.nextBatch(started) {
				soon++
			}
		}
		share.Cut = t.machine.hosts[i].bears > 0 && share.Nodes == t.machine.hosts[i].bears
		fill(&share, t.stocks[i], now[i])
		if share.Fits < soon || 3*share.Fits < 2*share.Nodes {
			why = append(why, fmt.Sprintf("%s bears %d of its %d nodes", share.Host, share.Fits, share.Nodes))
		}
		t.shares = append(t.shares, share)
	}
	return why, nil
}

// fill works out what a machine bears, by what it had before the first node and has now.
func fill(s *harness.Share, before, now agent.Stock) {
	s.Cores, s.Memory, s.Fits = now.Cores, now.Left.Memory, s.Nodes
	if s.Started == 0 {
		return
	}
	each := func(before, now uint64) float64 { return float64(now-min(before, now)) / float64(s.Started) }
	s.PerNode = uint64(each(before.Taken.Memory, now.Taken.Memory))
	more := func(left uint64, each float64) int {
		if left >= proc.Endless || each == 0 {
			return s.Nodes
		}
		return int(min(float64(left)*(1-spare)/each, float64(proc.Endless)))
	}
	memory := more(now.Left.Memory, float64(s.PerNode))
	tasks := more(now.Left.Tasks, each(before.Taken.Tasks, now.Taken.Tasks))
	s.Fits, s.Tasks = s.Started+min(memory, tasks), tasks < memory
}

// narrow gives machines that do not bear their shares no more than they do, and says whether the trial has
// room then. An experiment that places the processes itself has them nowhere else.
func (m *Machine) narrow(s *harness.Setup, shares []harness.Share) bool {
	if s.Hosts != nil || len(m.hosts) == 1 {
		return false
	}
	narrowed := false
	for i := range shares {
		h := &m.hosts[i]
		if shares[i].Short() && (h.Slots == 0 || shares[i].Fits < h.Slots) {
			h.bears = max(shares[i].Fits, 1)
			h.Slots, narrowed = cmp.Or(min(h.Slots, h.bears), h.bears), true
		}
	}
	if !narrowed {
		return false
	}
	_, err := m.place(s)
	return err == nil
}
