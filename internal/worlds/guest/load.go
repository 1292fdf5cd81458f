package guest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// loaded are the programs that this process knows.
var loaded struct {
	sync.Mutex
	spawner  *proc.Spawner
	programs []*Program
}

// Load starts programs, and registers what they say they are. All that is wrong is returned, not the first
// mistake alone.
func Load(plugins []Plugin) error {
	loaded.Lock()
	defer loaded.Unlock()
	var errs []error
	for i := range plugins {
		if err := load(&plugins[i]); err != nil {
			errs = append(errs, fmt.Errorf("plugin %v: %w", plugins[i], err))
		}
	}
	return errors.Join(errs...)
}

func load(plugin *Plugin) (err error) {
	if err := plugin.find(); err != nil {
		return err
	}
	p := &Program{Plugin: *plugin, said: plugin.Said, Origin: plugin.origin()}
	if plugin.module() {
		c, err := plugin.compile()
		if err != nil {
			return err
		}
		p.start = c.start
	} else {
		if loaded.spawner == nil {
			loaded.spawner = proc.NewSpawner()
		}
		p.start = func() (channel, error) { return startPipe(loaded.spawner, &p.Plugin) }
	}
	defer func() {
		if b, is := recover().(*algo.Breach); is { // of a default
			err = b
		}
		if err != nil {
			p.kill()
		}
	}()
	s, err := p.declare()
	if err != nil {
		return err
	}
	p.Plugin.Said = p.said
	if p.Plugin.problem() == algo.Election {
		err = algo.AddElector(s, func(c algo.Config) algo.Elector { return p.process(c) })
	} else {
		err = algo.AddMutex(s, func(c algo.Config) algo.Mutex { return p.process(c) })
	}
	if err == nil {
		loaded.programs = append(loaded.programs, p)
	}
	return err
}

// Programs are those that were loaded, in that order.
func Programs() []*Program {
	loaded.Lock()
	defer loaded.Unlock()
	return slices.Clone(loaded.programs)
}

// Of is the program that is an algorithm; nil: it is none.
func Of(id string) *Program {
	for _, p := range Programs() {
		if p.Plugin.ID == id {
			return p
		}
	}
	return nil
}

// Close ends all programs. What is wrong with the end of one is an error.
func Close() error {
	loaded.Lock()
	defer loaded.Unlock()
	var errs []error
	for _, p := range loaded.programs {
		errs = append(errs, p.Close())
		algo.Remove(p.Plugin.ID)
	}
	loaded.programs = nil
	if loaded.spawner != nil {
		errs = append(errs, loaded.spawner.Close())
		loaded.spawner = nil
	}
	return errors.Join(errs...)
}

// inherited is the variable of the environment by which the processes that this one starts know its plugins.
// Only those read it: a user names plugins on a command line.
const inherited = "CONCLAVE_PLUGINS"

// A bequest is what those processes inherit.
type bequest struct {
	Plugins []Plugin `json:"plugins"`
	Env     []string `json:"env"` // of this process, for the programs
}

// Bequest is the setting of the environment with which a process that this one starts can Inherit its
// plugins, in a slice of one; without plugins, none.
func Bequest() []string {
	b := bequest{Env: environment()}
	for _, p := range Programs() {
		b.Plugins = append(b.Plugins, p.Plugin)
	}
	if b.Plugins == nil {
		return nil
	}
	text, err := json.Marshal(b)
	if err != nil {
		panic(err) // plain data
	}
	return []string{inherited + "=" + string(text)}
}

// Bequeath has the processes that get the environment of this one find the Bequest there.
func Bequeath() error {
	for _, setting := range Bequest() {
		name, value, _ := strings.Cut(setting, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// environment is that of programs.
func environment() []string {
	if settings.env != nil {
		return settings.env
	}
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, inherited+"=") })
}

// Inherit loads the plugins of the process that has started this one. They must be what they were there.
func Inherit() error {
	text := os.Getenv(inherited)
	if text == "" {
		return nil
	}
	var b bequest
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		return fmt.Errorf("%s: %w", inherited, err)
	}
	settings.env = b.Env
	return Load(b.Plugins)
}

// Speed is how many events programs have handled in this process, and how long that took.
func (p *Program) Speed() (events int64, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.steps, p.took
}
