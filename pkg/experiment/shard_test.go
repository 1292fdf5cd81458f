package experiment_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/experiment"
)

// The shards of a division have every trial of the plan once, as it is there, and no
// block is in two of them.
func TestShards_ArePartition(t *testing.T) {
	t.Parallel()
	e := sharded(t, "7")
	for n := 1; n <= 7; n++ {
		var got []string
		blocks := map[int]int{}
		for i := 1; i <= n; i++ {
			part, err := e.Only(experiment.Shard{Index: i, Of: n})
			if err != nil {
				t.Fatal(err)
			}
			trials := part.Trials()
			if len(trials) != part.Most() || part.Most() != part.Least() || part.PerCell()*2 != part.Most() {
				t.Errorf("shard %d/%d has %d trials, and says %d to %d, %d of each of 2 cells", i, n, len(trials),
					part.Least(), part.Most(), part.PerCell())
			}
			for _, trial := range trials {
				got = append(got, fmt.Sprint(trial.Order, trial.Number, trial.Seed))
				if in, ok := blocks[trial.Repetition]; ok && in != i {
					t.Errorf("repetition %d is in shards %d/%d and %d/%d", trial.Repetition, in, n, i, n)
				}
				blocks[trial.Repetition] = i
			}
		}
		var want []string
		for _, trial := range e.Trials() {
			want = append(want, fmt.Sprint(trial.Order, trial.Number, trial.Seed))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%d shards have trials (order, number, seed) %q, want %q", n, got, want)
		}
	}
}

func TestOnly_Refuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		repetitions, shard, want string
	}{
		{"7", "1/8", "expected at most 7 shards"},
		{"{min: 6, max: 20, until: {metric: election_ms, ci: 5%}}", "1/2", "--set repetitions=20"},
	} {
		s, err := experiment.ParseShard(c.shard)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sharded(t, c.repetitions).Only(s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("shard %s of %s repetitions: %v, want %q", c.shard, c.repetitions, err, c.want)
		}
	}
	if _, err := sharded(t, "7").Only(experiment.Shard{}); err == nil {
		t.Error("shard 0/0 is accepted")
	}
}

func TestParseShard(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"1/1": "1/1", "3/8": "3/8", "0+1/8": "1/8", "7+1/8": "8/8"} {
		if s, err := experiment.ParseShard(text); err != nil || s.String() != want {
			t.Errorf("%s: %v, %v, want %s", text, s, err, want)
		}
	}
	for _, text := range []string{"", "3", "0/8", "9/8", "8+1/8", "-1/8", "a/8", "1/b", "1/2/3", "1 / 2", "+1/8"} {
		if s, err := experiment.ParseShard(text); err == nil || !strings.Contains(err.Error(), "from 1 to N") {
			t.Errorf("%q: %v, %v, want a refusal that says how to count", text, s, err)
		}
	}
}

func sharded(t *testing.T, repetitions string) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Parse("e.yaml", []byte("problem: election\nalgorithms: [bully]\ntransport: sim\n"+
		"sweep: [{vary: nodes, over: [3, 5]}]\nrepetitions: "+repetitions+"\n"), experiment.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}
