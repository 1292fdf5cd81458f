package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/results"
)

// over makes a run of n trials in a cell over the machines that host names; lab2 takes three times
// as long as lab1. Slower is by what factor each machine is slower besides.
func over(r *rand.Rand, n int, firstSeed uint64, host func(repetition int) string,
	slower map[string]float64) *results.Table {
	return run("nats", n, func(t *results.Trial, _ int) {
		t.Host, t.Seed = host(t.Repetition), firstSeed+uint64(t.Repetition)
		ms := 30 * math.Exp(0.03*r.NormFloat64())
		if t.Host == "lab2" {
			ms *= 3
		}
		if factor, has := slower[t.Host]; has {
			ms *= factor
		}
		setTime(t, ms)
	})
}

// mostly puts so many of 30 repetitions on lab1 and the others on lab2.
func mostly(onLab1 int) func(int) string {
	return func(repetition int) string {
		if repetition <= onLab1 {
			return "lab1"
		}
		return "lab2"
	}
}

func everywhere(factor float64) map[string]float64 {
	return map[string]float64{"lab1": factor, "lab2": factor}
}

func times(r *Report) (out []Row) {
	for _, row := range r.Rows {
		if row.Metric == "election_ms" {
			out = append(out, row)
		}
	}
	return out
}

// TestMachines_Factor: a change of 5 % is found although one machine takes three times as long and
// has more trials of the one run than of the other, and nothing is found where nothing changed.
func TestMachines_Factor(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	base := over(r, 30, 0, mostly(20), nil)
	for name, test := range map[string]struct {
		new  *results.Table
		want Verdict
	}{
		"slower": {over(r, 30, 100, mostly(10), everywhere(1.05)), Worse},
		"same":   {over(r, 30, 100, mostly(10), nil), Unclear},
		"faster": {over(r, 30, 100, mostly(10), everywhere(0.95)), Better},
	} {
		report := compared(t, base, test.new, Options{Threshold: 0.01})
		for _, row := range times(report) {
			if row.Verdict != test.want || row.Test != MachineRanks || len(row.Machines) != 2 ||
				math.Abs(row.Change) > 0.07 || row.Uneven <= 0.05 {
				t.Errorf("%s: %s by %s, change %v, machines %+v", name, row.Verdict, row.Test, row.Change, row.Machines)
			}
		}
		if (len(report.Failures) > 0) != (test.want == Worse) {
			t.Errorf("%s: failures %q", name, report.Failures)
		}
		if test.want == Worse && !strings.Contains(report.Failures[0], "by ranks within machines after correction") {
			t.Errorf("%s: failures %q", name, report.Failures)
		}
	}
	// Without the factor the machines' shares are the change.
	for _, row := range times(compared(t, base, over(r, 30, 100, mostly(3), nil),
		Options{Threshold: 0.01, Ignore: []string{"host"}})) {
		if row.Verdict != Worse || row.Test != Ranks || len(row.Machines) != 0 {
			t.Errorf("ignored: %s by %s", row.Verdict, row.Test)
		}
	}
}

// TestMachines_FalseAlarms: over many runs of which nothing changed, one in twenty is called a change
// at most, whatever shares the machines have, in pairs and without, and with rounds.
func TestMachines_FalseAlarms(t *testing.T) {
	t.Parallel()
	n := 8
	if slowtest.Night() {
		n = 500
	}
	for name, test := range map[string]struct {
		base, new int
		seed      uint64
		rounds    bool
	}{
		"ranks":  {20, 8, 100, false},
		"pairs":  {18, 12, 0, false},
		"rounds": {18, 12, 0, true},
	} {
		alarms, uneven := 0, 0
		for i := range n {
			r := rand.New(rand.NewPCG(2, uint64(i)))
			base := over(r, 30, 0, mostly(test.base), nil)
			new := over(r, 30, test.seed, mostly(test.new), nil)
			for _, table := range []*results.Table{base, new} {
				for k := range table.Trials {
					if test.rounds {
						table.Trials[k].Round = 1 + table.Trials[k].Repetition%6
					}
				}
			}
			report := compared(t, base, new, Options{Metrics: []string{"election_ms"}})
			beyond := func(row Row) bool { return row.Adjusted <= 0.05 }
			if slices.ContainsFunc(report.Rows, beyond) {
				alarms++
			}
			if slices.ContainsFunc(report.Rows, func(row Row) bool { return row.Uneven <= 0.05 }) {
				uneven++
			}
		}
		t.Logf("%s: of %d: %d alarms, %d uneven", name, n, alarms, uneven)
		if most := float64(0.05*float64(n)) + float64(4*math.Sqrt(0.0475*float64(n))); float64(max(alarms, uneven)) > most {
			t.Errorf("%s: %d alarms, %d uneven of %d", name, alarms, uneven, n)
		}
	}
}

// TestMachines_Pairs: trials of one seed are a pair on one machine, and none on two.
func TestMachines_Pairs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	base := over(r, 30, 0, mostly(15), nil)
	report := compared(t, base, over(r, 30, 0, mostly(15), everywhere(1.05)), Options{Threshold: 0.01})
	for _, row := range times(report) {
		if row.Test != Pairs || row.Paired.N != 30 || row.Verdict != Worse || len(row.Machines) != 2 ||
			row.Machines[0].Base != 15 || row.Machines[0].Host != "lab1" || !(row.Machines[0].P < 0.05) {
			t.Errorf("%s by %s, machines %+v", row.Verdict, row.Test, row.Machines)
		}
	}
	// The keys by which StepDown swaps are those of one seed on one machine, in all cells.
	report.Rows = times(report)
	var rows []*Row
	for i := range report.Rows {
		rows = append(rows, &report.Rows[i])
	}
	signed := signed(rows)
	for _, s := range signed {
		if len(s.Keys) != 30 || !slices.Equal(s.Keys, signed[0].Keys) || slices.Max(s.Keys) != 29 {
			t.Errorf("keys %v", s.Keys)
		}
	}
	elsewhere := func(repetition int) string { return mostly(15)(31 - repetition) }
	for _, row := range times(compared(t, base, over(r, 30, 0, elsewhere, nil), Options{})) {
		if row.Test != MachineRanks || row.Verdict != Unclear {
			t.Errorf("on other machines: %s by %s", row.Verdict, row.Test)
		}
	}
}

// TestMachines_Uneven: what is slower on one machine alone is said, in pairs and without.
func TestMachines_Uneven(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	base := over(r, 30, 0, mostly(15), nil)
	for name, seed := range map[string]uint64{"pairs": 0, "ranks": 100} {
		report := compared(t, base, over(r, 30, seed, mostly(15), map[string]float64{"lab2": 1.2}), Options{})
		found := 0
		for _, text := range report.Notes {
			if strings.Contains(text, "election_ms: the change differs between machines (p <0.001 after correction): ") &&
				strings.HasSuffix(text, " on lab2: slower on lab2 alone") {
				found++
			}
		}
		if found != 4 {
			t.Errorf("%s: notes %q", name, report.Notes)
		}
		both := compared(t, base, over(r, 30, seed, mostly(15), map[string]float64{"lab1": 0.8, "lab2": 1.2}), Options{})
		if !strings.Contains(strings.Join(both.Notes, "\n"), ": slower on lab2 alone, faster on lab1 alone") {
			t.Errorf("%s: notes %q", name, both.Notes)
		}
		d := rendered(t, report.Document())
		row, machines := ofTypical(d.Table("rows"))[0], d.Table("machines")
		if p, _ := row["p_machines"].(float64); len(machines) < 2 || !(p > 0 && p <= 0.05) ||
			machines[0]["host"] != "lab1" {
			t.Errorf("%s: %v, %v", name, row, machines)
		}
	}
}

// ofTypical are the rows of a table that are about the typical change.
func ofTypical(rows []map[string]any) []map[string]any {
	return slices.DeleteFunc(rows, func(row map[string]any) bool { return row["statistic"] != string(Typical) })
}

// TestMachines_LeftOut: what only one run has of a machine is never compared, and counted.
func TestMachines_LeftOut(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	base := over(r, 30, 0, mostly(20), nil)
	third := func(repetition int) string {
		if repetition > 20 {
			return "lab3"
		}
		return "lab1"
	}
	report := compared(t, base, over(r, 30, 0, third, map[string]float64{"lab3": 5}), Options{})
	for _, row := range times(report) {
		if row.Base.N != 20 || row.New.N != 20 || row.Verdict != Unclear || len(row.Machines) != 0 {
			t.Errorf("n %d and %d, %s", row.Base.N, row.New.N, row.Verdict)
		}
	}
	if want := "of the other run: BASE on lab2 (40), NEW on lab3 (40)"; !strings.Contains(strings.Join(report.Notes, "\n"), want) {
		t.Errorf("notes %q, want %q", report.Notes, want)
	}
	other := func(int) string { return "lab4" }
	_, err := Compare(base, over(r, 30, 0, other, nil), Options{})
	if err == nil || !strings.Contains(err.Error(), "no machine has trials of both runs: BASE on lab1 (80), BASE on lab2 (40), "+
		"NEW on lab4 (120)") || !strings.Contains(err.Error(), "--ignore host") {
		t.Errorf("no machine in common: %v", err)
	}
	if _, err := Compare(base, over(r, 30, 0, other, nil), Options{Ignore: []string{"host"}}); err != nil {
		t.Errorf("ignored: %v", err)
	}
	where, _ := ParseCondition("election_ms > 0 where host=lab1")
	for _, row := range times(compared(t, base, base, Options{Where: where.Where})) {
		if row.Base.N != 20 {
			t.Errorf("--where host: n %d", row.Base.N)
		}
	}
	// A run that does not say where it was is compared as if there were one machine, in pairs.
	unsaid := compared(t, base, over(r, 30, 0, func(int) string { return "" }, nil), Options{})
	if row := times(unsaid)[0]; row.Test != Pairs || row.Paired.N != 30 ||
		!strings.Contains(strings.Join(unsaid.Notes, "\n"), "NEW does not name the machine") {
		t.Errorf("unsaid: %s, notes %q", row.Test, unsaid.Notes)
	}
	// One machine each is one factor less: the two are compared, whatever their names.
	one := compared(t, over(r, 30, 0, other, nil), over(r, 30, 0, func(int) string { return "lab5" }, nil), Options{})
	if row := times(one)[0]; row.Test != Pairs || row.Base.N != 30 {
		t.Errorf("one each: %+v", row)
	}
}
