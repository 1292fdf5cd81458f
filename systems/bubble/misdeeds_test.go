package bubble_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/systems/bubble"
)

// A villain is a library that elects its first process, and does one bad thing at 50 ms.
type villain struct {
	*bubble.Process
	does func(*villain)
	stop chan struct{}
}

// Hello is the only kind of its messages.
type Hello struct{}

func (Hello) Kind() string { return "HELLO" }

var outside = make(chan int) // made outside of every bubble

// misdeeds are what villains do, and what the trial then says.
var misdeeds = map[string]struct {
	does  func(*villain)
	wants []string
}{
	"test-waits-outside": {func(*villain) { <-outside }, []string{"time stands still", "chan receive", "villain).Start"}},
	"test-sleeps-in-c":   {func(*villain) { sleepOutside() }, []string{"time stands still", "sleepOutside"}},
	"test-listens":       {func(*villain) { listen() }, []string{"time stands still", "listen"}},
	"test-computes":      {func(*villain) { spin() }, []string{"time stands still", "spin"}},
	"test-panics":        {func(*villain) { panic("a bad day") }, []string{"panic: a bad day"}},
	"test-exits":         {func(*villain) { os.Exit(3) }, []string{"ended its whole process: exit code 3"}},
	"test-leaks":         {func(*villain) { go leak() }, []string{"leaves goroutines behind", "leak"}},
	"test-ticks-on":      {func(*villain) { go tick() }, []string{"leaves goroutines behind", "tick"}},
	"test-never-stops":   {func(v *villain) { v.stop = nil }, []string{"Stop of election/test-never-stops does not return"}},
}

//go:noinline
func sleepOutside() {
	ts := syscall.NsecToTimespec(int64(time.Minute))
	_ = syscall.Nanosleep(&ts, nil)
}

//go:noinline
func listen() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		_, _ = l.Accept()
	}
}

//go:noinline
func spin() {
	for { //nolint // that is the misdeed
	}
}

//go:noinline
func leak() { <-make(chan int) }

//go:noinline
func tick() {
	for {
		time.Sleep(time.Second)
	}
}

func init() {
	for name, m := range misdeeds {
		bubble.Register(algo.Spec{Name: name, Summary: "misbehaves",
			Paper:    algo.Paper{Authors: "nobody", Title: "none", Year: 2026},
			Messages: []algo.Message{Hello{}}, Perpetual: true,
			Promises: algo.Promises{Announced: true}, Breaks: "It misbehaves.",
		}, "none", func(p *bubble.Process) bubble.Subject {
			return &villain{Process: p, does: m.does, stop: make(chan struct{})}
		})
	}
}

func (v *villain) Start() error {
	go func() {
		select {
		case <-v.Done():
		case <-time.After(50 * time.Millisecond):
			if v.ID == 2 {
				v.does(v)
			}
			v.Names(1, 1)
		}
	}()
	return nil
}

func (v *villain) Stop() {
	if v.stop == nil {
		<-v.stop
	}
}

// TestMisdeeds: whatever a library does, its trial ends with status error, exit code 1, and one sentence that
// names the library and what it does.
func TestMisdeeds(t *testing.T) {
	for name, m := range misdeeds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "x.yaml")
			text := fmt.Sprintf("algorithms: [election/%s]\ntransport: bubble\nnodes: 3\nrepetitions: 1\n"+
				"scenario: {kind: cold-start}\n", name)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			cmd := exec.Command(os.Args[0], "run", file, "--out", dir, "--progress", "none")
			cmd.Env = append(os.Environ(), "COLUMNS=1000")
			out, err := cmd.CombinedOutput()
			said := strings.Join(strings.Fields(string(out)), " ")
			if cmd.ProcessState.ExitCode() != 1 {
				t.Errorf("exit code %d, %v: %s", cmd.ProcessState.ExitCode(), err, said)
			}
			if strings.Contains(said, "what came before") {
				t.Errorf("nothing can be replayed: %s", said)
			}
			for _, want := range append(m.wants, name) {
				if !strings.Contains(said, want) {
					t.Errorf("%q is missing after %v in: %s", want, time.Since(begun), said)
				}
			}
		})
	}
}
