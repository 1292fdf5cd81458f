package guest_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/judgement/trial"
	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/internal/worlds/guest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Code of WebAssembly that does a bad thing.
const (
	traps = "\x00"
	loops = "\x03\x40\x0c\x00\x0b"
	// grows asks for a megabyte until there is no more, and traps.
	grows = "\x03\x40\x41\x10\x40\x00\x41\x7f\x46\x04\x40\x00\x0b\x0c\x00\x0b"
)

// never is a call that does not come.
const never = 99

// A wasm is a module that gives the same answers whatever it is asked.
type wasm struct {
	imports  string // "module.function": a function that it imports
	exports  []string
	room     string // the code of conclave_room; "": it has room at 64 KiB
	answers  []string
	deed     string // code that runs first
	at       int    // in this call
	start    string // code that runs at the start
	far      int    // this answer has an address beyond the memory
	pages    int    // of memory; 0: 4
	noMemory bool
}

func uleb(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }

// number is i32.const.
func number(n int) string {
	var b []byte
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 {
			return "\x41" + string(append(b, c))
		}
		b = append(b, c|0x80)
	}
}

// vector is its elements behind their number.
func vector(elements ...string) string {
	return string(uleb(len(elements))) + strings.Join(elements, "")
}

func named(s string) string { return string(uleb(len(s))) + s }

func section(id byte, body string) string {
	return string(append([]byte{id}, uleb(len(body))...)) + body
}

func code(body string) string { return named("\x00" + body + "\x0b") }

// bytes is the module, in the binary format.
func (m wasm) bytes() []byte {
	const table, first = 512, 2048
	var list, text []byte
	for i, a := range m.answers {
		at := first + len(text)
		if i == m.far && i > 0 {
			at = 1 << 30
		}
		list = binary.LittleEndian.AppendUint64(list, uint64(at)<<32|uint64(len(a)))
		text = append(text, a...)
	}
	call := "\x23\x00" + number(m.at) + "\x46\x04\x40" + m.deed + "\x0b" + // the deed, in its call
		"\x23\x00\x23\x00" + number(1) + "\x6a\x24\x00" + // count
		number(8) + "\x6c\x29\x03" + string(uleb(table)) // what the table has there
	if m.room == "" {
		m.room = number(1 << 16)
	}
	functions := 0
	imports := vector()
	if from, name, is := strings.Cut(m.imports, "."); is {
		functions, imports = 1, vector(named(from)+named(name)+"\x00\x02")
	}
	of := func(f int) string { return string(uleb(functions + f)) }
	if m.exports == nil {
		m.exports = []string{named("conclave_room") + "\x00" + of(0), named("conclave_call") + "\x00" + of(1)}
	}
	memory := vector("\x00" + string(uleb(max(m.pages, 4))))
	if m.noMemory {
		memory, list, text = vector(), nil, nil
		call = "\x42\x00" // i64.const
	} else {
		m.exports = append(slices.Clone(m.exports), named("memory")+"\x02\x00")
	}
	out := "\x00asm\x01\x00\x00\x00" +
		section(1, vector("\x60\x01\x7f\x01\x7f", "\x60\x01\x7f\x01\x7e", "\x60\x03\x7f\x7e\x7f\x01\x7f", "\x60\x00\x00")) +
		section(2, imports) + section(3, vector("\x00", "\x01", "\x03")) + section(5, memory) +
		section(6, vector("\x7f\x01"+number(0)+"\x0b")) + section(7, vector(m.exports...))
	if m.start != "" {
		out += section(8, of(2))
	}
	out += section(10, vector(code(m.room), code(call), code(m.start)))
	if !m.noMemory {
		out += section(11, vector("\x00"+number(table)+"\x0b"+named(string(list)),
			"\x00"+number(first)+"\x0b"+named(string(text))))
	}
	return []byte(out)
}

// fine is a module that answers as it should until a process is to enter, if it is called n times.
func fine(n int) []string {
	answers := []string{`{"n":1,"protocol":1,"spec":{"problem":"mutex","summary":"x","messages":[{"kind":"A"}]}}`}
	for i := 2; i <= n; i++ {
		answers = append(answers, fmt.Sprintf(`{"n":%d}`, i))
	}
	return answers
}

func (m wasm) plugin(t *testing.T) guest.Plugin {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "lock.wasm")
	if err := os.WriteFile(path, m.bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := guest.Parse(lock+"="+path, "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What a module must not import, or lacks, or does when it is asked what it is, is an error of Load.
func TestLoad_Module(t *testing.T) {
	for name, c := range map[string]struct {
		wasm
		want string
	}{
		"clock":      {wasm{imports: "wasi_snapshot_preview1.clock_time_get"}, "it imports wasi_snapshot_preview1.clock_time_get: a module knows nothing but"},
		"file":       {wasm{imports: "wasi_snapshot_preview1.path_open"}, "it imports wasi_snapshot_preview1.path_open"},
		"other":      {wasm{imports: "env.now"}, "it imports env.now"},
		"no room":    {wasm{exports: []string{named("conclave_call") + "\x00\x01"}}, "it does not export the function conclave_room"},
		"no call":    {wasm{exports: []string{named("conclave_room") + "\x00\x00"}}, "it does not export the function conclave_call"},
		"no memory":  {wasm{noMemory: true}, "it does not export its memory"},
		"types":      {wasm{exports: []string{named("conclave_room") + "\x00\x01", named("conclave_call") + "\x00\x00"}}, "conclave_room does not take one i32 and return one i32"},
		"large":      {wasm{pages: 5000}, "it is no module of WebAssembly that can run: "},
		"traps":      {wasm{deed: traps}, "event 1 (describe): it traps: wasm error: unreachable"},
		"room traps": {wasm{room: traps}, "event 1 (describe): it traps: wasm error: unreachable"},
		"room":       {wasm{room: number(1 << 30)}, "event 1 (describe): conclave_room returns an address without room for "},
		"grows":      {wasm{deed: grows}, "it traps: wasm error: unreachable; its memory has reached the limit of 256 MiB"},
		"start":      {wasm{start: traps}, "it does not start: "},
		"not JSON":   {wasm{answers: []string{"hello"}}, `event 1 (describe): "hello" is not JSON`},
		"nothing":    {wasm{answers: []string{""}}, `event 1 (describe): "" is not JSON`},
	} {
		t.Run(name, func(t *testing.T) {
			if c.answers == nil {
				c.answers = fine(1)
			}
			p := c.plugin(t)
			t.Cleanup(func() { _ = guest.Close() })
			err := guest.Load([]guest.Plugin{p})
			if err == nil {
				t.Fatal("Load returns no error")
			}
			one(t, err.Error(), "plugin "+p.String()+": ", c.want)
		})
	}
}

// A file that is no module is named.
func TestLoad_NoModule(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock.wasm")
	if err := os.WriteFile(path, []byte("\x00asm\x01\x00\x00\x00\xff"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := guest.Load([]guest.Plugin{{ID: lock, Command: []string{path}, Path: path}})
	if err == nil {
		t.Fatal("Load returns no error")
	}
	one(t, err.Error(), path, "it is no module of WebAssembly that can run: ")
}

// What a module does wrong in an event ends the trial with one sentence.
func TestTrial_Module(t *testing.T) {
	long := append(fine(4), `{"n":5,"log":"`+strings.Repeat("x", 2<<20)+`"}`)
	for name, c := range map[string]struct {
		wasm
		want string
	}{
		"traps": {wasm{deed: traps, at: 4}, "event 5 (Request): it traps: wasm error: unreachable"},
		"far":   {wasm{at: never, far: 4}, "event 5 (Request): conclave_call returns an answer of 7 bytes at 1073741824, beyond its memory"},
		"long":  {wasm{at: never, answers: long, pages: 64}, "event 5 (Request): its answer is longer than 1 MiB"},
		"new":   {wasm{deed: traps, at: 1}, "event 2 (new): it traps"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.answers == nil {
				c.answers = fine(5)
			}
			p := c.plugin(t)
			t.Cleanup(func() { _ = guest.Close() })
			if err := guest.Load([]guest.Plugin{p}); err != nil {
				t.Fatal(err)
			}
			o := simulate(t, lock, 1)
			if o.Status != trace.Failed {
				t.Fatalf("%s: %s", o.Status, o.Reason)
			}
			one(t, o.Reason, p.String()+": process ", c.want)
		})
	}
}

// looping is the first argument of the test binary that loads a module that loops, and simulates it.
const looping = "guest-test-looping"

// runLooping does so, and prints what comes of it. It cannot be done in the process of the tests, where the
// module would go on for good.
func runLooping(path, patience string) {
	guest.SetBounds(500*time.Millisecond, 0)
	guest.SetLimit(500 * time.Millisecond)
	d, err := time.ParseDuration(patience)
	if err != nil {
		panic(err)
	}
	guard.SetPatience(d)
	sim.OnAbandon(func(_ *harness.Setup, err error) {
		fmt.Println("abandoned:", err)
		os.Exit(0)
	})
	p, err := guest.Parse(lock+"="+path, "")
	if err == nil {
		err = guest.Load([]guest.Plugin{p})
	}
	if err != nil {
		fmt.Println("load:", err)
		return
	}
	plan, err := trial.Plan(lock, 3, harness.Scenario{Plot: &harness.Sequential{Requests: 3}}, nil)
	if err != nil {
		panic(err)
	}
	o, err := trial.Simulate(plan)
	fmt.Println("simulated:", o.Reason, err)
}

// A module that loops is reported: at load by the host, in an event by the guard.
func TestModule_Loops(t *testing.T) {
	for name, c := range map[string]struct {
		wasm
		want string
	}{
		"describe": {wasm{deed: loops}, "event 1 (describe): it does not answer within 500ms"},
		"start":    {wasm{start: loops}, "load: plugin mutex/fake "},
		"event":    {wasm{deed: loops, at: 4}, "abandoned: process 3: Request: it does not return"},
		"grows":    {wasm{deed: grows, at: 4}, "256 MiB"}, // says the host, or the guard if it looks in time
		"new":      {wasm{deed: loops, at: 1}, "abandoned: process 1: its constructor: it does not return"},
	} {
		t.Run(name, func(t *testing.T) {
			c.answers = fine(5)
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			patience := "500ms"
			if c.deed == grows { // which takes seconds on a busy machine
				patience = "50s"
			}
			cmd := exec.Command(exe, looping, c.plugin(t).Path, patience)
			timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
			out, err := cmd.CombinedOutput()
			if !timer.Stop() {
				t.Fatalf("it hangs: %s", out)
			}
			if err != nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%v, %s, want %q", err, out, c.want)
			}
		})
	}
}
