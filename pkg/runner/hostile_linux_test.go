package runner_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A deed is what a hostile plugin does when process 2 is to begin an election.
type deed struct {
	do   func(h *hostile, env algo.Env)
	want string // in the reason, in both worlds; "" if it does no harm
	// broken: it breaks a promise, which is a violation.
	broken bool
	// apart: the worlds find it in ways of their own, so that the reasons differ.
	apart bool
}

var deeds = map[string]deed{
	"none":  {do: func(*hostile, algo.Env) {}},
	"panic": {do: func(*hostile, algo.Env) { panic("lost its head") }, want: "process 2: panic: lost its head, in runner_test"},
	"print": {do: func(*hostile, algo.Env) {
		fmt.Print("\x1b[2Jto standard output\n")
		fmt.Fprint(os.Stderr, "\x1b]0;to standard error\a\n")
	}},
	"loop": {do: func(h *hostile, _ algo.Env) {
		for {
			h.n++
		}
	}, want: "process 2: Elect: it does not return"},
	"block":  {do: func(*hostile, algo.Env) { <-make(chan int) }, want: "process 2: Elect: it does not return"},
	"sleep":  {do: func(*hostile, algo.Env) { time.Sleep(time.Hour) }, want: "process 2: Elect: it does not return"},
	"goexit": {do: func(*hostile, algo.Env) { runtime.Goexit() }, want: "process 2: Elect: it has ended its goroutine"},
	"exit 0": {do: func(*hostile, algo.Env) { os.Exit(0) },
		want: "process 2: it has ended its whole process: exit code 0"},
	"exit 3": {do: func(*hostile, algo.Env) { os.Exit(3) },
		want: "process 2: it has ended its whole process: exit code 3"},
	"overflow": {do: func(h *hostile, _ algo.Env) {
		debug.SetMaxStack(4 << 20) // else it takes a gigabyte
		h.n = deeper(0)
	}, want: "process 2: fatal error: stack overflow, in runner_test.deeper"},
	"hoard": {do: func(h *hostile, _ algo.Env) { h.hoard = make([]byte, 1<<41) },
		want: "process 2: fatal error: ", apart: true}, // by what is refused first
	"panic elsewhere": {do: func(*hostile, algo.Env) {
		go panic("lost its head elsewhere")
		time.Sleep(time.Minute)
	}, want: "process 2: panic: lost its head elsewhere"},
	"goroutine": {do: func(_ *hostile, env algo.Env) {
		go func() {
			for {
				time.Sleep(time.Millisecond)
				env.Logf("still here")
			}
		}()
	}, want: "(panic: process 2 uses an Env after its event|has started a goroutine)", apart: true},
	"kept Env": {do: func(h *hostile, _ algo.Env) { h.kept.CancelTimer("x") },
		want: "process 2 uses an Env after its event"},
	"large message": {do: func(_ *hostile, env algo.Env) { env.Send(3, bulk{make([]byte, 64<<20)}) },
		want: "process 2 sends a BULK of 67108870 bytes: at most 65536 are allowed"},
	"largest message": {do: func(_ *hostile, env algo.Env) { env.Send(3, bulk{make([]byte, algo.MaxMessage-5)}) }},
	"large save": {do: func(_ *hostile, env algo.Env) { env.Save(bulk{make([]byte, 100_000_000)}) },
		want: "process 2 saves a BULK of 100000006 bytes: at most 65536 are allowed"},
	"largest save": {do: func(_ *hostile, env algo.Env) { env.Save(bulk{make([]byte, algo.MaxMessage-5)}) }},
	"no leader": {do: func(_ *hostile, env algo.Env) { env.Elected(9999, 1) },
		want: "agreement: p2 names p9999 at .*, which is no process", broken: true, apart: true},
	"no receiver": {do: func(_ *hostile, env algo.Env) { env.Send(9999, bulk{}) },
		want: "process 2 sends BULK to 9999: no such process"},
	"undeclared": {do: func(_ *hostile, env algo.Env) { env.Send(3, secret{}) },
		want: "process 2 sends a SECRET, which the Spec of election/test-hostile does not declare"},
	"nil": {do: func(_ *hostile, env algo.Env) { env.Send(3, nil) }, want: "process 2 sends nil"},
	"flood": {do: func(_ *hostile, env algo.Env) {
		for range 10_000_000 {
			env.Send(3, bulk{})
		}
	}, want: "process 2 asks for more than 131072 things in one event"},
	"timers": {do: func(_ *hostile, env algo.Env) {
		for k := range 100_000 {
			env.SetTimer(algo.Timer(fmt.Sprint(k)), time.Hour)
		}
	}, want: "process 2 has more than 16384 timers of different names"},
	"lines": {do: func(_ *hostile, env algo.Env) {
		line := strings.Repeat("\x1b", algo.MaxLine)
		for range 100_000 {
			env.Logf("%s", line)
		}
	}, want: "process 2 writes too much with Logf: more than 64 MiB"},
	"spill": {do: func(*hostile, algo.Env) {
		line := strings.Repeat("x", 1<<16)
		for range 1 << 10 {
			fmt.Println(line)
		}
	}, want: "process 2: it writes more than 16 MiB to its standard output or error in one trial"},
	"open": {do: func(*hostile, algo.Env) {
		for range 1000 {
			_, _ = syscall.Open(os.DevNull, 0, 0) // until there is no number left
		}
	}, want: "it has left more than 63 files open"},
	"suicide": {do: func(*hostile, algo.Env) {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // it works, or the test fails
		select {}
	}, want: "process 2: SIGKILL while it handled an event"},
}

// killed is the deed that a real node cannot be blamed for: anybody may have killed its process. It hits
// each process at another event.
const killed = "killed"

func init() {
	deeds[killed] = deed{do: func(h *hostile, env algo.Env) {
		h.n = 1 + os.Getpid()%1000
		env.SetTimer("killed", 0)
	}}
}

type bulk struct{ Data []byte }

func (bulk) Kind() string { return "BULK" }

type secret struct{}

func (secret) Kind() string { return "SECRET" }

type hostile struct {
	algo.Config
	kept  algo.Env
	n     int
	hoard []byte
}

func (h *hostile) Start(env algo.Env)                      { h.kept = env }
func (h *hostile) Receive(algo.Env, algo.ID, algo.Message) {}
func (h *hostile) Timeout(env algo.Env, timer algo.Timer) {
	if h.n--; h.n == 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	env.SetTimer(timer, 400*time.Microsecond)
}

func (h *hostile) Elect(env algo.Env) {
	if h.ID == 2 {
		deeds[h.Params.Enum("deed")].do(h, env)
	}
}

func deeper(n int) int {
	if n == math.MaxInt {
		return n
	}
	return deeper(n+1) + n
}

func deedNames() []string { return slices.Sorted(maps.Keys(deeds)) }

func init() {
	algo.RegisterElector(algo.Spec{
		Name: "test-hostile", Summary: "for tests: does one bad thing",
		Paper:    algo.Paper{Authors: "A. Author", Title: "On nothing", Venue: "Proc. Nowhere", Year: 1999},
		Messages: []algo.Message{bulk{}},
		Params: []algo.Param{{Name: "deed", Type: algo.Enum, Choices: deedNames(),
			Default: algo.Const("none"), Doc: "what it does"}},
	}, func(c algo.Config) algo.Elector { return &hostile{Config: c} })
}

// badly is an experiment with a trial for each deed.
func badly(transport, trace string) string {
	names := slices.DeleteFunc(deedNames(), func(name string) bool { return name == killed })
	text := fmt.Sprintf(`
name: badly
problem: election
algorithms: [test-hostile]
transport: %s
nodes: 3
network: {latency: 1ms}
scenario: {kind: cold-start}
sweep: [{vary: params.deed, over: ["%s"]}]
repetitions: 1
time_limit: 500ms
retries: 9
trace: %s
`, transport, strings.Join(names, `", "`), trace)
	return text
}

// What a plugin does wrong is its own error, in both worlds, and in the same words;
// what does no harm in one does none in the other. The run goes on in any case.
//
// It is alone: what works for ever takes a processor from others, whose trials it
// would make late.
func TestHostile_BothWorlds(t *testing.T) {
	slowtest.Skip(t, "runs every misdeed in both worlds")
	if testing.Short() {
		t.Skip("starts processes")
	}
	reasons := map[string]map[string]string{}
	for _, transport := range []string{"sim", "nats"} {
		e, f := created(t, badly(transport, "all"), t.TempDir())
		o := options(t)
		o.Workers, o.Patience = 2, time.Second
		_, err := runner.Run(context.Background(), e, f, o)
		must(t, err)
		reasons[transport] = map[string]string{}
		for _, row := range table(t, f.Dir(), results.TrialsFile) {
			cell, err := strconv.Atoi(row["cell"])
			must(t, err)
			name := e.Cells[cell-1].Plan.Params["deed"].(string)
			reasons[transport][name] = row["status"] + ": " + row["reason"]
			want, status := deeds[name].want, trace.Failed
			if want == "" || deeds[name].broken {
				status = trace.Violated // nobody is elected, at the least
			}
			if trace.Status(row["status"]) != status || !regexp.MustCompile(want).MatchString(row["reason"]) {
				t.Errorf("%s: %s: %s: %s, want %s: %s", transport, name, row["status"], row["reason"], status, want)
			}
		}
	}
	for name, d := range deeds {
		if name == killed {
			continue
		}
		if a, b := reasons["sim"][name], reasons["nats"][name]; a != b && !d.apart {
			t.Errorf("%s:\nsimulated %s\non nodes  %s", name, a, b)
		}
	}
}

// The same bytes, on any number of workers, also where plugins end their processes.
func TestHostile_SameBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	text := strings.Replace(badly("sim", "none"), "repetitions: 1", "repetitions: 3", 1)
	text = regexp.MustCompile(`over: \[.*\]\}`).ReplaceAllString(text, `over: [none, "exit 0", overflow, panic]}`)
	var want map[string]string
	for _, workers := range []int{1, 3} {
		e, f := created(t, text, t.TempDir())
		o := options(t)
		o.Workers = workers
		_, err := runner.Run(context.Background(), e, f, o)
		must(t, err)
		complete(t, f.Dir())
		if want == nil {
			want = files(t, f.Dir())
		}
		same(t, files(t, f.Dir()), want)
	}
}

// A trial whose process is killed is begun again, and is an error if that happens each time; the
// others are what they are.
func TestSimulatorIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	text := regexp.MustCompile(`over: \[.*\]\}`).ReplaceAllString(badly("sim", "none"), `over: [none, killed, suicide, panic]}`)
	e, f := created(t, text, t.TempDir())
	o := options(t)
	o.Workers = 1
	_, err := runner.Run(context.Background(), e, f, o)
	must(t, err)
	var got []string
	for _, row := range table(t, f.Dir(), results.TrialsFile) {
		got = append(got, row["status"])
		if want := "the process that simulates it died 3 times: SIGKILL"; row["params.deed"] == killed &&
			row["reason"] != want {
			t.Errorf("%q, want %q", row["reason"], want)
		}
	}
	if want := []string{"violation", "error", "error", "error"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// bench says which trial it was, how to see it again, and ends with exit code 1; what
// the plugin wrote reaches the terminal as text. The replay shows what came before.
func TestHostile_Command(t *testing.T) {
	t.Parallel()
	c := newCommand(t)
	for name, want := range map[string]string{
		"exit 0": "process 2: it has ended its whole process: exit code 0",
		"goexit": "process 2: Elect: it has ended its goroutine",
		"print":  "",
	} {
		root := filepath.Join(c.root, strings.ReplaceAll(name, " ", "-"))
		code := 1
		if want == "" {
			code = 3 // nobody is elected
		}
		p := c.start("--algorithms", "election/test-hostile", "--nodes", "3", "--transport", "sim", "--out", root,
			"--set", "params.deed="+name, "--set", "repetitions=1", "--set", "scenario.kind=cold-start")
		c.ends(p, code, time.Minute)
		dirs, err := filepath.Glob(filepath.Join(root, "*", "2*"))
		must(t, err)
		said := flat(&p.errs)
		if want != "" && (!strings.Contains(said, "trial 1 could not be run: election/test-hostile: "+want) ||
			!strings.Contains(said, "bench replay "+dirs[0]+" --trial 1 --events")) {
			t.Errorf("%s: %s", name, said)
		}
		replay := exec.Command(c.exe, "replay", dirs[0], "--trial", "1", "--events")
		var out, errs buffer
		replay.Stdout, replay.Stderr = &out, &errs
		_ = replay.Run() // its exit code is asked for
		if got := replay.ProcessState.ExitCode(); got != code ||
			!strings.Contains(flat(&errs)+flat(&out), want) || !strings.Contains(out.String(), "p2") {
			t.Errorf("%s: exit code %d\n%s\n%s", name, got, &out, &errs)
		}
		if strings.ContainsAny(said+p.out.String()+out.String()+errs.String(), "\x1b\a") {
			t.Errorf("%s: it obeys the plugin: %q", name, said+errs.String())
		}
		if name == "print" && !strings.Contains(flat(&errs), `\u001b]0;to standard error`) {
			t.Errorf("what the plugin wrote is gone: %q", errs.String())
		}
	}
}
