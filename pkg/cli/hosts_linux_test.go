package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/results"
)

// spread is an experiment for several hosts, and what runs it over two agents on loopback.
const spread = "name: spread\nproblem: mutex\nalgorithms: [naimi-trehel]\nnodes: 3\nrepetitions: 2\nretries: 20\n" +
	"transport: nats\nscenario: {kind: sequential, requests: 6}\nallow: {invalid: 2}\ntrace: all\n"

func loopback(t *testing.T, names ...string) string {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := "hosts:\n"
	for _, name := range names {
		text += "- {name: " + name + ", address: 127.0.0.1, command: \"env " + asAgent + "=1 " + exe + "\"}\n"
	}
	return write(t, "hosts.yaml", text)
}

// TestRun_Hosts: a run over two agents, from the hosts file to the replay of a trial; what it
// can be compared with, and what it cannot go on with.
func TestRun_Hosts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	root, file := t.TempDir(), write(t, "spread.yaml", spread)
	hosts := loopback(t, "lab1", "lab2")
	has(t, bench(t, "run", file, "--hosts", hosts, "--out", root).want(t, Good).errors, "hosts       lab1, lab2")
	dir := latest(t, root, "spread")
	text := contents(t, dir)
	has(t, text[results.TrialsFile], ",lab1+lab2,mutex,", "clock_error_us")
	m, err := results.ReadManifest(dir)
	if err != nil || len(m.Hosts) != 2 || m.Hosts[1].Name != "lab2" || m.Hosts[1].Machine.OS == "" {
		t.Fatalf("%v, %+v", err, m)
	}
	has(t, bench(t, "replay", dir, "--trial", "1").want(t, Good).out, "the algorithm asks for the same")
	bench(t, "run", file, "--out", filepath.Join(root, "here")).want(t, Good)
	here := latest(t, filepath.Join(root, "here"), "spread")
	has(t, bench(t, "compare", dir, here, "--no-fail").want(t, Good).out, "careful: the machines differ (each trial over lab1, lab2: ")
	has(t, bench(t, "run", "--resume", dir, "--hosts", hosts).want(t, Good).errors, "2 of 2 trials were finished")
	has(t, bench(t, "run", "--resume", dir).want(t, Usage).errors, "the run began on the hosts lab1, lab2",
		"(--hosts) that it began with")
	has(t, bench(t, "run", "--resume", dir, "--hosts", loopback(t, "lab2", "lab3")).want(t, Usage).errors,
		"now they are lab2, lab3")
	has(t, bench(t, "merge", dir, here).want(t, Usage).errors, "is a run in one piece, and no shard")
}

// TestRun_HostsRefused: what cannot be, and what could not be done.
func TestRun_HostsRefused(t *testing.T) {
	root, file := t.TempDir(), write(t, "spread.yaml", spread)
	host := func(rest string) string { return write(t, "hosts.yaml", "hosts:\n- {name: lab1, "+rest+"}\n") }
	good := host("address: 127.0.0.1, command: nothing-of-that-name")
	for want, c := range map[string]struct {
		code int
		args []string
	}{
		"none.yaml":                       {Usage, []string{"--hosts", filepath.Join(root, "none.yaml")}},
		"hosts.yaml:2: hosts[1]":          {Usage, []string{"--hosts", host("command: x")}},
		"3 processes, but the hosts have": {Usage, []string{"--hosts", host("address: 127.0.0.1, command: x, slots: 2")}},
		"placement by region needs a network with regions": {Usage, []string{"--hosts",
			write(t, "hosts.yaml", "hosts:\n- {name: a, address: b, command: c, region: eu}\nplacement: region\n")}},
		"--hosts with transport sim":                {Usage, []string{"--hosts", good, "--transport", "sim"}},
		"--host with --hosts":                       {Usage, []string{"--hosts", good, "--host", "ssh lab7"}},
		"--hosts with --shard":                      {Usage, []string{"--hosts", good, "--shard", "1/2"}},
		"start agent on lab1: nothing-of-that-name": {CouldNotRun, []string{"--hosts", good}},
		"it wrote \"hello\" to its standard output": {CouldNotRun, []string{"--hosts",
			host("address: 127.0.0.1, command: echo hello")}},
		"lab1: ssh: No route to host": {CouldNotRun, []string{"--hosts", write(t, "hosts.yaml", "hosts:\n- name: lab1\n"+
			"  address: 127.0.0.1\n  command: "+script(t, "echo lab1: ssh: No route to host >&2; exit 255")+"\n")}},
	} {
		args := append([]string{"run", file, "--out", filepath.Join(root, "out")}, c.args...)
		has(t, strings.ReplaceAll(bench(t, args...).want(t, c.code).errors, `\"`, `"`), want)
	}
}

// script is a program of these lines of shell.
func script(t *testing.T, text string) string {
	path := write(t, "agent.sh", "#!/bin/sh\n"+text+"\n")
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
