package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/results"
)

// TestMemory: two runs of 100 000 trials each are reported and compared in less than 200 MB.
func TestMemory(t *testing.T) {
	slowtest.Skip(t, "reads runs of 100 000 trials")
	const mostKiB = 200_000_000 >> 10
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for problem, text := range map[string]string{
		"election": "algorithms: [bully, ring-list]\nscenario: {kind: leader-crash, settle: 20ms}\n" +
			"sweep:\n  - {vary: nodes, over: [3, 5]}\n",
		"mutex": "algorithms: [naimi-trehel]\nscenario: {kind: closed, requests: 20, hold: 1ms}\n" +
			"sweep:\n  - {vary: nodes, over: [3, 4, 5, 6]}\n",
	} {
		dir := t.TempDir()
		file := write(t, "many.yaml", "problem: "+problem+"\n"+text+"transport: sim\nrepetitions: 500\n")
		var runs []string
		for _, latency := range []string{"2ms", "2.1ms"} { // the seeds are the same, so that trials pair
			small := filepath.Join(dir, "small", latency)
			bench(t, "run", file, "--out", small, "--quiet", "--set",
				"network.latency={distribution: uniform, min: 1ms, max: "+latency+"}").want(t, Good)
			from, err := results.Resolve(filepath.Join(small, "many"))
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, filepath.Join(dir, latency))
			enlarge(t, from, runs[len(runs)-1], 50)
		}
		commands := [][]string{
			append([]string{"compare", "--no-fail", "--ignore", "latency_ms"}, runs...),
			{"report", runs[0], "--out", filepath.Join(dir, "report.html")},
			{"export", runs[0], "--format", "csv"},
		}
		if problem == "election" { // the others have less to read than with twenty operations a trial
			commands = commands[:1]
		}
		for _, args := range commands {
			c := exec.Command(exe, args...)
			status := filepath.Join(dir, "status")
			c.Env = measured(asBench+"=1", peakIn+"="+status)
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", args, err, out)
			}
			if args[0] == "compare" {
				has(t, string(out), "100000 trials")
			}
			text, err := os.ReadFile(status)
			if err != nil {
				t.Fatal(err)
			}
			// Not Rusage.Maxrss, which begins with what this process has.
			most := peakOf(t, text)
			t.Logf("%s, %s: %d MB", problem, args[0], most<<10/1_000_000)
			if most > mostKiB {
				t.Errorf("%s, %s: %d KiB resident, want at most %d", problem, args[0], most, mostKiB)
			}
		}
	}
}

// peakOf is the most resident memory of a process, in KiB, from its status in /proc.
func peakOf(t *testing.T, status []byte) (most int) {
	t.Helper()
	_, line, _ := bytes.Cut(status, []byte("VmHWM:"))
	if _, err := fmt.Sscanf(string(line), "%d kB", &most); err != nil {
		t.Fatal(err)
	}
	return most
}

// enlarge writes the tables of the run in from to a folder of their own, with the trials of each cell so
// many times.
func enlarge(t *testing.T, from, to string, times int) {
	t.Helper()
	if err := os.Mkdir(to, 0o755); err != nil {
		t.Fatal(err)
	}
	rows := func(name string) []string {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	type trial struct {
		number, cell, repetition int
		fields                   []string
	}
	all := rows(results.TrialsFile)
	var cells [][]trial
	for _, row := range all[1:] {
		f := strings.Split(row, ",")
		var is trial
		for i, n := range []*int{&is.number, &is.cell, &is.repetition} {
			*n, _ = strconv.Atoi(f[i])
		}
		if is.fields = f[3:]; is.repetition == 1 {
			cells = append(cells, nil)
		}
		cells[is.cell-1] = append(cells[is.cell-1], is)
	}
	texts := map[string]*strings.Builder{results.TrialsFile: new(strings.Builder)}
	fmt.Fprintln(texts[results.TrialsFile], all[0])
	others := map[string]map[int][]string{} // rows by trial
	for _, name := range []string{results.OperationsFile, results.OutagesFile, results.MessagesFile} {
		all := rows(name)
		others[name], texts[name] = map[int][]string{}, new(strings.Builder)
		fmt.Fprintln(texts[name], all[0])
		for _, row := range all[1:] {
			number, rest, _ := strings.Cut(row, ",")
			n, _ := strconv.Atoi(number)
			others[name][n] = append(others[name][n], rest)
		}
	}
	number := 0
	for _, cell := range cells {
		for k := range times {
			for _, one := range cell {
				number++
				one.fields[2] = strconv.Itoa(number) // the seed, unlike any other
				fmt.Fprintf(texts[results.TrialsFile], "%d,%d,%d,%s\n", number, one.cell, k*len(cell)+one.repetition,
					strings.Join(one.fields, ","))
				for name, of := range others {
					for _, rest := range of[one.number] {
						fmt.Fprintf(texts[name], "%d,%s\n", number, rest)
					}
				}
			}
		}
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(to, name), []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
