package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/internal/runs/queue"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A lab is a NATS server, and workers that offer their machines.
type lab struct {
	url  string
	mu   sync.Mutex
	seen [][]byte // all that the server has carried, but JetStream's own
}

func newLab(t *testing.T) *lab {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true,
		NoLog: true, JetStream: true, StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("NATS is not ready")
	}
	l := &lab{url: s.ClientURL()}
	nc, err := nats.Connect(l.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	_, err = nc.Subscribe(">", func(m *nats.Msg) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.seen = append(l.seen, m.Data)
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// offer starts a worker, whose machine is a folder of its own for locks.
func (l *lab) offer(t *testing.T, name string, more ...string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe, append([]string{"work", "--join", l.url, "--machine", name, "--address", "127.0.0.1"}, more...)...)
	var said bytes.Buffer
	c.Stderr, c.Env = &said, append(os.Environ(), asBench+"=1", "TMPDIR="+t.TempDir(), "LAB="+name)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		if err := c.Wait(); err != nil {
			t.Errorf("worker %s: %v\n%s", name, err, said.String())
		}
	})
	for range 300 {
		list, err := queue.Workers(t.Context(), queue.Server{URL: l.url}, 100*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range list {
			if w.Machine == name {
				return
			}
		}
	}
	t.Fatalf("worker %s is not there", name)
}

// agent is the process of the agent of a worker, as soon as it has so many children.
func (l *lab) agent(t *testing.T, name string, children int) int {
	t.Helper()
	for range 600 {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range files {
			dir := filepath.Dir(file)
			arguments, _ := os.ReadFile(file) // it may have ended
			environment, _ := os.ReadFile(filepath.Join(dir, "environ"))
			if !bytes.HasSuffix(arguments, []byte(agentRole+"\x00")) ||
				!bytes.Contains(environment, []byte("LAB="+name+"\x00")) || !bytes.Contains(environment, []byte(os.TempDir())) {
				continue
			}
			pid, _ := strconv.Atoi(filepath.Base(dir))
			all, _ := filepath.Glob(filepath.Join(dir, "task/*/children"))
			n := 0
			for _, one := range all {
				text, _ := os.ReadFile(one)
				n += len(strings.Fields(string(text)))
			}
			if n >= children {
				return pid
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("no agent of %s with %d nodes", name, children)
	return 0
}

// TestRun_JoinedHosts: a run over the machines of two workers has the messages of one machine;
// what their agents are told in confidence is not to be read on the NATS server; an agent that
// is killed in the middle of a trial costs that trial, which is repeated.
func TestRun_JoinedHosts(t *testing.T) {
	slowtest.Skip(t, "starts a bus, agents and a runner")
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	l, root, file := newLab(t), t.TempDir(), write(t, "spread.yaml", spread)
	l.offer(t, "lab2", "--slots", "2")
	l.offer(t, "lab1")
	has(t, bench(t, "workers", "--join", l.url).want(t, Good).out, "host", "127.0.0.1")
	r := bench(t, "run", file, "--hosts", l.url, "--out", root).want(t, Good)
	has(t, r.errors, "hosts       lab1, lab2", "note: host lab1: 127.0.0.1, ", " cores, load ")
	dir := latest(t, root, "spread")
	has(t, contents(t, dir)[results.TrialsFile], ",lab1+lab2,mutex,")
	m, err := results.ReadManifest(dir)
	if err != nil || len(m.Hosts) != 2 || m.Hosts[1].Name != "lab2" || m.Hosts[1].Machine.OS == "" {
		t.Fatalf("%v, %+v", err, m)
	}
	bench(t, "run", file, "--out", filepath.Join(root, "here")).want(t, Good)
	here := contents(t, latest(t, filepath.Join(root, "here"), "spread"))
	if got := contents(t, dir)[results.MessagesFile]; got != here[results.MessagesFile] {
		t.Errorf("messages are\n%s\nand on one machine\n%s", got, here[results.MessagesFile])
	}
	l.mu.Lock()
	sealed := 0
	for _, data := range l.seen {
		for _, word := range []string{"PRIVATE KEY", `"hello"`, `"secret"`, `"seed"`, `"key":"LS0t`} {
			if bytes.Contains(data, []byte(word)) {
				t.Errorf("the NATS server sees %s in %.200q", word, data)
			}
		}
		if bytes.Contains(data, []byte(`"sealed":"eGt2M`)) { // xkv1
			sealed++
		}
	}
	l.mu.Unlock()
	if sealed < 2 {
		t.Errorf("%d sealed answers were seen, want one of each worker", sealed)
	}

	l.offer(t, "lab3") // comes too late for that run
	has(t, bench(t, "run", "--resume", dir, "--hosts", l.url).want(t, Good).errors, "2 of 2 trials were finished",
		"hosts       lab1, lab2\n")
	slow := write(t, "slow.yaml", strings.NewReplacer("name: spread", "name: slow", "repetitions: 2", "repetitions: 1",
		"{kind: sequential, requests: 6}", "{kind: closed, requests: 200, think: 10ms, hold: 1ms}").Replace(spread))
	over := make(chan ran, 1)
	go func() { over <- bench(t, "run", slow, "--hosts", l.url, "--out", root) }()
	pid := l.agent(t, "lab3", 2) // a bus and a node
	has(t, bench(t, "run", file, "--hosts", l.url, "--out", root).want(t, CouldNotRun).errors,
		"host lab2 is left out: it is busy with a run over several hosts", "no host is free at "+l.url)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r = <-over
	r.want(t, Good)
	journal, err := os.ReadFile(filepath.Join(latest(t, root, "slow"), results.JournalFile))
	if err != nil {
		t.Fatal(err)
	}
	has(t, string(journal), "the agent on lab3 died: SIGKILL", `"status":"invalid"`)
	has(t, contents(t, latest(t, root, "slow"))[results.TrialsFile], ",lab1+lab2+lab3,")
}

// TestRun_JoinedHostsRefused: where nobody offers a machine, or only programs that are not this
// one, the error says what to do.
func TestRun_JoinedHostsRefused(t *testing.T) {
	t.Parallel()
	l, root, file := newLab(t), t.TempDir(), write(t, "spread.yaml", spread)
	run := func(code int, args ...string) string {
		t.Helper()
		return bench(t, append([]string{"run", file, "--out", root}, args...)...).want(t, code).errors
	}
	has(t, run(CouldNotRun, "--hosts", l.url), "no host is free at "+l.url+"; start one on each machine, as: bench work "+
		"--join "+l.url+" --address ADDRESS")
	has(t, run(Usage, "--hosts", "nats://10.0.0.1:4222"), "nats:// is not encrypted; expected tls://10.0.0.1:4222")
	has(t, run(Usage, "--hosts", "nats://me:word@127.0.0.1:4222"), "log in with --nats-context or --nats-creds")
	has(t, run(Usage, "--hosts", l.url, "--set", "bus.url=tls://x:4222"), "with bus.url")
	has(t, run(Usage, "--queue", l.url, "--set", "network={real: true}"),
		"--queue with network.real: a worker has all nodes of a trial on one machine")
	nc, err := nats.Connect(l.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	say := func(name, build, address string) {
		t.Helper()
		s := queue.Status{Machine: name, Site: results.ThisSite(), Host: &queue.Host{Address: address, Slots: 1}}
		if build != "" {
			s.Site.Tool.Binary = build
		}
		text, err := json.Marshal(&s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := nc.Subscribe("conclave.worker.status", func(m *nats.Msg) { _ = m.Respond(text) }); err != nil {
			t.Fatal(err)
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	say("lab1", strings.Repeat("0", 64), "127.0.0.1")
	has(t, run(CouldNotRun, "--hosts", l.url), "host lab1 is left out: it runs another build, 000000000000, and this is ",
		"no host is free")
	say("lab2", "", "127.0.0.1")
	has(t, run(Usage, "--hosts", l.url), l.url+" as hosts.yaml:2: hosts: cell 1, ",
		"3 processes, but the hosts have slots for 1")
	has(t, run(CouldNotRun, "--hosts", l.url, "--set", "hosting.hosts=[lab2, lab4]"),
		"these hosts are required but not free: lab4")
	say("lab2", "", "127.0.0.1")
	has(t, run(Usage, "--hosts", l.url), `hosts[2].name: "lab2" is the name of hosts[1] as well`)
	has(t, bench(t, "work", "--join", l.url, "--slots", "2").want(t, Usage).errors, "add --address or --interface")
	has(t, bench(t, "work", "--join", l.url, "--address", "a", "--ports", "7000-7002").want(t, Usage).errors,
		"--ports 7000-7002 has 3 of the 4 ports that a host listens on; expected 7000-7003")
	has(t, bench(t, "work", "--join", l.url, "--ports", "7000-7003").want(t, Usage).errors,
		"--ports, --slots and --region are of a host; add --address or --interface")
	has(t, bench(t, "work", "--join", l.url, "--address", "a", "--interface", "b").want(t, Usage).errors,
		"leave one of them out")
}
