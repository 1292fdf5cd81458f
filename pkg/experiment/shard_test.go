package experiment_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/experiment"
)

// The shards of a division have every trial of the plan once, as it is there. On real nodes no
// repetition is in two of them; simulated trials are divided one by one, as evenly as can be.
func TestShards_ArePartition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		transport string
		most      int
	}{{"sim", 14}, {"nats", 7}} {
		partition(t, sharded(t, c.transport, "7"), c.most)
	}
}

func partition(t *testing.T, e *experiment.Experiment, most int) {
	t.Helper()
	for n := 1; n <= most; n++ {
		var got []string
		blocks := map[int]int{}
		for i := 1; i <= n; i++ {
			part, err := e.Only(experiment.Shard{Index: i, Of: n})
			if err != nil {
				t.Fatal(err)
			}
			trials := part.Trials()
			if len(trials) != part.Most() || part.Most() != part.Least() ||
				part.MostOf(1)+part.MostOf(2) != part.Most() || part.PerCell() != max(part.MostOf(1), part.MostOf(2)) {
				t.Errorf("shard %d/%d has %d trials, and says %d to %d, %d of a cell", i, n, len(trials),
					part.Least(), part.Most(), part.PerCell())
			}
			if fair := 14 / n; e.Virtual() && (len(trials) < fair || len(trials) > fair+1) {
				t.Errorf("shard %d/%d has %d trials of 14", i, n, len(trials))
			}
			for _, trial := range trials {
				got = append(got, fmt.Sprint(trial.Order, trial.Number, trial.Seed))
				if in, ok := blocks[trial.Repetition]; ok && in != i && !e.Virtual() {
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
		transport, repetitions, shard, want string
	}{
		{"nats", "7", "1/8", "expected at most 7 shards"}, {"sim", "7", "1/15", "expected at most 14 shards"},
		{"sim", "{min: 6, max: 20, until: {metric: election_ms, ci: 5%}}", "1/2", "--set repetitions=20"},
	} {
		s, err := experiment.ParseShard(c.shard)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sharded(t, c.transport, c.repetitions).Only(s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("shard %s of %s repetitions: %v, want %q", c.shard, c.repetitions, err, c.want)
		}
	}
	if _, err := sharded(t, "sim", "7").Only(experiment.Shard{}); err == nil {
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

func sharded(t *testing.T, transport, repetitions string) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Parse("e.yaml", []byte("problem: election\nalgorithms: [bully]\ntransport: "+
		transport+"\n"+
		"sweep: [{vary: nodes, over: [3, 5]}]\nrepetitions: "+repetitions+"\n"), experiment.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}
