package host_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// Algorithms that solve nothing, to see what surrounds them at work.

// Numbered is message K of a process.
type Numbered struct{ K uint32 }

// Kind is NUMBERED.
func (Numbered) Kind() string { return "NUMBERED" }

// Bulk is a message of any size.
type Bulk struct{ Bytes []byte }

// Kind is BULK.
func (Bulk) Kind() string { return "BULK" }

// Counted is what a saver saves.
type Counted struct{ N uint64 }

// Kind is COUNTED.
func (Counted) Kind() string { return "COUNTED" }

func init() {
	paper := algo.Paper{Authors: "test", Title: "test", Year: 2026}
	number := func(name string, value int64) algo.Param {
		return algo.Param{Name: name, Type: algo.Int, Default: algo.Const(value), Doc: name}
	}
	span := func(name string, value time.Duration) algo.Param {
		return algo.Param{Name: name, Type: algo.Duration, Default: algo.Const(value), Doc: name}
	}
	algo.RegisterElector(algo.Spec{
		Name: "test-numbered", Summary: "sends numbered messages to all, at once", Paper: paper,
		Messages: []algo.Message{Numbered{}}, Params: []algo.Param{number("messages", 50)},
	}, func(c algo.Config) algo.Elector { return &numbered{Config: c} })
	algo.RegisterElector(algo.Spec{
		Name: "test-chatter", Summary: "sends to all in rounds", Paper: paper,
		Messages: []algo.Message{Numbered{}},
		Params:   []algo.Param{number("rounds", 40), span("pause", 3*time.Millisecond)},
	}, func(c algo.Config) algo.Elector { return &chatter{Config: c} })
	algo.RegisterElector(algo.Spec{
		Name: "test-murmur", Summary: "sends to one other at random instants", Paper: paper,
		Messages: []algo.Message{Numbered{}},
		Params:   []algo.Param{number("messages", 100), span("pause", 10*time.Millisecond)},
	}, func(c algo.Config) algo.Elector { return &murmur{Config: c} })
	algo.RegisterElector(algo.Spec{
		Name: "test-chain", Summary: "one message goes round, each hop after a timer", Paper: paper,
		Messages: []algo.Message{Numbered{}},
		Params:   []algo.Param{number("hops", 12), span("pause", 10*time.Millisecond), span("work", 0)},
	}, func(c algo.Config) algo.Elector { return &chain{Config: c} })
	algo.RegisterElector(algo.Spec{
		Name: "test-saver", Summary: "counts and saves the count", Paper: paper,
		Messages: []algo.Message{Numbered{}, Counted{}},
		Params:   []algo.Param{number("ticks", 30), span("pause", 5*time.Millisecond)},
	}, func(c algo.Config) algo.Elector { return &saver{Config: c} })
	algo.RegisterElector(algo.Spec{
		Name: "test-witness", Summary: "tells all that a former trial could have left to it", Paper: paper,
		Messages: []algo.Message{Numbered{}, Counted{}},
	}, func(c algo.Config) algo.Elector { return &witness{Config: c} })
	algo.RegisterMutex(algo.Spec{
		Name: "test-loser", Summary: "loses its token with the first request", Paper: paper,
		Messages: []algo.Message{Numbered{}},
	}, func(c algo.Config) algo.Mutex { return &loser{Config: c} })
	algo.RegisterElector(algo.Spec{
		Name: "test-culprit", Summary: "does one bad thing", Paper: paper,
		Messages: []algo.Message{Numbered{}, Bulk{}},
		Params: []algo.Param{
			{Name: "deed", Type: algo.Enum, Choices: deeds, Default: algo.Const("none"), Doc: "what"},
			number("victim", 2), span("after", 20*time.Millisecond), span("linger", time.Millisecond),
		},
	}, func(c algo.Config) algo.Elector { return &culprit{Config: c} })
}

type numbered struct{ algo.Config }

func (n *numbered) Elect(env algo.Env) {
	for _, p := range n.Peers {
		for k := range n.Params.Int("messages") {
			if p != n.ID {
				env.Send(p, Numbered{uint32(k)})
			}
		}
	}
}

func (n *numbered) Receive(algo.Env, algo.ID, algo.Message) {}

type chatter struct {
	algo.Config
	round int
}

// Start sees to it that they do not all send at the same instant.
func (c *chatter) Start(env algo.Env) {
	pause := c.Params.Duration("pause")
	env.SetTimer("round", pause+pause*time.Duration(c.ID)/time.Duration(len(c.Peers)))
}

func (c *chatter) Elect(algo.Env) {}

func (c *chatter) Receive(algo.Env, algo.ID, algo.Message) {}

func (c *chatter) Timeout(env algo.Env, t algo.Timer) {
	for _, p := range c.Peers {
		if p != c.ID {
			env.Send(p, Numbered{uint32(c.round)})
		}
	}
	if c.round++; int64(c.round) < c.Params.Int("rounds") {
		env.SetTimer(t, c.Params.Duration("pause"))
	}
}

type murmur struct {
	algo.Config
	sent int64
}

func (m *murmur) Start(env algo.Env) { m.pause(env) }

func (m *murmur) pause(env algo.Env) {
	env.SetTimer("next", time.Duration(env.Rand().ExpFloat64()*float64(m.Params.Duration("pause"))))
}

func (m *murmur) Elect(algo.Env) {}

func (m *murmur) Receive(algo.Env, algo.ID, algo.Message) {}

func (m *murmur) Timeout(env algo.Env, _ algo.Timer) {
	n := algo.ID(len(m.Peers))
	env.Send((m.ID+algo.ID(env.Rand().IntN(int(n)-1)))%n+1, Numbered{})
	if m.sent++; m.sent < m.Params.Int("messages") {
		m.pause(env)
	}
}

// chain: process 1 begins. Whoever has the message waits, then passes it on.
type chain struct {
	algo.Config
	hop uint32
}

func (c *chain) Elect(env algo.Env) {
	if c.ID == 1 {
		env.SetTimer("hop", c.Params.Duration("pause"))
	}
}

func (c *chain) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	c.hop = m.(Numbered).K
	env.SetTimer("hop", c.Params.Duration("pause"))
}

func (c *chain) Timeout(env algo.Env, _ algo.Timer) {
	compute(c.Params.Duration("work"))
	if int64(c.hop) < c.Params.Int("hops") {
		env.Send(c.ID%algo.ID(len(c.Peers))+1, Numbered{c.hop + 1})
	}
}

// compute takes so much of a processor, however long that lasts.
func compute(d time.Duration) {
	if d == 0 {
		return
	}
	for from := proc.ReadUsage().CPU; proc.ReadUsage().CPU-from < d; {
	}
}

// saver: process 2 counts, saves the count in its first life, and tells process
// 1 which process of the system it is; 1 notes when that one is gone.
type saver struct {
	algo.Config
	ticks uint64
	pid   uint32
}

// lives is how many savers this process of the system has been.
var lives int

func (s *saver) Start(env algo.Env) {
	lives++
	env.SetTimer("tick", s.Params.Duration("pause"))
	if s.ID != 2 {
		return
	}
	if saved, ok := s.Saved.(Counted); ok {
		s.ticks = saved.N
	}
	env.Logf("life %d, incarnation %d, saved %d", lives, s.Incarnation, s.ticks)
	env.Send(1, Numbered{uint32(os.Getpid())})
}

func (s *saver) Elect(algo.Env) {}

func (s *saver) Receive(_ algo.Env, _ algo.ID, m algo.Message) { s.pid = m.(Numbered).K }

func (s *saver) Timeout(env algo.Env, t algo.Timer) {
	s.ticks++
	if s.ID == 2 && s.Incarnation == 0 {
		env.Save(Counted{s.ticks})
	}
	if s.ID == 1 && s.pid != 0 && !running(int(s.pid)) {
		env.Logf("process %d is gone", s.pid)
		s.pid = 0
	}
	if int64(s.ticks) < s.Params.Int("ticks") {
		env.SetTimer(t, s.Params.Duration("pause"))
	}
}

// running says whether a process exists and is not merely unburied.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')'):]), " ")
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}

// witness sends to all and sets timers, until long after the end of its trial, and saves.
type witness struct {
	algo.Config
	rings int
	heap  uint64
}

func (w *witness) Start(env algo.Env) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	w.heap = m.HeapAlloc
	env.Logf("process %d", os.Getpid())
	env.Logf("incarnation %d, saved %v, draws %d", w.Incarnation, w.Saved, env.Rand().Uint64())
	env.SetTimer("again", ms(15))
}

func (w *witness) Elect(algo.Env) {}

func (w *witness) Receive(env algo.Env, from algo.ID, m algo.Message) {
	env.Logf("%v of %d", m, from)
}

func (w *witness) Timeout(env algo.Env, t algo.Timer) {
	w.rings++
	env.Logf("rings %d", w.rings)
	env.Save(Counted{uint64(w.rings)})
	for _, p := range w.Peers {
		if p != w.ID {
			env.Send(p, Numbered{uint32(w.rings)})
		}
	}
	if w.rings < 3 {
		env.SetTimer(t, ms(15))
		return
	}
	files, _ := os.ReadDir("/proc/self/fd") // what takes a moment to end has ended
	env.Logf("%d goroutines, %d files, %v", runtime.NumGoroutine(), len(files), env.Now().Round(time.Second))
	env.Logf("%d bytes", w.heap)
	env.SetTimer(t, ms(200))
}

type loser struct{ algo.Config }

func (l *loser) Request(env algo.Env) { env.Send(l.ID%algo.ID(len(l.Peers))+1, Numbered{}) }

func (l *loser) Release(algo.Env) {}

func (l *loser) Receive(algo.Env, algo.ID, algo.Message) {}

// deeds is what a culprit can do.
var deeds = []string{
	"none", "panic", "invariant", "flood", "kill", "print", "block", "overflow", "records", "bulk", "huge",
	"leave", "crash", "forge", "hoard",
	"spill", "spin", "open", "take",
}

var taken [][]byte

type culprit struct {
	algo.Config
	guilty bool
	hoard  []byte
}

func (c *culprit) Start(env algo.Env) {
	env.SetTimer("deed", c.Params.Duration("after"))
	env.SetTimer("linger", c.Params.Duration("linger"))
}

func (c *culprit) Elect(algo.Env) {}

func (c *culprit) Receive(algo.Env, algo.ID, algo.Message) {}

func (c *culprit) Timeout(env algo.Env, t algo.Timer) {
	if t != "deed" || int64(c.ID) != c.Params.Int("victim") {
		return
	}
	tellTest()
	next := c.ID%algo.ID(len(c.Peers)) + 1
	switch c.Params.Enum("deed") {
	case "panic":
		panic("the plugin has lost its head")
	case "invariant":
		c.guilty = true
	case "flood":
		for k := range 100_000 {
			env.Send(next, Numbered{uint32(k)})
		}
	case "bulk": // more than the bus keeps for one that does not read
		awaitTest()
		for range 800 {
			env.Send(next, Bulk{make([]byte, 32<<10)})
		}
	case "huge":
		env.Send(next, Bulk{make([]byte, 1<<20)})
	case "leave":
		os.Exit(0)
	case "crash":
		crashSelf()
	case "hoard":
		limitMemory()
		c.hoard = make([]byte, 8<<30)
	case "spill":
		line := strings.Repeat("x", 1<<16)
		for range 1024 {
			fmt.Fprintln(os.Stderr, line)
		}
	case "spin":
		for range 100 {
			go func() {
				for i := 0; ; i++ {
				}
			}()
		}
	case "open":
		for range 1000 {
			_, _ = syscall.Open(os.DevNull, 0, 0) // until there is no number left
		}
		compute(2 * time.Millisecond)
	case "take":
		for range 256 {
			b := make([]byte, 16<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			taken = append(taken, b)
		}
	case "forge":
		fmt.Println(`{"record":{"Type":1,"Process":4000000000}}`)
	case "kill":
		killSelf()
		select {}
	case "print":
		fmt.Println("token sent")
	case "block":
		select {}
	case "overflow":
		debug.SetMaxStack(4 << 20) // else it takes a gigabyte
		c.guilty = overflow(0) > 0
	case "records":
		for k := range 5000 {
			env.Logf("record %d", k)
		}
	}
}

func (c *culprit) Invariant() error {
	if c.guilty {
		return errors.New("the culprit is guilty")
	}
	return nil
}

func overflow(n int) int {
	if n < 0 {
		return 0
	}
	return overflow(n+1) + n
}

// awaitTest waits until the test has made a file that says to go on.
func awaitTest() {
	for {
		if _, err := os.Stat(filepath.Join(os.Getenv(startedKey), "go")); err == nil {
			return
		}
		time.Sleep(time.Millisecond) // the test has a deadline
	}
}

// tellTest tells the test, by a file, that the trial is under way, and where the
// telemetry of this node is.
func tellTest() {
	dir := os.Getenv(startedKey)
	if dir == "" {
		return
	}
	maps, _ := os.ReadFile("/proc/self/maps")
	telemetry := ""
	for _, line := range strings.Split(string(maps), "\n") {
		if i := strings.Index(line, "/"); i >= 0 && strings.Contains(line, "/conclave-") {
			telemetry = line[i:]
		}
	}
	name := filepath.Join(dir, "started")
	_ = os.WriteFile(name+"~", []byte(telemetry), 0o600)
	_ = os.Rename(name+"~", name)
}
