package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	long := strings.Repeat("word ", 20)
	path := "/" + strings.Repeat("x", 90)
	for name, c := range map[string]struct{ line, want string }{
		"it fits":        {strings.Repeat("x", 80), strings.Repeat("x", 80)},
		"two columns in": {"  " + long + "end", "  " + long[:74] + "\n    " + long[:25] + "end"},
		"a footnote":     {"[12] " + long, "[12] " + long[:74] + "\n     " + long[:25]},
		"a column":       {"ok       ID   " + long, "ok       ID   " + long[:64] + "\n              " + long[:34]},
		"a path is not broken, and does not begin a line of its own": {"bench: " + path + ": end",
			"bench: " + path + ":\n  end"},
		"a command is not broken": {"this is longer than what a terminal has room for; go on with: " +
			"bench run --resume x --host y, or not", "this is longer than what a terminal has room for; go on with:\n" +
			"  bench run --resume x --host y, or not"},
	} {
		if got := fold(c.line); strings.TrimRight(got, " ") != strings.TrimRight(c.want, " ") {
			t.Errorf("%s:\n%q, want\n%q", name, got, c.want)
		}
	}
}

// TestTable_Fits: a table that is wider than a terminal is parted, and every part tells its rows.
func TestTable_Fits(t *testing.T) {
	for name, keys := range map[string][]string{
		"short keys": {"bully", "3"},
		"long keys":  {strings.Repeat("bully-", 6), strings.Repeat("3", 30)},
	} {
		var text strings.Builder
		tab := &table{}
		for _, head := range []string{"algorithm", "nodes", "first", "second", "third"} {
			tab.column(head, false)
		}
		tab.keyed(2)
		tab.add(append(keys, strings.Repeat("a", 30), strings.Repeat("b", 30), strings.Repeat("c", 30))...)
		tab.write(&text)
		narrow(t, text.String())
		parts := strings.Split(strings.TrimSpace(text.String()), "\n\n")
		if len(parts) < 2 {
			t.Errorf("%s: not parted:\n%s", name, &text)
		}
		has(t, text.String(), append(keys, "first", "second", "third", "aaa", "bbb", "ccc")...)
		for _, part := range parts {
			if key := strings.Fields(strings.Split(part, "\n")[1])[0]; key != keys[0] && key != "1" {
				t.Errorf("%s: a part whose rows nothing tells apart:\n%s", name, part)
			}
		}
	}
}

// TestTable_Common: what all rows of a wide table have in common is said once; a table that fits
// stays as it is.
func TestTable_Common(t *testing.T) {
	var text strings.Builder
	tab := &table{}
	for _, head := range []string{"algorithm", "figure", "n", "trials"} {
		tab.column(head, false)
	}
	for _, name := range []string{"bully", "raft"} {
		tab.add(name, strings.Repeat(name, 4), "10", "ok 10")
	}
	if tab.write(&text); strings.Contains(text.String(), "each row") {
		t.Errorf("a narrow table is shortened:\n%s", &text)
	}
	for i := range tab.rows {
		tab.rows[i][1] = strings.Repeat(tab.rows[i][0]+"-", 12)
	}
	text.Reset()
	tab.write(&text)
	has(t, text.String(), "each row: n 10, trials ok 10\n")
	if strings.Count(text.String(), "\n") != 4 {
		t.Errorf("want a head, two rows and what they share:\n%s", &text)
	}
}

// wide is an experiment whose table is wider than a terminal.
const wide = `
name: wide
problem: election
algorithms: [bully, {name: ring-list, label: ring-list-with-a-long-label}]
transport: sim
nodes: 3
detector: {kind: heartbeat}
scenario: {kind: churn, duration: 2s}
sweep:
  - {vary: network.loss, over: [0, 0.1]}
  - {vary: faults.crash_rate, over: [0.1, 1]}
repetitions: 6
`

// TestColumns: whatever a command prints for people fits a terminal.
func TestColumns(t *testing.T) {
	file, root := write(t, "wide.yaml", wide), t.TempDir()
	bench(t, "run", file, "--out", root).want(t, Good)
	dir := latest(t, root, "wide")
	papers, lost := study(t, "bully-best", stated), write(t, "lossy.yaml", lossy)
	t.Chdir(t.TempDir())
	commands := map[string][]string{
		"run":       {file, "--out " + root, "nowhere.yaml", "--resume " + dir, "--frobnicate"},
		"merge":     {dir, root},
		"work":      {"--join nats://127.0.0.1:1 --nonsense"},
		"workers":   {"--join nowhere"},
		"queue":     {"", "list --join nowhere", "remove x --join nowhere", "remove --join nats://127.0.0.1:1"},
		"plan":      {file, file + " --detect 5%", file + " --set nodes=x --set faults.crash_rate=-1"},
		"list":      {"", "metrics", "nothing"},
		"describe":  {"bully", "test-everything", "bolly"},
		"compare":   {dir + " " + dir, dir + " " + dir + " --metrics all", dir + " " + dir + " --over operations"},
		"replay":    {dir + " --trial 1", dir + " --trial 1 --events", dir + " --trial 1 --events --state"},
		"trace":     {dir + " --trial 1 --out trace.svg", dir + " --trial 1 --format text", dir + " --trial 999"},
		"verify":    {"bully --schedules 5", "bully --cases nowhere.json"},
		"explore":   {"ring-list --faults all --schedules 2000", "bully --exhaustive", "bully --schedules 20"},
		"diff":      {"bully ring-list " + file + " --trial 8", "bully ring-list", "nothing else"},
		"bisect":    {"nothing HEAD " + file + " --trial 1", "x"},
		"gate":      {"", "--base main " + file, "--base main"},
		"history":   {"", "add " + dir, "add " + dir + " --commit " + strings.Repeat("a", 40), "analyze --all", "roc --all"},
		"atlas":     {"raft bully --graph chained", "bully --processes 3", "raft --graph 9", "ring"},
		"reproduce": {"--papers " + papers, "--papers " + papers + " --list"},
		"tune":      {file + " --budget 1", file},
		"rare":      {file, lost + " --paths 10", lost + " --paths 10 --beyond 1h"},
		"calibrate": {"nowhere/calibration.yaml"},
		"twin":      {dir},
		"report":    {dir + " --out report.html", dir + " --figures figures", "nowhere"},
		"serve":     {"nowhere"},
		"export":    {dir, dir + " --format nonsense", dir + " --format gobench --out x.txt"},
		"init":      {"experiment.yaml", "experiment.yaml"},
		"new":       {"", "algorithm", "algorithm election/x", "module", "module example.com/x"},
		"version":   {""},
	}
	exempt := map[string]string{
		"schema": "a program reads it", "completion": "a shell reads it", "help": "TestHelp_FitsTheTerminal",
	}
	for _, c := range newStreams(nil, nil, nil, nil).root(nil).Commands() {
		name := c.Name()
		if (commands[name] == nil) == (exempt[name] == "") {
			t.Errorf("%s: want commands, or why there are none", name)
		}
		for _, args := range commands[name] {
			r := bench(t, append([]string{name}, strings.Fields(args)...)...)
			before := t.Failed()
			narrow(t, r.out)
			narrow(t, r.errors)
			if !before && t.Failed() {
				t.Errorf("that was bench %s %s", name, strings.ReplaceAll(args, filepath.Dir(dir), "..."))
			}
			if r.out+r.errors == "" {
				t.Errorf("bench %s %s says nothing", name, args)
			}
		}
	}
}
