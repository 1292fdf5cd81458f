package guard

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A process does in an event what the test says.
type process struct{ do func() }

func (p *process) Receive(algo.Env, algo.ID, algo.Message) {}
func (p *process) Elect(algo.Env)                          { p.do() }

type note struct{}

func (note) Kind() string { return "NOTE" }

var do func()

func init() {
	algo.RegisterElector(algo.Spec{
		Name: "test-guarded", Summary: "for tests: does what the test says", Messages: []algo.Message{note{}},
		Paper: algo.Paper{Authors: "A. Author", Title: "On nothing", Venue: "Proc. Nowhere", Year: 1999},
	}, func(algo.Config) algo.Elector { return &process{do} })
}

// watched lets process 3 handle an event in a goroutine of its own, and returns what
// the guard says about it.
func watched(t *testing.T, deed func()) <-chan error {
	t.Helper()
	do = deed
	a, err := algo.Lookup("election/test-guarded")
	if err != nil {
		t.Fatal(err)
	}
	var buf algo.Buffer
	raised := make(chan error, 1)
	w := Watch(&buf, func(err error) { raised <- err })
	s := algo.NewStepper(a, algo.Config{ID: 3, Peers: []algo.ID{1, 2, 3}}, 1, &buf)
	go func() {
		defer w.Release()
		s.Step(0, algo.Event{Type: algo.Elect})
	}()
	return raised
}

func said(t *testing.T, raised <-chan error, want string) {
	t.Helper()
	select {
	case err := <-raised:
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	case <-time.After(30 * time.Second):
		t.Errorf("the guard says nothing, want %q", want)
	}
}

// What does not return is named, and said once; what returns is not.
func TestWatch(t *testing.T) {
	SetPatience(300 * time.Millisecond)
	defer SetPatience(0)
	for name, deed := range map[string]func(chan int){
		"waits": func(end chan int) { <-end },
		"works": func(end chan int) {
			for len(end) == 0 {
			}
		},
	} {
		end := make(chan int, 1)
		raised := watched(t, func() { deed(end) })
		said(t, raised, "process 3: Elect: it does not return")
		time.Sleep(3 * tick)
		end <- 1
		if len(raised) > 0 {
			t.Errorf("%s: it is said twice: %v", name, <-raised)
		}
	}
	raised := watched(t, func() { time.Sleep(tick) })
	time.Sleep(6 * tick)
	if len(raised) > 0 {
		t.Errorf("it has returned: %v", <-raised)
	}
}

// An event is not blamed for those before it, however many they are.
func TestWatch_Beats(t *testing.T) {
	var buf algo.Buffer
	w := &Ward{buf: &buf}
	w.patient.Store(3)
	do = func() {
		if w.hangs() {
			t.Error("it hangs, at its first look")
		}
	}
	a, err := algo.Lookup("election/test-guarded")
	if err != nil {
		t.Fatal(err)
	}
	s := algo.NewStepper(a, algo.Config{ID: 3, Peers: []algo.ID{1, 2, 3}}, 1, &buf)
	for range 10 {
		s.Step(0, algo.Event{Type: algo.Elect})
	}
}

func TestLimitMemory(t *testing.T) {
	defer LimitMemory(0)
	LimitMemory(memory() + 64<<20)
	end := make(chan int)
	raised := watched(t, func() {
		hoard := make([]byte, 128<<20)
		<-end
		runtime.KeepAlive(hoard)
	})
	said(t, raised, "process 3: the trial takes more than ")
	close(end)
}

// Where the memory is known, many processes have as much of it as one.
func TestShare(t *testing.T) {
	if one, four := Share(1), Share(4); four > one/4 || runtime.GOOS == "linux" && four == 0 {
		t.Errorf("%d bytes for one of four, %d for one alone", four, one)
	}
}

// An event of a trial that takes much memory is named while it goes on. What is there already is not its own.
func TestWatchTrial_Memory(t *testing.T) {
	before := make([]byte, 2*mostPerEvent)
	for name, size := range map[string]int{"much": 2 * mostPerEvent, "little": mostPerEvent / 8} {
		end, hoard := make(chan int), []byte(nil)
		var buf algo.Buffer
		a, err := algo.Lookup("election/test-guarded")
		if err != nil {
			t.Fatal(err)
		}
		raised := make(chan error, 1)
		var w *Ward
		do = func() {
			for beat := buf.Beat(); ; time.Sleep(time.Millisecond) { // until it was seen at this event
				guard.mu.Lock()
				seen := w.seen
				guard.mu.Unlock()
				if seen == beat {
					break
				}
			}
			hoard = make([]byte, size)
			<-end
		}
		s := algo.NewStepper(a, algo.Config{ID: 3, Peers: []algo.ID{1, 2, 3}}, 1, &buf)
		w = WatchTrial(&buf, name, func(err error) { raised <- err })
		done := make(chan bool)
		go func() { s.Step(0, algo.Event{Type: algo.Elect}); close(done) }()
		if name == "much" {
			said(t, raised, "process 3: it takes more than 256 MiB of memory for one event")
		} else {
			time.Sleep(3 * tick)
			if len(raised) > 0 {
				t.Errorf("%s: %v", name, <-raised)
			}
		}
		close(end)
		<-done
		w.Release()
		runtime.KeepAlive(hoard)
	}
	runtime.KeepAlive(before)
}
