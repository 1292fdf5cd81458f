package configs

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// claims is what each experiment must show, by file: what its first lines promise.
var claims = map[string]func(*measured){
	"elections.yaml": elections, "mutexes.yaml": mutexes, "split-brain.yaml": splitBrain,
	"knee.yaml":                     knees,
	"claims/bully-exponential.yaml": exponential, "claims/fewer-messages.yaml": fewerMessages,
	"claims/naimi-trehel-log.yaml": logarithm, "claims/raynal-blocks.yaml": raynalBlocks,
	"claims/ring-against-bully.yaml": ringAgainstBully, "claims/tree.yaml": tree,
	"claims/unstable-leader.yaml": unstable,
}

// TestClaims runs them, with few repetitions.
func TestClaims(t *testing.T) {
	t.Parallel()
	for name, holds := range claims {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			holds(measure(t, name))
		})
	}
	for _, name := range names(t, "claims") {
		if claims[name] == nil {
			t.Errorf("%s: nothing looks for what it promises", name)
		}
	}
}

// A measured experiment has a value for each cell: the mean over its trials.
type measured struct {
	*testing.T
	cells []cell
}

// A cell is one combination of swept values.
type cell struct {
	name   string // the label and the design: "bully nodes=5 scenario=cold-start"
	status map[trace.Status]int
	values map[string]float64
}

// fewest repetitions in which what is promised shows.
const fewest = 2

func measure(t *testing.T, name string) *measured {
	t.Helper()
	e := load(t, name)
	if e.Repetitions > fewest {
		e = load(t, name, fmt.Sprintf("repetitions=%d", fewest))
	}
	m := &measured{t, make([]cell, len(e.Cells))}
	for i := range m.cells {
		c := &m.cells[i]
		c.name, c.status, c.values = e.Cells[i].Label, map[trace.Status]int{}, map[string]float64{}
		for _, f := range e.Cells[i].Design {
			c.name += " " + f.Name + "=" + f.Value
		}
		c.name += " "
	}
	for _, trial := range e.Trials() {
		o, err := algotest.Simulate(trial.Plan)
		if err != nil {
			t.Fatal(err)
		}
		c := &m.cells[trial.Cell-1]
		c.status[o.Status]++
		c.values["messages"] += float64(o.Totals.Sent) / float64(e.Repetitions)
		for _, metric := range o.Metrics {
			c.values[metric.Name] += metric.Value / float64(e.Repetitions)
		}
	}
	return m
}

// of finds the one cell of an algorithm's label and of values, as "nodes=5".
func (m *measured) of(label string, design ...string) *cell {
	m.Helper()
	var found *cell
cells:
	for i := range m.cells {
		if !strings.HasPrefix(m.cells[i].name, label+" ") {
			continue
		}
		for _, word := range design {
			if !strings.Contains(m.cells[i].name, " "+word+" ") {
				continue cells
			}
		}
		if found != nil {
			m.Fatalf("more than one cell of %s is %s", label, design)
		}
		found = &m.cells[i]
	}
	if found == nil {
		m.Fatalf("no cell of %s is %s", label, design)
	}
	return found
}

// wants says that a value of a cell lies between lo and hi, and that all trials are ok.
func (m *measured) wants(c *cell, metric string, lo, hi float64) {
	m.Helper()
	if got := c.values[metric]; !(got >= lo-1e-9 && got <= hi+1e-9) {
		m.Errorf("%s: %s is %.4g, want %.4g to %.4g", c.name, metric, got, lo, hi)
	}
	if len(c.status) != 1 || c.status[trace.OK] == 0 {
		m.Errorf("%s: %v", c.name, c.status)
	}
}

func nodes(n int) string { return fmt.Sprintf("nodes=%d", n) }

// growth is how many times the value of few nodes that of 33 is.
func (m *measured) growth(label, metric string, few int) float64 {
	return m.of(label, nodes(33)).values[metric] / m.of(label, nodes(few)).values[metric]
}

func elections(m *measured) {
	for power, labels := range map[float64][]string{
		1: {"bully-candidate-ordinary", "bully-next-in-line", "invitation", "raft", "stable-leader"},
		2: {"bully", "bully-modified", "bully-ok", "bully-quality", "bully-quorum", "multi-paxos",
			"ring-list", "ring-max"},
		3: {"zab-fle"},
	} {
		for _, label := range labels {
			if got := math.Log2(m.growth(label, "messages", 17)); math.Abs(got-power) > 0.5 {
				m.Errorf("%s: messages grow with the power %.2f of the nodes, want %g", label, got, power)
			}
			if got := m.of(label, nodes(33)).status[trace.OK]; got != fewest {
				m.Errorf("%s: %d trials of %d are ok", label, got, fewest)
			}
			switch grows := m.growth(label, "election_ms", 3) > 1.5; label {
			case "ring-list", "ring-max", "invitation":
				if !grows {
					m.Errorf("%s: its time does not grow with the nodes", label)
				}
			default:
				if grows {
					m.Errorf("%s: its time grows with the nodes", label)
				}
			}
		}
	}
	for _, label := range []string{"raft", "stable-leader"} {
		if c := m.of(label, nodes(9)); c.values["downtime_ms"] < 50+c.values["election_ms"] {
			m.Errorf("%s: notices at once: %v", label, c.values)
		}
	}
}

func mutexes(m *measured) {
	const per = "messages_per_entry"
	for _, load := range []string{"scenario=sequential", "scenario=closed"} {
		for _, n := range []int{3, 7, 13, 31} {
			f := float64(n)
			m.wants(m.of("central", nodes(n), load), per, 3*(f-1)/f*0.9, 3)
			m.wants(m.of("lamport", nodes(n), load), per, 3*(f-1), 3*(f-1))
			m.wants(m.of("ricart-agrawala", nodes(n), load), per, 2*(f-1), 2*(f-1))
			m.wants(m.of("suzuki-kasami", nodes(n), load), per, 0.6*f, f)
			m.wants(m.of("naimi-trehel", nodes(n), load), per, 0.8*math.Log(f), 1.5+math.Log(f))
			m.wants(m.of("maekawa", nodes(n), load), per, 1.5*math.Sqrt(f), 4*math.Sqrt(f))
		}
	}
	for _, n := range []int{3, 7, 13, 31} {
		f, alone, crowd := float64(n), "scenario=sequential", "scenario=closed"
		m.wants(m.of("token-ring", nodes(n), crowd), per, 1, 1)
		m.wants(m.of("token-ring", nodes(n), alone), per, f/3, f)
		m.wants(m.of("raynal-modified", nodes(n), crowd), per, f-1, f-1)
		m.wants(m.of("raynal-modified", nodes(n), alone), per, (f-1)*f/3, (f-1)*f)
	}
	plain, ft := m.of("naimi-trehel", nodes(31), "scenario=closed"),
		m.of("naimi-trehel-ft", nodes(31), "scenario=closed")
	m.wants(ft, per, plain.values[per], plain.values[per])
	waits := plain.values["waiting_ms"]
	m.wants(m.of("ricart-agrawala", nodes(31), "scenario=closed"), "waiting_ms", 0.95*waits, 1.05*waits)
	for _, label := range []string{"central", "raymond"} {
		m.wants(m.of(label, nodes(31), "scenario=closed"), "waiting_ms", 1.4*waits, 1.6*waits)
	}
}

func splitBrain(m *measured) {
	for _, span := range []float64{500, 2000} {
		column := fmt.Sprintf("scenario_duration_ms=%.0f", span)
		for _, label := range []string{"bully", "ring-list", "invitation", "stable-leader",
			"multi-paxos", "raft"} {
			m.wants(m.of(label, column), "split_brain_ms", span-350, span)
		}
		for _, label := range []string{"bully-quorum", "zab-fle"} {
			m.wants(m.of(label, column), "split_brain_ms", 0, 0)
		}
	}
}

func exponential(m *measured) {
	for _, n := range []int{4, 6, 8, 10, 12} {
		p := func(k int) float64 { return math.Pow(2, float64(k)) }
		want := p(n-1) - 1 + p(n-2) - 1 + float64(n-2)*p(n-3)
		m.wants(m.of("as-printed", nodes(n)), "messages", want, want)
		want = float64(n*n - n - 1)
		m.wants(m.of("suppressed", nodes(n)), "messages", want, want)
	}
}

func fewerMessages(m *measured) {
	for _, n := range []int{4, 8, 16, 32} {
		for label, want := range map[string]int{"bully": n*n - n - 1, "bully-modified": 3*n - 4,
			"bully-candidate-ordinary": 2*n - 2, "bully-next-in-line": n} {
			m.wants(m.of(label, nodes(n)), "messages", float64(want), float64(want))
		}
	}
	slow := m.of("bully-candidate-ordinary", nodes(32)).values["election_ms"]
	if fast := m.of("bully", nodes(32)).values["election_ms"]; slow < 10*fast {
		m.Errorf("bully-candidate-ordinary takes %v ms, bully %v: it is not slow", slow, fast)
	}
}

func logarithm(m *measured) {
	for _, n := range []int{2, 4, 8, 16, 32, 64, 128} {
		h := algo.Harmonic(n - 1)
		m.wants(m.of("naimi-trehel", nodes(n)), "messages_per_entry", 0.93*h, 1.07*h)
		f := float64(n)
		m.wants(m.of("suzuki-kasami", nodes(n)), "messages_per_entry", 0.9*(f-1), 1.1*(f-1))
		m.wants(m.of("ricart-agrawala", nodes(n)), "messages_per_entry", 2*(f-1), 2*(f-1))
	}
}

func raynalBlocks(m *measured) {
	c := m.of("original")
	if c.status[trace.TimedOut] != 1 || c.values["messages"] < 2000 {
		m.Errorf("original: %v after %v messages, want a time-out after thousands", c.status,
			c.values["messages"])
	}
	for _, label := range []string{"modified", "parked"} {
		m.wants(m.of(label), "turnaround_ms", 1, 10)
	}
	m.wants(m.of("modified"), "messages_per_entry", 5, 5)
}

func ringAgainstBully(m *measured) {
	for _, n := range []int{4, 8, 16, 32, 64} {
		one, all := "scenario=cold-start", "scenario=leader-crash"
		f := float64(n)
		m.wants(m.of("ring-list", nodes(n), one), "messages", 2*f, 2*f)
		m.wants(m.of("bully", nodes(n), one), "messages", f-1, 2*f*f)
		m.wants(m.of("ring-list", nodes(n), all), "messages", 2*f*(f-1), 2*f*(f-1))
		m.wants(m.of("bully", nodes(n), all), "messages", f*f-f-1, f*f-f-1)
		if n >= 16 && m.of("bully", nodes(n), one).values["messages"] < 3*f {
			m.Errorf("%d nodes: the ring is not the cheaper one if one starts", n)
		}
		m.wants(m.of("ring-list", nodes(n), one), "election_ms", 2*f-1, 2*f-1)
	}
}

func tree(m *measured) {
	for shape, d := range map[string]float64{"path": 15, "star": 2, "binary": 7} {
		one := m.of("tree", "topology=tree-"+shape, "scenario_initiators=1")
		all := m.of("tree", "topology=tree-"+shape, "scenario_initiators=all")
		m.wants(one, "messages", 60, 60)
		m.wants(all, "messages", 60, 60)
		m.wants(one, "election_ms", d+1, 2*d)
		m.wants(all, "election_ms", d+1, d+1)
	}
}

func unstable(m *measured) {
	for label, changes := range map[string]float64{"bully": 8, "bully-quality": 1, "stable-leader": 1} {
		m.wants(m.of(label), "leader_changes", changes, changes)
	}
}

// knees are the capacities that are known: of central, whose five processes wait in turn,
// five entries take five holds of 1 ms and eight delays of 2 ms.
func knees(m *measured) {
	for label, want := range map[string]float64{
		"central": 5 / 0.021, "naimi-trehel": 1 / 0.003, "ricart-agrawala": 1 / 0.003, "suzuki-kasami": 1 / 0.003,
		"token-ring": 1 / 0.003,
	} {
		m.wants(m.of(label), "knee_per_s", 0.99*want, 1.01*want)
		m.wants(m.of(label), "arrival_rate_requested", 300, 300)
	}
	m.wants(m.of("maekawa"), "knee_per_s", 190, 245)
	if ring, token := m.of("token-ring"), m.of("suzuki-kasami"); ring.values["kept_up_per_s"] >= token.values["kept_up_per_s"] {
		m.Errorf("token-ring keeps up with %v, suzuki-kasami with %v, want less", ring.values["kept_up_per_s"],
			token.values["kept_up_per_s"])
	}
}
