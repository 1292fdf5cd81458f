package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/worlds/wire"
	"github.com/conclave-bench/conclave/pkg/algo"
	experiments "github.com/conclave-bench/conclave/pkg/experiment"
)

const served = "name: x\nproblem: mutex\ntransport: nats\nalgorithms: [{name: etcd, params: {servers: 1}}]\n" +
	"nodes: 1\nnetwork: {latency: 1ms, wire: true}\nscenario: {kind: closed, duration: 1s}\n" +
	"repetitions: 1\nretries: 0\ntime_limit: 10s\n"

// needWire skips t where there are no namespaces. In CI it fails instead.
func needWire(t *testing.T) {
	t.Helper()
	if err := wire.Available(); err != nil && os.Getuid() == 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// fake makes an etcd that says such a version and then does what a line of shell says, and has it found first.
func fake(t *testing.T, version, line string) {
	t.Helper()
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *--version*) echo '%s'; exit 0;; esac\n%s\n", version, line)
	if err := os.WriteFile(filepath.Join(dir, "etcd"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// run runs an experiment, and returns what was said and the exit code. Nothing is left running of it.
func run(t *testing.T, dir string, args ...string) (said string, code int) {
	t.Helper()
	file := filepath.Join(dir, "x.yaml")
	if err := os.WriteFile(file, []byte(served), 0o600); err != nil {
		t.Fatal(err)
	}
	said, code = bench(t, append([]string{"run", file, "--out", dir, "--progress", "none"}, args...)...)
	if strings.Contains(said, "\033") {
		t.Errorf("%q: a terminal would obey that", said)
	}
	if out, err := exec.Command("pgrep", "-f", mark).Output(); err == nil {
		t.Errorf("that is left running: %s", out)
	}
	return said, code
}

// mark is an argument of programs that never end.
var mark = fmt.Sprintf("10%d", os.Getpid())

// TestServices_Refused: a server that cannot be measured is said to be so in a sentence that says what to do, and
// nothing of it is left.
func TestServices_Refused(t *testing.T) {
	needWire(t)
	skew := "faults.events=[{at: 500ms, do: skew, by: 10s, who: server-leader}]"
	lies := "faults.events=[{at: 500ms, do: lying-disk, who: server-leader}]"
	for name, c := range map[string]struct {
		version, line string
		args          []string
		code          int
		says          []string
	}{
		"exits": {"etcd Version: 9.9.9", `printf '\033[31mred\033[0m \033]0;title\007 no luck\n' >&2; exit 3`, nil, 5,
			[]string{"etcd, server 1, is not ready: etcd has ended: exit code 3", "?[31mred", "no luck",
				"see what it wrote"}},
		"never ready": {"etcd Version: 9.9.9", "echo waits in vain >&2; exec sleep " + mark,
			[]string{"--params", "start=1s"}, 5,
			[]string{"etcd, server 1, is not ready in time", "waits in vain", "see what it wrote"}},
		"no version": {"something else", "exit 1", nil, 2,
			[]string{"mutex/etcd is skipped", "--version", "something else", "nothing is left to run"}},
		"clock of Go": {"etcd Version: 9.9.9", "exit 1", []string{"--set", skew}, 2,
			[]string{"skew cannot happen to mutex/etcd"}},
		"disk that lies": {"etcd Version: 9.9.9", "exit 1", []string{"--set", lies}, 2,
			[]string{"lying-disk cannot happen to mutex/etcd", "use slow-disk, hung-disk or full-disk"}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "clock of Go" {
				if _, err := exec.LookPath("etcd"); err != nil {
					t.Skip(err)
				}
			} else {
				fake(t, c.version, c.line)
			}
			said, code := run(t, t.TempDir(), c.args...)
			if code != c.code {
				t.Errorf("exit code %d, expected %d", code, c.code)
			}
			for _, want := range c.says {
				if !strings.Contains(said, want) {
					t.Errorf("%q is missing in: %s", want, said)
				}
			}
		})
	}
}

// TestServices_Upgraded: a run does not go on with another version of a system, and no trial is replayed.
func TestServices_Upgraded(t *testing.T) {
	needWire(t)
	dir := t.TempDir()
	fake(t, "etcd Version: 1.1.1", "exit 3")
	if said, code := run(t, dir); code != 5 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	said, code := bench(t, "replay", filepath.Join(dir, "x", "latest"), "--trial", "1")
	if want := "is a system of other programs, which cannot be run again"; code != 2 || !strings.Contains(said, want) {
		t.Errorf("replay: exit code %d: %s; expected %q", code, said, want)
	}
	fake(t, "etcd Version: 2.2.2", "exit 3")
	said, code = bench(t, "run", "--resume", filepath.Join(dir, "x", "latest"))
	if want := "has service_version 1.1.1, and here it would have 2.2.2; install the system"; code != 2 ||
		!strings.Contains(said, want) {
		t.Errorf("exit code %d: %s; expected %q", code, said, want)
	}
}

// TestServices_NoWire: where there are no namespaces, or no TUN devices, a sentence says what to do.
func TestServices_NoWire(t *testing.T) {
	for name, c := range map[string]struct{ space, script, want string }{
		"namespaces": {"-Ur", `echo 1 >/proc/sys/user/max_user_namespaces && exec unshare -U "$@"`,
			"only root may make network namespaces here; run it as root, or open user namespaces"},
		"device": {"-Urm", `mount -t tmpfs none /dev/net && exec "$@"`,
			`/dev/net/tun is missing; load it with "modprobe tun"`},
	} {
		t.Run(name, func(t *testing.T) {
			if out, err := exec.Command("unshare", c.space, "sh", "-c", c.script, "sh", "true").
				CombinedOutput(); err != nil {
				t.Skipf("no user namespaces, or no unshare: %v: %s", err, out)
			}
			dir := t.TempDir()
			file := filepath.Join(dir, "x.yaml")
			text := strings.Replace(served, "{name: etcd, params: {servers: 1}}", "natskv", 1)
			err := errors.Join(os.WriteFile(file, []byte(text), 0o644), os.Chmod(dir, 0o777),
				os.Chmod(filepath.Dir(dir), 0o755))
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("unshare", c.space, "sh", "-c", c.script, "sh", os.Args[0], "run", file, "--out",
				dir, "--progress", "none")
			cmd.Env = append(os.Environ(), "COLUMNS=1000")
			out, _ := cmd.CombinedOutput()
			said := strings.Join(strings.Fields(string(out)), " ")
			if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(said, c.want) {
				t.Errorf("exit code %d: %s; expected %q", code, said, c.want)
			}
		})
	}
}

// TestSystems: what the other program says of what it does not link is what this one links.
func TestSystems(t *testing.T) {
	for problem, names := range experiments.Systems {
		for _, name := range names {
			if _, err := algo.Lookup(problem + "/" + name); err != nil {
				t.Error(err)
			}
		}
	}
	for _, a := range algo.All() {
		if a.Foreign() && !slices.Contains(experiments.Systems[string(a.Problem)], a.Spec.Name) {
			t.Errorf("%s is missing in experiment.Systems", a.ID)
		}
	}
}
