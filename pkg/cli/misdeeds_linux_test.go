package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/base/proc/proctest"
	"github.com/conclave-bench/conclave/internal/repo/misdeeds"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// A scene is what the commands of the table below find.
type scene struct {
	dir   string
	plain string // a run in simulation, of one trial, in which all went well
	wrong string // one that broke a promise
	real  string // one on real nodes, with its trace
	file  string // an experiment
}

// How a command runs code of plugins, or why it runs none.
type conduct struct {
	args   func(p *scene) []string // nil: it runs none
	judges bool                    // it ends with 3 if a promise is broken
	long   bool                    // it prints what it was asked for until then, which may be much
	none   string
}

// conducts has every command. What follows a command's name is another way to call it.
var conducts = map[string]conduct{
	"run": {args: func(p *scene) []string {
		return []string{"run", p.file, "--progress", "none", "--out", p.dir}
	}, judges: true},
	"verify": {args: func(*scene) []string { return []string{"verify", misdeeds.Name, "--schedules", "2"} }, judges: true},
	"explore": {args: func(p *scene) []string {
		return []string{"explore", misdeeds.Name, "--schedules", "3", "--progress", "none", "--out",
			filepath.Join(p.dir, "found.yaml")}
	}, judges: true},
	"explore, worst": {args: func(p *scene) []string {
		return []string{"explore", misdeeds.Name, "--schedules", "3", "--progress", "none", "--maximise", "messages",
			"--out", filepath.Join(p.dir, "found.yaml")}
	}},
	"explore, exhaustive": {args: func(*scene) []string { return []string{"explore", misdeeds.Name, "--exhaustive"} },
		judges: true},
	"prove": {args: func(p *scene) []string {
		return []string{"prove", misdeeds.Name, "--nodes", "2", "--states", "1000", "--quiet", "--out",
			filepath.Join(p.dir, "proved.yaml")}
	}, judges: true},
	"atlas": {args: func(*scene) []string {
		return []string{"atlas", misdeeds.Name, "--processes", "2", "--quiet"}
	}, judges: true},
	"rare": {args: func(p *scene) []string {
		return []string{"rare", p.file, "--beyond", "120ms", "--paths", "10", "--replications", "2", "--quiet"}
	}},
	"tune": {args: func(p *scene) []string {
		return []string{"tune", p.file, "--budget", "1000", "--hours", "0.01", "--span", "2", "--out", p.dir, "--quiet"}
	}},
	"plan":          {args: func(p *scene) []string { return []string{"plan", p.file, "--detect", "5%"} }},
	"diff":          {args: func(*scene) []string { return []string{"diff", misdeeds.Name, misdeeds.Name, "--nodes", "3"} }},
	"diff, folders": {args: func(p *scene) []string { return []string{"diff", p.plain, p.plain, "--trial", "1"} }},
	"trace":         {args: func(p *scene) []string { return []string{"trace", p.plain, "--trial", "1", "--format", "events"} }, long: true},
	"trace, page": {args: func(p *scene) []string {
		return []string{"trace", p.plain, "--trial", "1", "--html", "--out", filepath.Join(p.dir, "trial.html")}
	}},
	"trace, real": {args: func(p *scene) []string {
		return []string{"trace", p.real, "--trial", "1", "--html", "--out", filepath.Join(p.dir, "trial.html")}
	}},
	"replay":         {args: func(p *scene) []string { return []string{"replay", p.plain, "--trial", "1"} }},
	"replay, states": {args: func(p *scene) []string { return []string{"replay", p.plain, "--trial", "1", "--state"} }, long: true},
	"replay, real":   {args: func(p *scene) []string { return []string{"replay", p.real, "--trial", "1"} }},
	"twin":           {args: func(p *scene) []string { return []string{"twin", p.real} }},
	"report": {args: func(p *scene) []string {
		return []string{"report", p.wrong, "--out", filepath.Join(p.dir, "report.html")}
	}},
	"serve": {none: "it draws trials as report does; TestServe_Misdeeds opens the page of one"},

	"advise":           {none: "its systems are predicted by our own algorithms"},
	"work":             {none: "its trials are run by the runner of bench run"},
	"gate":             {none: "the programs that it builds run the algorithms, as bench run does"},
	"bisect":           {none: "the programs that it builds run the algorithms, as bench run does"},
	"history backfill": {none: "the programs that it builds run the algorithms, as bench run does"},
	"calibrate":        {none: "its loads are of our own algorithms; it runs them apart, as twin does"},
	"reproduce":        {none: "its studies are of our own algorithms; it runs them apart, as twin does"},
	"merge":            {none: "it reads results; a shard of another platform it replays as replay does"},
	"hub":              {none: "it has machines find each other"},
	"hub token":        {none: "it makes a token"},
	"join":             {none: "its trials are run by the runner of bench run"},
	"fleet":            {none: "it has others"},
	"fleet up":         {none: "it starts workers, as join does"},
	"fleet status":     {none: "it reads results, and asks the queue"},
	"fleet logs":       {none: "it reads files"},
	"fleet down":       {none: "it ends workers"},
	"workers":          {none: "it asks the queue"},
	"queue":            {none: "it has others"},
	"queue list":       {none: "it asks the queue"},
	"queue remove":     {none: "it asks the queue"},
	"list":             {none: "it reads declarations"},
	"describe":         {none: "it reads declarations"},
	"compare":          {none: "it reads results"},
	"export":           {none: "it reads results"},
	"paper":            {none: "it reads results"},
	"history":          {none: "it has others"},
	"history add":      {none: "it reads results"},
	"init":             {none: "it writes a file"},
	"new":              {none: "it has others"},
	"schema":           {none: "it prints what experiments may hold"},
	"version":          {none: "it reads what the program says of itself"},
	"help":             {none: "it prints"},
	"completion":       {none: "it has others"},
}

// prefixes are groups whose commands run no code of plugins.
var prefixes = []string{"completion ", "new ", "history "}

// Every command runs code of plugins in one of the ways of the table, or none.
func TestMisdeeds_EveryCommand(t *testing.T) {
	t.Parallel()
	var walk func(c *cobra.Command, path string)
	known := map[string]bool{}
	walk = func(c *cobra.Command, path string) {
		for _, sub := range c.Commands() {
			name := strings.TrimSpace(path + " " + sub.Name())
			known[name] = true
			_, ok := conducts[name]
			for _, p := range prefixes {
				ok = ok || strings.HasPrefix(name, p)
			}
			if !ok {
				t.Errorf("bench %s is not in the table: how does it run code of plugins, or why does it run none?", name)
			}
			walk(sub, name)
		}
	}
	root := newStreams(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, nil).root(nil)
	root.InitDefaultHelpCmd()
	walk(root, "")
	for name := range conducts {
		command, _, _ := strings.Cut(name, ",")
		if !known[command] {
			t.Errorf("the table has %q, which is no command", name)
		}
	}
}

// quick are the cells of the table that every run of the tests has: one misdeed of every command, and
// every misdeed of two commands.
func quick(command, deed string) bool {
	return deed == "exit 0" && command != "plan" || command == "explore" && !strings.HasPrefix(deed, "wait")
}

// Whatever an algorithm does, the command that runs it says whose fault it is and ends with exit code 1,
// soon, in few words, within little memory, and with nothing left behind.
func TestMisdeeds(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	tryMisdeeds(t, quick)
}

// TestMisdeeds_All has every command run every misdeed by night. In CI each command has every seventh, another
// seventh than the command before it.
func TestMisdeeds_All(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "has every command run many misdeeds")
	commands := slices.Sorted(maps.Keys(conducts))
	tryMisdeeds(t, func(command, deed string) bool {
		i := slices.Index(commands, command)
		k := slices.IndexFunc(misdeeds.Deeds, func(d misdeeds.Deed) bool { return d.Name == deed })
		return slowtest.Night() || (i+k)%7 == 0
	})
}

func tryMisdeeds(t *testing.T, wanted func(command, deed string) bool) {
	p := newScene(t)
	turns := make(chan bool, 2)
	var wait sync.WaitGroup
	for _, name := range slices.Sorted(maps.Keys(conducts)) {
		c := conducts[name]
		for i := range misdeeds.Deeds {
			d := &misdeeds.Deeds[i]
			if c.args == nil || !wanted(name, d.Name) {
				continue
			}
			turns <- true
			wait.Go(func() {
				own := *p
				own.dir = filepath.Join(p.dir, fmt.Sprintf("%s-%d", strings.ReplaceAll(name, " ", ""), i))
				if err := os.Mkdir(own.dir, 0o755); err != nil {
					t.Error(err)
				}
				misbehave(t, name, &c, d, &own)
				<-turns
			})
		}
	}
	wait.Wait()
}

// newScene has runs of the algorithm while it behaved, and of when it broke its promise.
func newScene(t *testing.T) *scene {
	t.Helper()
	p := &scene{dir: t.TempDir()}
	p.file = filepath.Join(p.dir, "experiment.yaml")
	text := `name: misdeeds
problem: election
algorithms: [` + misdeeds.Name + `]
transport: sim
nodes: 3
network: {latency: 1ms}
detector: {kind: heartbeat}
scenario: {kind: leader-crash}
repetitions: 1
`
	if err := os.WriteFile(p.file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, run := range []struct {
		path *string
		deed string
		code int
		args []string
	}{
		{&p.plain, "nothing", Good, nil},
		{&p.wrong, "stranger", Violated, nil},
		{&p.real, "nothing", Good, []string{"--transport", "nats", "--set", "trace=all", "--set", "retries=20"}},
	} {
		out := filepath.Join(p.dir, fmt.Sprint(run.deed, len(run.args)))
		args := append([]string{"run", p.file, "--progress", "none", "--out", out}, run.args...)
		if r := misled(t, run.deed, args...); r.code != run.code {
			t.Fatalf("%v: exit code %d, want %d\n%s", args, r.code, run.code, r.said)
		}
		*run.path = latest(t, out, "misdeeds")
	}
	return p
}

// A misleading is what came of a command whose algorithm misbehaved.
type misleading struct {
	code          int
	printed, said string
	memory        int64 // bytes, at most at a time, of the largest of its processes
	left          []int // processes
}

func misled(t *testing.T, deed string, args ...string) (m misleading) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	mark := fmt.Sprintf("BENCH_TEST_MARK=%s/%s", t.TempDir(), deed)
	// The parent that it may kill is not this process.
	c := exec.CommandContext(ctx, "sh", append([]string{"-c", `"$@"; exit $?`, "sh", exe}, args...)...)
	c.Env = measured(asBench+"=1", misdeed+"="+deed, impatience+"=1s", mark)
	c.WaitDelay = time.Second
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	_ = c.Run() // its exit code is asked for
	if ctx.Err() != nil {
		t.Errorf("%s: %v: it does not end", deed, args)
	}
	m.code, m.printed, m.said = c.ProcessState.ExitCode(), out.String(), errs.String()
	m.memory = c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if m.left, err = proctest.Orphans(mark); err != nil {
			t.Fatal(err)
		}
		if len(m.left) == 0 || time.Now().After(end) {
			return m
		}
	}
}

// peak is the most resident memory that this process has had, in bytes.
func peak(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	return int64(peakOf(t, status)) << 10
}

func misbehave(t *testing.T, name string, c *conduct, d *misdeeds.Deed, p *scene) {
	args := c.args(p)
	r := misled(t, d.Name, args...)
	text := r.said
	if !c.long {
		text = r.printed + r.said
	}
	complain := func(format string, values ...any) {
		t.Errorf("%s, %s: "+format+"\n%s", append(append([]any{name, d.Name}, values...), text)...)
	}
	cleared := d.Name == "environment" && strings.HasPrefix(name, "diff") // what steers the second side
	switch want := map[misdeeds.Ending]int{misdeeds.Blamed: CouldNotRun, misdeeds.Stranger: Violated}[d.Ends]; {
	case d.Ends == misdeeds.Lost, cleared, d.Ends == misdeeds.Stranger && !c.judges:
	case d.Ends == misdeeds.Harmless && (name == "report" || name == "rare"): // whose run or outage was another one
	case r.code != want:
		complain("exit code %d, expected %d", r.code, want)
	}
	if d.Ends == misdeeds.Blamed && !strings.Contains(text, misdeeds.Name) {
		complain("nobody is blamed")
	}
	if len(text) > 2048 && d.Ends == misdeeds.Blamed {
		complain("%d bytes of output", len(text))
	}
	if strings.ContainsAny(r.printed+r.said, "\x1b\a") {
		complain("the terminal obeys it: %q", r.printed+r.said)
	}
	// What a process is said to have used at most begins with what this one has.
	if r.memory > max(1<<30, peak(t)) {
		complain("%d MiB of memory", r.memory>>20)
	}
	if len(r.left) > 0 {
		complain("it leaves processes behind: %v", r.left)
	}
}

// A click on a trial whose algorithm ends its process ends neither the server nor a run that is served: the
// page says why there is nothing to see.
func TestServe_Misdeeds(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	p := newScene(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe, "serve", p.dir)
	c.Env = append(os.Environ(), asBench+"=1", misdeed+"=exit 0")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }() // it serves until then
	home, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	home = strings.TrimSpace(home)
	run := func(dir string) string {
		path, err := filepath.Rel(p.dir, dir)
		if err != nil {
			t.Fatal(err)
		}
		return home + "run/" + filepath.ToSlash(path) + "/trial?n=1"
	}
	for _, dir := range []string{p.plain, p.real} {
		_, text, _ := ask(t, http.MethodGet, run(dir), "")
		has(t, text, "it has ended its whole process: exit code 0")
	}
	if code, _, _ := ask(t, http.MethodGet, home, ""); code != http.StatusOK {
		t.Errorf("the index: %d", code)
	}
}
