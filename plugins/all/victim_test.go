package all

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestLeaderCrash_Victim: where a fifth of all messages is lost and leaders change by themselves,
// each crash of leader-crash hits a process that a majority names, itself included, by the records
// alone.
func TestLeaderCrash_Victim(t *testing.T) {
	t.Parallel()
	changed, waited := 0, 0
	for seed := range uint64(60) {
		p := algotest.MustPlan(t, "election/ble", 5, harness.Scenario{Plot: &harness.LeaderCrash{Elections: 3}}, nil)
		p.Seed, p.Network.Loss, p.TimeLimit = seed, 0.2, time.Minute
		s, err := p.Setup()
		if err != nil {
			t.Fatal(err)
		}
		s.Virtual = true
		var records trace.List
		end := sim.Run(s, &records)
		beliefs, crashes := make([]uint32, s.Nodes+1), 0
		for i := range beliefs {
			beliefs[i] = uint32(p.Leader)
		}
		for _, r := range records {
			switch r.Type {
			case trace.Elected:
				beliefs[r.Process] = r.Peer
			case trace.Up:
				if r.Incarnation > 0 {
					beliefs[r.Process] = 0
				}
			case trace.Crash:
				followers := 0
				for _, leader := range beliefs[1:] {
					if leader == r.Process {
						followers++
					}
				}
				if crashes++; followers < 3 || beliefs[r.Process] != r.Process {
					t.Errorf("seed %d: p%d crashes at %v while the processes name %v", seed, r.Process, r.At, beliefs[1:])
				}
				if crashes == 1 && r.Process != uint32(p.Leader) {
					changed++
				}
				beliefs[r.Process] = 0
			}
		}
		if toll := end.Toll; crashes != 3 || toll.Due != 3 || toll.Struck != 3 || toll.Drawn != 3 {
			t.Errorf("seed %d: %d crashes, %+v", seed, crashes, toll)
		}
		if end.Toll.Waited > 0 {
			waited++
		}
	}
	if changed < 10 || waited < 10 {
		t.Errorf("in %d trials another than the first leader crashed, in %d a crash waited: too few to tell",
			changed, waited)
	}
}
