package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

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
	t.Parallel()
	slowtest.Skip(t, "runs all commands for the width of their lines")
	here := newFolder(t)
	file, root := write(t, "wide.yaml", wide), t.TempDir()
	here.bench(t, "run", file, "--out", root).want(t, Good)
	dir := latest(t, root, "wide")
	papers, lost := study(t, "bully-best", stated), write(t, "lossy.yaml", lossy)
	commands := map[string][]string{
		"run":       {file, "--out " + root, "nowhere.yaml", "--resume " + dir, "--frobnicate"},
		"merge":     {dir, root},
		"work":      {"--join nats://127.0.0.1:1 --nonsense"},
		"hub":       {"--folder hub --listen nowhere", "token --folder hub", "token --folder nothing/hub --machines -1"},
		"join":      {"nowhere", "127.0.0.1:9#short", "127.0.0.1:9 --nonsense"},
		"fleet":     {"", "up hosts.txt --folder fleet", "status --folder fleet", "logs --folder fleet", "down --folder fleet"},
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
		"prove":     {"bully", "naimi-trehel --losses 1", "naimi-trehel --states 1000", "bully --nodes 9"},
		"diff":      {"bully ring-list " + file + " --trial 8", "bully ring-list", "nothing else"},
		"bisect":    {"nothing HEAD " + file + " --trial 1", "x"},
		"gate":      {"", "--base main " + file, "--base main"},
		"history":   {"", "add " + dir, "add " + dir + " --commit " + strings.Repeat("a", 40), "analyze --all", "roc --all"},
		"atlas":     {"raft bully --graph chained", "bully --processes 3", "raft --graph 9", "ring"},
		"reproduce": {"--papers " + papers, "--papers " + papers + " --list"},
		"tune":      {file + " --budget 1", file},
		"advise":    {"etcd --rtt 5ms --loss 1", "etcd", "etdc --rtt 1ms"},
		"rare":      {file, lost + " --paths 10", lost + " --paths 10 --beyond 1h"},
		"calibrate": {"nowhere/calibration.yaml"},
		"twin":      {dir},
		"report":    {dir + " --out report.html", dir + " --figures figures", "nowhere"},
		"serve":     {"nowhere"},
		"export":    {dir, dir + " --format nonsense", dir + " --format gobench --out x.txt"},
		"paper":     {dir + " --out paper", "nowhere", ""},
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
			r := here.bench(t, append([]string{name}, strings.Fields(args)...)...)
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
