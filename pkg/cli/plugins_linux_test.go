package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/internal/worlds/guest/guesttest"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// hosted is an experiment with a program as its algorithm.
const hosted = "name: hosted\nproblem: mutex\nalgorithms: [fake]\nnodes: 3\nscenario: {kind: sequential, requests: 6}\nrepetitions: 1\n"

// option is the option that has the program do that.
func option(d guesttest.Deed) string {
	words := d.Command()
	return "--plugin=mutex/fake='" + strings.Join(words, "' '") + "'"
}

// runHosted runs an experiment whose algorithm is a program that does d, and wants nothing left behind.
func runHosted(t *testing.T, d guesttest.Deed, experiment string, args ...string) (misleading, string) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	root := t.TempDir()
	args = append([]string{"run", write(t, "hosted.yaml", hosted+experiment), option(d), "--progress", "none", "--out",
		root}, args...)
	r := misled(t, "", args...)
	if len(r.left) > 0 {
		t.Errorf("it leaves processes behind: %v", r.left)
	}
	return r, root
}

// What is wrong with a program that starts is a mistake of the command line, in a sentence.
func TestPlugins_Load(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		guesttest.Deed
		want string
	}{
		"banner":  {guesttest.Deed{On: "describe", Say: "Welcome\n"}, `"Welcome" is not JSON: did you print to standard output?`},
		"exits":   {guesttest.Deed{On: "describe", Then: "exit 3", Error: "no module"}, "it has ended (exit code 3); its standard error ends with: no module"},
		"version": {guesttest.Deed{On: "describe", Say: `{"n":1,"protocol":7,"spec":{}}` + "\n"}, "it speaks version 7 of the step protocol, and Conclave speaks version 1"},
	} {
		r, _ := runHosted(t, c.Deed, "transport: sim\n")
		if r.code != Usage {
			t.Errorf("%s: exit code %d, want %d", name, r.code, Usage)
		}
		has(t, r.said, "plugin mutex/fake (", "event 1 (describe): ", c.want)
	}
	r := bench(t, "list", "--plugin", "mutex/fake=no-such-program-anywhere").want(t, Usage)
	has(t, r.errors, `--plugin: plugin mutex/fake (no-such-program-anywhere): there is no program`)
}

// statusesOf are the statuses and reasons of the trials of the only run under root.
func statusesOf(t *testing.T, root string) (list []trace.Status, reasons []string) {
	t.Helper()
	trials, err := results.ReadTrials(latest(t, root, "hosted"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range trials {
		list, reasons = append(list, trials[i].Status), append(reasons, trials[i].Reason)
	}
	return list, reasons
}

// What is wrong in a trial ends it with status error, in simulation as on real nodes, where a program has a second
// to answer.
func TestPlugins_Trial(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		guesttest.Deed
		experiment, want string
	}{
		{guesttest.Deed{Say: "oops\n", Error: "last words"}, "transport: sim\n",
			`(Request): "oops" is not JSON: did you print to standard output?; its standard error ends with: last words`},
		{guesttest.Deed{Then: "sleep"}, "transport: nats\n", "(Request): it does not answer within 1s"},
		{guesttest.Deed{Then: "exit 3"}, "transport: nats\n", "(Request): it has ended (exit code 3)"},
	} {
		r, root := runHosted(t, c.Deed, c.experiment)
		if r.code != CouldNotRun {
			t.Errorf("exit code %d, want %d: %s", r.code, CouldNotRun, r.said)
		}
		list, reasons := statusesOf(t, root)
		if len(list) == 0 || list[0] != trace.Failed {
			t.Fatalf("statuses %v, %q", list, reasons)
		}
		has(t, reasons[0], "mutex/fake (", ": process ", ": event ", c.want)
	}
}

// guests are the processes whose command line has mark.
func guests(mark string) (found []int) {
	list, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range list {
		line, err := os.ReadFile(name)
		if err == nil && strings.Contains(string(line), mark) && strings.Contains(string(line), "\x00"+guesttest.Marker) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			found = append(found, pid)
		}
	}
	return found
}

// No program is left of a node that crashes, and its crash is no error of the program.
func TestPlugins_Crash(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "runs on real nodes for seconds")
	_, root := runHosted(t, guesttest.Deed{}, "transport: nats\nretries: 20\ntime_limit: 6s\nallow: {timeout: 1}\n"+
		"faults: {events: [{at: 1s, do: crash, who: 3}]}\n", "--set", "scenario.requests=40", "--set",
		"scenario.hold=100ms")
	if list, reasons := statusesOf(t, root); len(list) != 1 || list[0] == trace.Failed {
		t.Errorf("%v: %q", list, reasons)
	}
}

// A kill of a program on real nodes spoils its trial, and no other.
func TestPlugins_Kill(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "runs on real nodes for seconds")
	mark := fmt.Sprintf("kill-%d-%d", os.Getpid(), time.Now().UnixNano())
	over := make(chan bool)
	var root string
	go func() {
		defer close(over)
		_, root = runHosted(t, guesttest.Deed{Mark: mark}, "transport: nats\nretries: 20\n"+
			"allow: {invalid: 10}\n", "--set", "scenario.hold=20ms", "--set",
			"repetitions=8")
	}()
	killed := 0
	for ended := false; !ended; {
		select {
		case <-over:
			ended = true
		case <-time.After(time.Duration(50+rand.IntN(200)) * time.Millisecond):
			if list := guests(mark); len(list) == 4 && killed < 8 {
				_ = syscall.Kill(list[rand.IntN(len(list))], syscall.SIGKILL) // it ends already, perhaps
				killed++
			}
		}
	}
	list, reasons := statusesOf(t, root)
	for i, s := range list {
		if s != trace.OK && !strings.Contains(reasons[i], "SIGKILL") {
			t.Errorf("trial %d: %s: %s", i+1, s, reasons[i])
		}
	}
	t.Logf("%d killed: %v", killed, list)
}

// TestGate_Programs: each commit is judged by the program of its own folder, whatever starts it.
func TestGate_Programs(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "builds programs of several commits")
	here := commitsIn(t, plain)
	lock := func(d guesttest.Deed) string { return "exec '" + strings.Join(d.Command(), "' '") + "'\n" }
	here.put(t, "lock.sh", lock(guesttest.Deed{}))
	here.put(t, "fake.yaml", hosted+"transport: sim\n")
	here.git(t, "add", "--all")
	here.git(t, "commit", "--quiet", "--message", "a lock in another language")
	args := []string{"gate", "--base", "HEAD", "fake.yaml", "--plugin", "mutex/fake=sh lock.sh"}
	here.put(t, "lock.sh", lock(guesttest.Deed{Mark: "another program"}))
	r := here.bench(t, args...).want(t, Good)
	has(t, strings.Join(strings.Fields(r.out), " "), "1 trial (ok 1) new ", "nothing is worse")
	has(t, here.read(t, "gate/base/hosted/latest/manifest.json"), `"sh",`, `"lock.sh"`)
	here.put(t, "lock.sh", lock(guesttest.Deed{Say: "oops\n"}))
	r = here.bench(t, args...).want(t, CouldNotRun)
	has(t, strings.Join(strings.Fields(r.out), " "), "could not run: fake.yaml: mutex/fake: mutex/fake (sh lock.sh): process ",
		`"oops" is not JSON`, "reproduce: gate/bench-head replay ", "ok 1 -> 0, error 0 -> 1")
}
