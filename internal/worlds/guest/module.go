package guest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/base/proc"
)

// A module is a copy of a program as WebAssembly, in this process.
type module struct {
	instance api.Module
	// stack is where the functions find their argument, and leave their result.
	room, handle api.Function
	stack        [1]uint64
	at, size     uint32 // where requests are written, and how much room is there
	stuck        bool   // a call has not returned
	output       excerpt
}

// What a module exports: room for so many bytes of a request, and to handle one of so many bytes.
const (
	roomExport  = "conclave_room"
	callExport  = "conclave_call"
	panicExport = "conclave_panic" // where the text of the failure is that made it trap; optional
)

// values are the types that those functions take and return.
var values = map[string][2]api.ValueType{roomExport: {api.ValueTypeI32, api.ValueTypeI32},
	callExport: {api.ValueTypeI32, api.ValueTypeI64}}

// maxPages bounds the memory of a module, in pages of 64 KiB.
const maxPages = 4096

// A compilation is a module that can be started.
type compilation struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

// compile compiles a module. What comes of that is kept among the user's caches, for all processes that run
// it.
func (p *Plugin) compile() (*compilation, error) {
	ctx := context.Background()
	text, err := files.Read(p.Path, mostSource)
	if err != nil {
		return nil, err
	}
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(maxPages).WithCustomSections(true)
	if dir, err := os.UserCacheDir(); err == nil {
		dir = filepath.Join(dir, "conclave", "wasm")
		if cache, err := wazero.NewCompilationCacheWithDir(dir); err == nil {
			config = config.WithCompilationCache(cache)
		}
	}
	c := &compilation{runtime: wazero.NewRuntimeWithConfig(ctx, config)}
	if c.module, err = c.runtime.CompileModule(ctx, text); err != nil {
		return nil, fmt.Errorf("it is no module of WebAssembly that can run: %s", firstLine(err))
	}
	written := slices.ContainsFunc(c.module.CustomSections(), func(s api.CustomSection) bool {
		return s.Name() == "go:buildid"
	})
	if err := c.refuse(written); err != nil {
		return nil, err
	}
	if written {
		// What Go's runtime cannot do without: no file is there, and the clock and the random bytes are the
		// same in every copy.
		_, err = wasi_snapshot_preview1.Instantiate(ctx, c.runtime)
	}
	return c, err
}

// firstLine is an error without the stack of the module.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// refuse says what the module imports that it must not, or does not export. InGo says that it is written in
// Go.
func (c *compilation) refuse(inGo bool) error {
	for _, f := range c.module.ImportedFunctions() {
		if from, name, _ := f.Import(); !inGo || from != wasi_snapshot_preview1.ModuleName {
			return fmt.Errorf("it imports %s.%s: a module knows nothing but its requests, and has no clock, "+
				"no files and no random numbers", from, name)
		}
	}
	if len(c.module.ImportedMemories()) > 0 {
		return errors.New("it imports its memory: a module has its own")
	}
	if len(c.module.ExportedMemories()) == 0 {
		return errors.New("it does not export its memory: build it with a kit")
	}
	for _, name := range []string{roomExport, callExport} {
		f, types := c.module.ExportedFunctions()[name], values[name]
		if f == nil {
			return fmt.Errorf("it does not export the function %s: build it with a kit", name)
		}
		if !slices.Equal(f.ParamTypes(), types[:1]) || !slices.Equal(f.ResultTypes(), types[1:]) {
			return fmt.Errorf("its function %s does not take one %s and return one %s: build it with a kit",
				name, api.ValueTypeName(types[0]), api.ValueTypeName(types[1]))
		}
	}
	return nil
}

func (c *compilation) start() (channel, error) {
	m := &module{}
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize").
		WithStdout(&m.output).WithStderr(&m.output)
	runtime.GC() // so that none is under way when its code begins
	instance, err := within(starting(), func() (api.Module, error) {
		return c.runtime.InstantiateModule(context.Background(), c.module, config)
	})
	if err != nil {
		return nil, fmt.Errorf("it does not start: %s", firstLine(err))
	}
	m.instance, m.room, m.handle = instance, instance.ExportedFunction(roomExport),
		instance.ExportedFunction(callExport)
	return m, nil
}

// call runs in the goroutine of its caller if a guard watches that: a module that loops is reported as a
// plugin in Go is that does.
func (m *module) call(request []byte, limit time.Duration, watched bool) ([]byte, error) {
	if watched {
		return m.run(request)
	}
	answer, err := within(limit, func() ([]byte, error) { return m.run(request) })
	m.stuck = errors.Is(err, errStuck)
	return answer, err
}

var errStuck = errors.New("it does not answer")

// within calls a module where no guard watches, and waits for it no longer than limit. Code that loops
// cannot be stopped, and a garbage collection would wait for it: this process has to end then, before the
// next one.
func within[T any](limit time.Duration, do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := do()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-time.After(limit):
		var none T
		return none, fmt.Errorf("%w within %v", errStuck, limit)
	}
}

func (m *module) run(request []byte) ([]byte, error) {
	ctx := context.Background()
	if n := uint32(len(request)); n > m.size {
		m.stack[0] = uint64(n)
		if err := m.room.CallWithStack(ctx, m.stack[:]); err != nil {
			return nil, m.trapped(err)
		}
		m.at, m.size = uint32(m.stack[0]), n
	}
	memory := m.instance.Memory()
	if !memory.Write(m.at, request) {
		return nil, fmt.Errorf("%s returns an address without room for %d bytes", roomExport, len(request))
	}
	m.stack[0] = uint64(len(request))
	if err := m.handle.CallWithStack(ctx, m.stack[:]); err != nil {
		return nil, m.trapped(err)
	}
	at, size := uint32(m.stack[0]>>32), uint32(m.stack[0])
	answer, is := memory.Read(at, size)
	switch {
	case size > mostLine:
		return nil, fmt.Errorf("its answer is longer than %d MiB", mostLine>>20)
	case !is:
		return nil, fmt.Errorf("%s returns an answer of %d bytes at %d, beyond its memory", callExport, size,
			at)
	}
	return answer, nil
}

// trapped is the error of a call that did not return.
func (m *module) trapped(err error) error {
	const page = 1 << 16
	why := "it traps: " + firstLine(err)
	if f := m.instance.ExportedFunction(panicExport); f != nil {
		// It may say why: what it has written down is there after a trap, too.
		if at, err := f.Call(context.Background()); err == nil && len(at) == 1 {
			if text, is := m.instance.Memory().Read(uint32(at[0]>>32), uint32(at[0])); is && len(text) > 0 {
				why = "it panics: " + proc.Harmless(string(text[:min(len(text), mostSaid)]))
			}
		}
	}
	if m.instance.Memory().Size() > (maxPages-maxPages/16)*page {
		why += fmt.Sprintf("; its memory has reached the limit of %d MiB", maxPages*page>>20)
	}
	return errors.New(why)
}

func (m *module) said() string { return m.output.String() }

func (m *module) end([]byte) error {
	m.kill()
	return nil
}

func (m *module) kill() {
	if !m.stuck {
		_ = m.instance.Close(context.Background()) // nothing of it is left to lose
	}
}

// An excerpt is the end of what a module writes.
type excerpt struct {
	mu  sync.Mutex
	end []byte
}

// mostSaid bounds it, in bytes.
const mostSaid = 2000

func (e *excerpt) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.end = append(e.end, b...)
	e.end = e.end[max(0, len(e.end)-mostSaid):]
	return len(b), nil
}

func (e *excerpt) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return proc.Harmless(string(e.end))
}
