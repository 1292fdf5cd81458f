package cli

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
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
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	root, file := t.TempDir(), write(t, "spread.yaml", spread)
	hosts := loopback(t, "lab1", "lab2")
	has(t, bench(t, "run", file, "--hosts", hosts, "--out", root).want(t, Good).errors, "hosts       lab1, lab2")
	dir := latest(t, root, "spread")
	has(t, contents(t, dir)[results.TrialsFile], ",lab1+lab2,mutex,")
	if list := clockErrors(t, dir); slices.Contains(list, "") {
		t.Errorf("clock_error_us of trials over two hosts: %q", list)
	}
	m, err := results.ReadManifest(dir)
	if err != nil || len(m.Hosts) != 2 || m.Hosts[1].Name != "lab2" || m.Hosts[1].Machine.OS == "" {
		t.Fatalf("%v, %+v", err, m)
	}
	has(t, bench(t, "replay", dir, "--trial", "1").want(t, Good).out, "the algorithm reacts as recorded")
	bench(t, "run", file, "--out", filepath.Join(root, "here")).want(t, Good)
	here := latest(t, filepath.Join(root, "here"), "spread")
	if list := clockErrors(t, here); strings.Join(list, "") != "" {
		t.Errorf("clock_error_us of trials on one machine: %q", list)
	}
	has(t, flat(bench(t, "compare", dir, here, "--no-fail").want(t, Good).out), "careful: the machines differ (each trial over lab1, lab2: ")
	has(t, bench(t, "run", "--resume", dir, "--hosts", hosts).want(t, Good).errors, "2 of 2 trials were finished")
	has(t, bench(t, "run", "--resume", dir).want(t, Usage).errors, "the run began on the hosts lab1, lab2",
		"(--hosts) that it began with")
	has(t, bench(t, "run", "--resume", dir, "--hosts", loopback(t, "lab2", "lab3")).want(t, Usage).errors,
		"now they are lab2, lab3")
	has(t, bench(t, "merge", dir, here).want(t, Usage).errors, "is a whole run, not a shard")
}

// TestRun_Via: one of the hosts leads the trials, which are the same; bench itself starts no other host. What a lead
// finds wrong is bench's to say.
func TestRun_Via(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root, file, started := t.TempDir(), write(t, "spread.yaml", spread), filepath.Join(t.TempDir(), "started")
	hosts := func(lab1 string) string {
		text := "hosts:\n"
		for i, command := range []string{lab1, ""} {
			name := fmt.Sprint("lab", i+1)
			text += "- {name: " + name + ", address: 127.0.0.1, command: " + script(t, "echo "+name+" $1 by "+
				"$(ps -o comm=,args= -p $PPID | grep -o ' host$') >>"+started+"\n"+command+"\nexec env "+asAgent+"=1 "+exe+" $1") + " agent}\n"
		}
		return write(t, "hosts.yaml", text)
	}
	bench(t, "run", file, "--hosts", hosts(""), "--via", "lab2", "--out", root).want(t, Good)
	dir := latest(t, root, "spread")
	m, err := results.ReadManifest(dir)
	if err != nil || len(m.Hosts) != 2 || m.Hosts[0].Name == m.Hosts[1].Name || m.Hosts[1].Machine.OS == "" ||
		m.Hosts[0].ClockSource != "exchange" {
		t.Fatalf("%v, %+v", err, m.Hosts)
	}
	log, err := os.ReadFile(started)
	if got := string(log); err != nil || got != "lab2 host by\nlab1 agent by host\n" {
		t.Errorf("%v: started: %q, want lab2 as the lead, and lab1 by it", err, got)
	}
	has(t, bench(t, "run", "--resume", dir, "--hosts", hosts(""), "--via", "lab1").want(t, Good).errors, "2 of 2 trials were finished")
	has(t, bench(t, "run", file, "--hosts", hosts("echo no route >&2; exit 255"), "--via", "lab2", "--out", root).
		want(t, CouldNotRun).errors, "start agent on lab1", "no route")
	for want, args := range map[string][]string{
		`has no host "lab3", expected one of lab1`:    {"--hosts", loopback(t, "lab1", "lab2"), "--via", "lab3"},
		`does not end with "agent"`:                   {"--hosts", loopback(t, "lab1", "lab2"), "--via", "lab1"},
		"--via lab1 without a file of hosts":          {"--via", "lab1"},
		"--via lab2 without a file of hosts: it is a": {"--hosts", "tls://lab0:4222", "--via", "lab2"},
	} {
		args = append([]string{"run", file, "--out", root}, args...)
		has(t, strings.ReplaceAll(flat(bench(t, args...).want(t, Usage).errors), `\"`, `"`), want)
	}
}

// TestRun_HostsSecrets: what agents are told in confidence, on their standard input, is in no
// argument, no environment, and nothing that the run writes or prints.
func TestRun_HostsSecrets(t *testing.T) {
	slowtest.Skip(t, "starts hosts several times")
	if testing.Short() {
		t.Skip("starts processes")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	heard := filepath.Join(t.TempDir(), "heard")
	agents := "hosts:\n"
	for _, name := range []string{"lab1", "lab2"} {
		agents += "- {name: " + name + ", address: 127.0.0.1, command: " +
			script(t, "tee -a "+heard+" | env "+asAgent+"=1 "+exe) + "}\n"
	}
	over, seen := make(chan bool), make(chan map[string]string)
	go watchProcesses(over, seen)
	root := t.TempDir()
	r := bench(t, "run", write(t, "spread.yaml", spread), "--hosts", write(t, "hosts.yaml", agents), "--out", root).
		want(t, Good)
	close(over)
	shown := <-seen
	if n := strings.Count(strings.Join(slices.Collect(maps.Keys(shown)), "\n"), busRole); n == 0 {
		t.Error("no process of the bus was seen")
	}
	shown["standard output"], shown["standard error"] = r.out, r.errors
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		shown[path] = string(text)
		return err
	})
	if err != nil || len(shown) < 15 {
		t.Fatalf("%v; looked at %d places", err, len(shown))
	}
	asked, err := os.ReadFile(heard)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]*regexp.Regexp{ // as agents are told them
		"the cluster's secret": regexp.MustCompile(`"cluster":\{"secret":"([A-Z0-9]{20,})"`),
		"a key of TLS":         regexp.MustCompile(`"key":"([A-Za-z0-9+/=]{100,})"`),
		"a node's key":         regexp.MustCompile(`"seed":"([A-Za-z0-9+/=]{40,})"`),
	}
	for what, kind := range kinds {
		found := kind.FindAllSubmatch(asked, -1)
		if len(found) < 2 {
			t.Errorf("the agents were not told %s: %d", what, len(found))
		}
		for _, m := range found {
			secret := []string{string(m[1])}
			if plain, err := base64.StdEncoding.DecodeString(secret[0]); err == nil && what != "the cluster's secret" {
				secret = append(secret, strings.Split(string(plain), "\n")[min(1, strings.Count(string(plain), "\n"))])
			}
			for where, text := range shown {
				for _, s := range secret {
					if strings.Contains(text, s) {
						t.Errorf("%.100q shows %s", where, what)
					}
				}
			}
		}
	}
}

// watchProcesses collects the arguments and environments of all processes, by what they are.
func watchProcesses(over <-chan bool, seen chan<- map[string]string) {
	all := map[string]string{}
	for {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range files {
			arguments, _ := os.ReadFile(file) // it may have ended
			environment, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "environ"))
			all[string(arguments)] += string(arguments) + string(environment)
		}
		select {
		case <-over:
			seen <- all
			return
		case <-time.After(10 * time.Millisecond): // a bus may be there for a moment
		}
	}
}

// TestRun_HostsOfAnExternalBus: the nodes of each host connect to the server that its line names.
func TestRun_HostsOfAnExternalBus(t *testing.T) {
	slowtest.Skip(t, "starts a bus of its own")
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	text := "hosts:\n"
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var servers []*server.Server
	for i := range 2 {
		o := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
			Cluster: server.ClusterOpts{Name: "users", Host: "127.0.0.1", Port: server.RANDOM_PORT}}
		if i > 0 {
			o.Routes = server.RoutesFromStr("nats://" + servers[0].ClusterAddr().String())
		}
		s, err := server.NewServer(o)
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(s.Shutdown)
		if !s.ReadyForConnections(10 * time.Second) {
			t.Fatal("no server")
		}
		servers = append(servers, s)
		text += fmt.Sprintf("- {name: lab%d, address: 127.0.0.1, bus: %q, command: \"env %s=1 %s\"}\n", i+1, s.ClientURL(),
			asAgent, exe)
	}
	root := t.TempDir()
	bench(t, "run", write(t, "spread.yaml", spread+"bus: {url: "+servers[0].ClientURL()+"}\n"), "--hosts",
		write(t, "hosts.yaml", text), "--out", root).want(t, Good)
	has(t, contents(t, latest(t, root, "spread"))[results.TrialsFile], ",lab1+lab2,mutex,")
	for i, s := range servers {
		if v, err := s.Varz(nil); err != nil || v.TotalConnections < 4 {
			t.Errorf("server %d: %v, %v connections", i, err, v.TotalConnections)
		}
	}
}

// clockErrors are the clock_error_us of all rows of trials.csv that are not invalid, empty where there is none.
func clockErrors(t *testing.T, dir string) (list []string) {
	t.Helper()
	r, err := results.ReadTable(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Trials {
		if r.Trials[i].Status == trace.Invalid { // it may have ended before clocks were compared
			continue
		}
		text := ""
		if v, kind := r.Trials[i].Observe(metric.ClockError.Name); kind == results.Observed {
			text = results.Number(v)
		}
		list = append(list, text)
	}
	return list
}

// TestRun_HostsRefused: what cannot be, and what could not be done.
func TestRun_HostsRefused(t *testing.T) {
	t.Parallel()
	root, file := t.TempDir(), write(t, "spread.yaml", spread)
	host := func(rest string) string { return write(t, "hosts.yaml", "hosts:\n- {name: lab1, "+rest+"}\n") }
	good := host("address: 127.0.0.1, command: nothing-of-that-name")
	for want, c := range map[string]struct {
		code int
		args []string
	}{
		"none.yaml":              {Usage, []string{"--hosts", filepath.Join(root, "none.yaml")}},
		"hosts.yaml:2: hosts[1]": {Usage, []string{"--hosts", host("command: x")}},
		"hosts.yaml:2: hosts: cell 1, mutex/naimi-trehel with 3 processes: 3 processes, but the hosts have": {Usage, []string{"--hosts", host("address: 127.0.0.1, command: x, slots: 2")}},
		"hosts.yaml:3: placement: cell 1, mutex/naimi-trehel with 3 processes: a placement by region needs a network with regions": {Usage, []string{"--hosts",
			write(t, "hosts.yaml", "hosts:\n- {name: a, address: b, command: c, region: eu}\nplacement: region\n")}},
		"hosts.yaml:2: hosts[1].bus: without bus.url": {Usage, []string{"--hosts", host("address: a, command: b, bus: tls://c:4222")}},
		`hosts.yaml:2: hosts: no host "lab2", which`:  {Usage, []string{"--hosts", good, "--set", "hosting.hosts=[lab1, lab2]"}},
		"--hosts with transport sim":                  {Usage, []string{"--hosts", good, "--transport", "sim"}},
		"--host with --hosts":                         {Usage, []string{"--hosts", good, "--host", "ssh lab7"}},
		"--hosts with --shard":                        {Usage, []string{"--hosts", good, "--shard", "1/2"}},
		"start agent on lab1: nothing-of-that-name":   {CouldNotRun, []string{"--hosts", good}},
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

// TestRun_HostsUnfit: a host with no disk space left, and one of another architecture, end the run before its first trial
// with a sentence that says what to do.
func TestRun_HostsUnfit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file, full := write(t, "spread.yaml", spread), t.TempDir()
	agent := "env TMPDIR=" + full + " " + asAgent + "=1 " + exe
	mount := "mount -t tmpfs -o size=16k none /dev/shm && mount -t tmpfs -o size=16k none " + full
	small := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount).Run() == nil
	for want, c := range map[string]struct {
		code   int
		script string
		skip   bool
	}{
		"start agent on lab2: no disk space is left: " + full + " has 16 KiB, and what 3 nodes write down takes 96 KiB and more; " +
			"free some space there": {CouldNotRun,
			"exec unshare --user --map-root-user --mount sh -c '" + mount + " && exec " + agent + "'", !small},
		"and lab2 is linux/pdp11: trials on real nodes need hosts of one platform; leave one of them out": {Usage,
			agent + " | sed -u 's/\"arch\":\"" + runtime.GOARCH + "\"/\"arch\":\"pdp11\"/'", false},
	} {
		if c.skip {
			t.Log("no small disk can be had here")
			continue
		}
		hosts := write(t, "hosts.yaml", "hosts:\n- {name: lab1, address: 127.0.0.1, command: \"env "+asAgent+"=1 "+exe+
			"\"}\n- {name: lab2, address: 127.0.0.1, command: "+script(t, c.script)+"}\n")
		r := bench(t, "run", file, "--hosts", hosts, "--out", t.TempDir()).want(t, c.code)
		text := flat(r.errors)
		for _, part := range strings.Split(want, ": no disk") {
			has(t, text, part)
		}
	}
}
