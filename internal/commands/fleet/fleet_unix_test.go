//go:build unix

package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/runs/queue"
)

// A lab is hosts that are folders of this machine, a wrapper that runs shells in them in place of ssh, and a hub
// that programs join by a file.
type lab struct {
	t      *testing.T
	root   string
	config Config

	mu    sync.Mutex
	said  []string
	ended int
}

// ssh joins the words and gives them to a shell, as the real one does, behind what a login prints. A host
// is off where there is a file off-HOST, and is a Plan 9 machine or a full one by its name.
const ssh = `#!/bin/sh
cd '%[1]s' || exit 255
host=${1#*@}
shift
if [ -e "off-$host" ]; then
	echo "ssh: connect to host $host port 22: No route to host" >&2
	exit 255
fi
echo "$host" >>touched
mkdir -p "$host" bin
cd "$host"
echo "Welcome to $host"
export TMPDIR="$PWD" LAB='%[1]s'
case $host in
plan9) uname() { echo "Plan9 mips"; } ;;
esac
[ ! -d "$LAB/bin-$host" ] || PATH="$LAB/bin-$host:$PATH"
exec sh -c "$*"
`

// worker joins until it is ended, or the lab is gone. One on a host called deaf does not end, one on mute does not join, and one on
// ill ends at once.
const worker = `#!/bin/sh
echo "$(cat) $@" >>"$LAB/arguments"
name=$(basename "$TMPDIR")
case $name in
*-ill) echo "the token has expired"; exit 1 ;;
*-deaf) trap '' TERM ;;
*) trap 'rm -f "$LAB/hub/joined/$name"; exit' TERM ;;
esac
case $name in
*-mute) ;;
*) echo "joined"; touch "$LAB/hub/joined/$name" ;;
esac
while [ -d "$LAB" ]; do sleep 0.05; done
`

func newLab(t *testing.T) *lab {
	l := &lab{t: t, root: t.TempDir()}
	l.put("ssh", fmt.Sprintf(ssh, l.root))
	l.put("worker", worker)
	must(t, os.MkdirAll(filepath.Join(l.root, "hub", "joined"), 0o755))
	l.config = Config{Folder: filepath.Join(l.root, "fleet"), SSH: filepath.Join(l.root, "ssh"), Wait: time.Minute,
		Open: func(string) Hub { return l }, Program: func(platform string) (string, error) {
			if platform == "linux/arm64" && runtime.GOARCH != "arm64" {
				return "", errors.New("there is no program for linux/arm64; build one into --programs")
			}
			return filepath.Join(l.root, "worker"), nil
		},
		Say: func(text string) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.said = append(l.said, text)
		}}
	return l
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (l *lab) put(name, text string) {
	l.t.Helper()
	path := filepath.Join(l.root, name)
	must(l.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(l.t, os.WriteFile(path, []byte(text), 0o755))
}

func (l *lab) Ensure(context.Context) error { return nil }
func (l *lab) End(context.Context) error    { l.ended++; return nil }

func (l *lab) Invite(context.Context, int) (string, string, error) {
	return "hub:7000", "hub:7000#TOKEN", nil
}

func (l *lab) Workers(context.Context, time.Duration) (there []queue.Status, err error) {
	all, err := os.ReadDir(filepath.Join(l.root, "hub", "joined"))
	for _, one := range all {
		there = append(there, queue.Status{Machine: one.Name()[strings.LastIndexByte(one.Name(), '-')+1:]})
	}
	return there, err
}

func (l *lab) up(hosts string) (*answer.Document, error) {
	l.t.Helper()
	list, err := Read("hosts.txt", strings.NewReader(hosts))
	must(l.t, err)
	return Up(context.Background(), &l.config, list)
}

func (l *lab) down() (*answer.Document, error) {
	return Down(context.Background(), l.config.Folder, l.config.Open)
}

// text is the document as a program reads it.
func inCSV(t *testing.T, d *answer.Document) string {
	t.Helper()
	b, err := d.In("csv")
	must(t, err)
	return string(b)
}

// wantNothing is that nothing of the fleet is there, on hosts or in its folder.
func (l *lab) wantNothing() {
	l.t.Helper()
	for _, pattern := range []string{"*/bench-fleet-*", "fleet"} {
		if left, _ := filepath.Glob(filepath.Join(l.root, pattern)); len(left) > 0 {
			l.t.Errorf("left: %v", left)
		}
	}
	out, _ := exec.Command("ps", "-A", "-o", "args").Output()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, l.root+"/") && strings.Contains(line, "bench-fleet-") {
			l.t.Errorf("a process is left: %s", line)
		}
	}
}

func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in %s", part, text)
		}
	}
}

// TestUp_Down: each host has a worker with what its line says, whose program is what was sent; what a
// host had already stays; and nothing is left after the end.
func TestUp_Down(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.put("worker", worker+"# "+strings.Repeat("\x00\n'\"", 300_000)) // larger than a pipe, and no text
	d, err := l.up("me@a address=10.0.0.1 cores=3\nb # the second\n\nc name=third price=2")
	must(t, err)
	if d.Exit != 0 {
		t.Errorf("exit code %d: %s", d.Exit, inCSV(t, d))
	}
	sent, err := filepath.Glob(filepath.Join(l.root, "a", "bench-fleet-*", "bench"))
	must(t, err)
	want, _ := os.ReadFile(filepath.Join(l.root, "worker"))
	if got, err := os.ReadFile(strings.Join(sent, "")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v: the program there has %d bytes, want %d", err, len(got), len(want))
	}
	arguments, err := os.ReadFile(filepath.Join(l.root, "arguments"))
	must(t, err)
	has(t, string(arguments), "hub:7000#TOKEN join - --machine a --address 10.0.0.1 --cores 3\n", "--machine b\n",
		"--machine third\n")
	s, err := load(l.config.Folder)
	must(t, err)
	if m := s.machine("third"); m == nil || m.Target != "c" || m.Price != 2 || m.Since.IsZero() ||
		m.Platform != runtime.GOOS+"/"+runtime.GOARCH {
		t.Errorf("%+v", m)
	}

	must(t, os.Remove(filepath.Join(l.root, "touched")))
	d, err = l.up("me@a\nd")
	must(t, err)
	if touched, err := os.ReadFile(filepath.Join(l.root, "touched")); err != nil || string(touched) != "d\n" {
		t.Errorf("%v: touched: %q, want d alone", err, touched)
	}
	has(t, inCSV(t, d), "d,d,there")
	d, err = Logs(context.Background(), l.config.Folder, "d")
	must(t, err)
	has(t, inCSV(t, d), "d,1,joined")

	d, err = l.down()
	must(t, err)
	if d.Exit != 0 || l.ended != 1 || strings.Count(inCSV(t, d), ",clean,") != 4 {
		t.Errorf("exit code %d, the hub has ended %d times: %s", d.Exit, l.ended, inCSV(t, d))
	}
	l.wantNothing()
	if _, err = l.down(); answer.ExitOf(err) != answer.Usage || !strings.Contains(err.Error(), "there is no fleet in") {
		t.Errorf("once more: %v", err)
	}
}

// TestUp_Failing: a host that fails is named with what to do, nothing is left on it, and the others go on.
func TestUp_Failing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.put("off-gone", "")
	l.put("bin-plan9/uname", "#!/bin/sh\necho Plan9 mips\n")
	l.put("bin-arm/uname", "#!/bin/sh\necho Linux "+map[bool]string{true: "mips", false: "aarch64"}[runtime.GOARCH == "arm64"]+"\n")
	l.put("bin-small/df", "#!/bin/sh\necho head; echo '/dev/my disk 100 98 2 98% /tmp'\n")
	l.put("bin-full/gzip", "#!/bin/sh\nhead -c 10 >/dev/null; echo 'gzip: stdout: No space left on device' >&2; exit 1\n")
	d, err := l.up("a\ngone\nplan9\narm\nsmall\nfull\nill")
	must(t, err)
	if d.Exit != answer.Usage {
		t.Errorf("exit code %d, want %d", d.Exit, answer.Usage)
	}
	has(t, inCSV(t, d), "a,a,there", "gone,gone,failed", "cannot be reached: ssh: connect to host gone port 22",
		"it is \"\"Plan9 mips\"\"", "0 MiB are free there", "no space is left there: gzip",
		"its worker has ended: the token has expired")
	if runtime.GOARCH != "arm64" {
		has(t, inCSV(t, d), "there is no program for linux/arm64")
	}
	s, err := load(l.config.Folder)
	must(t, err)
	if len(s.Machines) != 1 || l.ended > 0 {
		t.Errorf("machines %v, the hub has ended %d times", s.Machines, l.ended)
	}
	for _, host := range []string{"gone", "plan9", "arm", "small", "full", "ill"} {
		if left, _ := filepath.Glob(filepath.Join(l.root, host, "bench-fleet-*")); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
	if _, err = l.down(); err != nil {
		t.Fatal(err)
	}
	l.wantNothing()
}

// TestUp_None: where no host has a worker in time, nothing is left, neither here nor there.
func TestUp_None(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.put("off-gone", "")
	l.config.Wait = 2 * time.Second
	d, err := l.up("mute\ngone")
	must(t, err)
	if d.Exit != answer.Usage || l.ended != 1 {
		t.Errorf("exit code %d, the hub has ended %d times", d.Exit, l.ended)
	}
	has(t, inCSV(t, d), "mute,mute,failed", "not there within 2s")
	l.wantNothing()
}

// TestDown_Unreachable: a machine that cannot be reached stays in the fleet until it is clean.
func TestDown_Unreachable(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	_, err := l.up("a\nb")
	must(t, err)
	l.put("off-b", "")
	d, err := l.down()
	must(t, err)
	if d.Exit != answer.CouldNotRun || l.ended != 1 {
		t.Errorf("exit code %d, the hub has ended %d times", d.Exit, l.ended)
	}
	has(t, inCSV(t, d), "a,a,clean", "b,b,left,ssh: connect to host b port 22")
	must(t, os.Remove(filepath.Join(l.root, "off-b")))
	d, err = l.down()
	must(t, err)
	if d.Exit != 0 {
		t.Errorf("%s", inCSV(t, d))
	}
	l.wantNothing()
}

// TestDown_AfterKill: what an up that was killed has left is found, whatever it had done.
func TestDown_AfterKill(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	_, err := l.up("a\nb")
	must(t, err)
	s, err := load(l.config.Folder)
	must(t, err)
	for _, m := range s.Machines {
		m.Since = time.Time{} // not known to be there
	}
	s.Machines = append(s.Machines, &Machine{Host: Host{Target: "c", Name: "c"}, Platform: "linux/amd64"},
		&Machine{Host: Host{Target: "d", Name: "d"}})
	l.put("c/bench-fleet-"+s.ID+"-c/bench", "half of a program")
	must(t, s.save())
	d, err := l.down()
	must(t, err)
	if d.Exit != 0 || strings.Count(inCSV(t, d), ",clean,") != 4 {
		t.Errorf("%s", inCSV(t, d))
	}
	l.wantNothing()
}

// TestDown_Deaf: a worker that does not end by itself is killed; a number that another process has by now is not.
func TestDown_Deaf(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	_, err := l.up("deaf\na")
	must(t, err)
	pids, err := filepath.Glob(filepath.Join(l.root, "a", "bench-fleet-*", "pid"))
	must(t, err)
	strange := exec.Command("sleep", "1000")
	must(t, strange.Start())
	defer func() { _, _ = strange.Process.Kill(), strange.Wait() }() // it was killed, if all is well
	worker, err := os.ReadFile(pids[0])
	must(t, err)
	must(t, os.WriteFile(pids[0], []byte(fmt.Sprint(strange.Process.Pid)), 0o600))
	must(t, exec.Command("kill", strings.TrimSpace(string(worker))).Run())
	d, err := l.down()
	must(t, err)
	if d.Exit != 0 {
		t.Errorf("%s", inCSV(t, d))
	}
	if err := strange.Process.Kill(); err != nil {
		t.Errorf("the strange process: %v", err)
	}
	l.wantNothing()
}

// TestRead: what is wrong with a list is one sentence, with its line.
func TestRead(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"":                          "hosts.txt: no hosts; expected one a line",
		" # none\n":                 "no hosts",
		"a\nb\na\n":                 "line 3: host a is on line 1 already",
		"me@a\nyou@a\n":             "line 2: the host on line 1 is called a, too; give one of them another name, as name=a-2",
		"a\nb name=a\n":             "line 2: the host on line 1 is called a, too",
		"-oProxyCommand=x\n":        "line 1: \"-oProxyCommand=x\" is no host",
		"a cores=0\n":               "line 1: cores=0: expected 1 or more",
		"a price=-1\n":              "price=-1: expected a price per hour",
		"a price=NaN\n":             "price=NaN: expected a price per hour",
		"a address=$(x)\n":          "expected an address or a host name",
		"a b\n":                     "\"b\", expected address=A, cores=N, name=N or price=P",
		"fe80::1\n":                 "\"fe80::1\" cannot be the name of a machine",
		strings.Repeat("a", 2<<20):  "larger than 1 MiB",
		"a name=../../etc\n":        "cannot be the name of a machine",
		"address=10.0.0.1 name=a\n": "expected [user@]host first",
	} {
		_, err := Read("hosts.txt", strings.NewReader(list))
		if answer.ExitOf(err) != answer.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", list, err, want)
		}
	}
	list, err := Read("-", strings.NewReader("fe80::1 name=a\nme@b.lab"))
	if err != nil || len(list) != 2 || list[1] != (Host{Target: "me@b.lab", Name: "b.lab"}) {
		t.Errorf("%v: %+v", err, list)
	}
}

// TestHeld: two commands do not change a fleet at once.
func TestHeld(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	must(t, os.MkdirAll(l.config.Folder, 0o755))
	lock, err := held(l.config.Folder)
	must(t, err)
	if _, err = l.up("a"); err == nil || !strings.Contains(err.Error(), "another bench fleet") {
		t.Errorf("%v", err)
	}
	must(t, lock.Close())
	if _, err := os.Stat(filepath.Join(l.root, "touched")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a host was touched: %v", err)
	}
}

// TestStatus: what each machine does, and what it costs; one that does not answer is named.
func TestStatus(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	_, err := l.up("a price=0.5\nb price=1.5")
	must(t, err)
	must(t, exec.Command("rm", "-r", filepath.Join(l.root, "hub", "joined")).Run())
	l.put("hub/joined/x-a", "")
	l.put("hub/joined/x-stranger", "")
	s, err := load(l.config.Folder)
	must(t, err)
	s.machine("a").Since = time.Now().Add(-2 * time.Hour)
	s.machine("b").Since = time.Now().Add(-time.Hour)
	must(t, s.save())
	d, err := Status(context.Background(), l.config.Folder, l.root, l.config.Open)
	must(t, err)
	has(t, inCSV(t, d), "a,waits", "b,silent", "stranger,waits")
	b, err := d.In("json")
	must(t, err)
	has(t, string(b), `"cost_per_hour": 2,`, `"cost": 2.5`, `"hub": "hub:7000"`)
	_, err = l.down()
	must(t, err)
	l.wantNothing()
}
