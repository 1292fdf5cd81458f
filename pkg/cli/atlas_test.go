package cli

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/commands/outcome"
)

// TestAtlas: the table, the CSV file, the JSON and the picture say the same, and every column is
// documented.
func TestAtlas(t *testing.T) {
	t.Parallel()
	here := newFolder(t)
	args := []string{"atlas", "raft", "--processes", "3", "--set", "repetitions=5"}
	r := here.bench(t, append(args, "--csv", "atlas.csv", "--svg", "atlas.svg")...).want(t, Good)
	has(t, r.out, "raft             3       6       5      0      1      50ms",
		"chained  serves  0.97", "6 graphs of 3 processes, 5 seeds each; trials of 100 time-outs",
		"results: atlas.csv", "results: atlas.svg")
	narrow(t, r.out)
	if strings.Contains(r.out, "never  ") && strings.Contains(r.out, "3;1;") {
		t.Errorf("nobody could lead there:\n%s", r.out)
	}
	rows, err := csv.NewReader(strings.NewReader(here.read(t, "atlas.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	page := string(must(os.ReadFile(filepath.Join(testdata, "..", "..", "..", "docs", "how-to", "atlas.md"))))
	for _, column := range rows[0] {
		has(t, page, "`"+column+"`")
	}
	j := here.bench(t, append(args, "--json", "--quiet", "--workers", "3")...).want(t, Good)
	report, err := answer.Decode([]byte(j.out))
	if err != nil || j.errors != "" {
		t.Fatalf("%v: %s%s", err, j.out, j.errors)
	}
	x, graphs := report.Table("electors")[0], report.Table("graphs")
	if x["serves"] != 5.0 || x["flaps"] != 0.0 || x["never"] != 1.0 || len(graphs) != 6 || len(rows) != 7 {
		t.Errorf("%v, %d graphs, %d rows", x, len(graphs), len(rows))
	}
	picture := here.read(t, "atlas.svg")
	for i, g := range graphs {
		row := rows[i+1]
		for k, name := range rows[0] {
			want := fmt.Sprint(g[name])
			if share, ok := g[name].(float64); ok && strings.Contains(row[k], ".") {
				want = strconv.FormatFloat(share, 'f', 6, 64)
			}
			if row[k] != want {
				t.Errorf("%s of row %d: %s, want %s", name, i, row[k], want)
			}
		}
		has(t, picture, fmt.Sprintf("<title>%v: %v", g["graph"], g["class"]))
	}
}

// TestAtlas_Settings: an algorithm without a file is given time-outs, and flags say otherwise; a
// file's stay. A sample is drawn, and several electors stand side by side.
func TestAtlas_Settings(t *testing.T) {
	t.Parallel()
	file := write(t, "atlas.yaml", `
name: atlas
problem: election
algorithms:
  - {name: raft, params: {heartbeat: 20ms, t_election: 80ms}}
  - {name: raft, label: sticky, params: {heartbeat: 20ms, t_election: 80ms, pre_vote: true}}
transport: sim
nodes: 3
network: {latency: 1ms}
scenario: {kind: leader-crash}
repetitions: 2
`)
	has(t, bench(t, "atlas", file).want(t, Good).out, "sticky           3       6       5      0      1      80ms",
		"chained  raft     serves", "chained  sticky   serves", "2 seeds each")
	has(t, bench(t, "atlas", file, "--processes", "4", "--sample", "2").want(t, Good).out, "2 of the 20 graphs of 4")
	side := bench(t, "atlas", "raft", "bully", "--graph", "quorum-loss", "--graph", "chained", "--set", "repetitions=1",
		"--quiet").want(t, Good).out
	last := 0
	for _, row := range []string{"chained      raft ", "chained      bully ", "quorum-loss  raft ", "quorum-loss  bully "} {
		at := strings.Index(side, row)
		if at <= last {
			t.Errorf("%q is at %d, after %d:\n%s", row, at, last, side)
		}
		last = at
	}
	flapping := []string{"atlas", "raft", "--graph", "two-leaves", "--set", "repetitions=1", "--json", "--quiet"}
	if bench(t, flapping...).out == bench(t, append(flapping, "--lockstep")...).out {
		t.Error("--lockstep changes nothing")
	}
	for args, want := range map[string]string{
		"raft --graph chained --params heartbeat=5ms":          "0      50ms",
		`raft --graph chained --set network={"latency":"9ms"}`: "1       0      1      0      50ms",
		"raft --graph chained --params t_election=70ms": "raft t_election=70ms          3       1       1      0      " +
			"0      70ms",
		"raft --graph 3;2;2-1,1-3 --set params.t_election=60ms":             "0      60ms",
		"bully --graph chained":                                             "bully            3       1       1      0      0      50ms",
		"bully --graph chained --set detector.kind=heartbeat":               "100ms",
		"bully --set detector.kind=perfect --time-out 10ms --graph chained": "10ms",
		"raft --directed --processes 2":                                     "4 directed graphs of 2 processes",
		"raft --graph chained --outage served":                              `a leader is present by "served"`,
		"raft --graph quorum-loss --graph chained":                          "1 graph of 5 processes and 1 graph of 3",
		"raft --processes 6 --sample 1 --directed --set nodes=3":            "",
	} {
		words := strings.Fields(args + " --set repetitions=1 --quiet")
		r := bench(t, append([]string{"atlas"}, words...)...)
		if want == "" {
			r.want(t, Usage)
			continue
		}
		has(t, r.want(t, Good).out, want)
	}
}

// TestAtlas_Refused: what makes no atlas is refused with a remedy.
func TestAtlas_Refused(t *testing.T) {
	t.Parallel()
	for want, args := range map[string]string{
		"no elector: expected ID...":                 "",
		`unknown algorithm "rift"`:                   "rift",
		"naimi-trehel elects nobody":                 "naimi-trehel",
		"--processes 7, expected 2 to 6":             "raft --processes 7",
		"5 processes, expected 2 to 4":               "raft --directed",
		"--sample -1, expected 1":                    "raft --sample -1",
		"--workers -1, expected 1":                   "raft --workers -1",
		"--time-out 1µs, expected 1ms":               "raft --time-out 1us",
		"--graph: graph \"3;1;1-9\": link \"1-9\"":   "raft --graph 3;1;1-9",
		"--graph says which graphs":                  "raft --graph chained --directed",
		"--outage \"gone\", expected one of: agreed": "raft --outage gone",
		"nowhere.yaml: cannot be read":               "nowhere.yaml",
		"params.colour: unknown parameter":           "raft --params colour=red",
	} {
		has(t, bench(t, append([]string{"atlas"}, strings.Fields(args)...)...).want(t, Usage).errors, want)
	}
}

// TestViolations: of many broken promises ten are told.
func TestViolations(t *testing.T) {
	var out, said strings.Builder
	tell := newStreams(nil, &out, &said, nil).violations()
	for range outcome.MostTold + 1 {
		tell("greedy in 3;1;1-2", "leadership: two leaders")
	}
	has(t, said.String(), "violation: greedy in 3;1;1-2: leadership: two leaders")
	if lines := strings.Count(said.String(), "violation"); lines != outcome.MostTold {
		t.Errorf("%d told of %d", lines, outcome.MostTold+1)
	}
}
