package guest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// loaded are the programs that this process knows.
var loaded struct {
	sync.Mutex
	spawner   *proc.Spawner
	programs  []*Program
	inherited []Plugin // each is loaded when its algorithm is looked up
}

// Load starts programs, and registers what they say they are. All that is wrong is returned, not the first
// mistake alone.
func Load(plugins []Plugin) error {
	loaded.Lock()
	defer loaded.Unlock()
	var errs []error
	for i := range plugins {
		if err := load(&plugins[i]); err != nil {
			errs = append(errs, named(&plugins[i], err))
		}
	}
	return errors.Join(errs...)
}

// named is an error of a plugin with its name, unless it has it already.
func named(p *Plugin, err error) error {
	if strings.HasPrefix(err.Error(), p.String()) {
		return fmt.Errorf("plugin %w", err)
	}
	return fmt.Errorf("plugin %v: %w", p, err)
}

func load(plugin *Plugin) (err error) {
	p := &Program{Plugin: *plugin, said: plugin.Said}
	if plugin.Made == nil { // else it is inherited: a node has no time to hash files
		p.Plugin.Made = plugin.origin()
	}
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
		switch r := recover().(type) {
		case nil:
		case *algo.Breach: // of a default
			err = r
		default:
			panic(r)
		}
		if err != nil {
			p.kill()
		}
	}()
	s, err := p.declare()
	if err != nil {
		return err
	}
	err = algo.AddGuest(p.Plugin.problem(), s, p.Plugin.Hosting(), !plugin.module(),
		func(c algo.Config) algo.Guest { return p.process(c) })
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

// Close ends all programs, and forgets the plugins. What is wrong with the end of one is an error.
func Close() error {
	loaded.Lock()
	defer loaded.Unlock()
	var errs []error
	for _, p := range loaded.programs {
		errs = append(errs, p.Close())
		algo.Remove(p.Plugin.ID)
	}
	loaded.programs, loaded.inherited, settings.env = nil, nil, nil
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

// Inherit has the plugins of the process that has started this one be loaded, each when its algorithm is
// looked up. They must be what they were there.
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
	loaded.Lock()
	defer loaded.Unlock()
	loaded.inherited = b.Plugins
	algo.OnUnknown(func(id string) error {
		loaded.Lock()
		defer loaded.Unlock()
		i := slices.IndexFunc(loaded.inherited, func(p Plugin) bool { return p.ID == id })
		if i < 0 || slices.ContainsFunc(loaded.programs, func(p *Program) bool { return p.Plugin.ID == id }) {
			return nil // it is no plugin, or another goroutine has loaded it meanwhile
		}
		if err := load(&loaded.inherited[i]); err != nil {
			return named(&loaded.inherited[i], err)
		}
		return nil
	})
	return nil
}

// plugged is the plugin that is an algorithm, loaded or to be loaded; nil: there is none.
func plugged(id string) *Plugin {
	if p := Of(id); p != nil {
		return &p.Plugin
	}
	loaded.Lock()
	defer loaded.Unlock()
	for i := range loaded.inherited {
		if loaded.inherited[i].ID == id {
			return &loaded.inherited[i]
		}
	}
	return nil
}

// Origins are what the programs among the algorithms of those IDs were made of.
func Origins(ids []string) map[string]Origin {
	var out map[string]Origin
	for _, id := range ids {
		if p := plugged(id); p != nil {
			if out == nil {
				out = map[string]Origin{}
			}
			out[id] = *p.Made
		}
	}
	return out
}

// Difference says in which program two runs differ; "": in none.
func Difference(a, b map[string]Origin) string {
	both := maps.Clone(a)
	if both == nil {
		both = map[string]Origin{}
	}
	maps.Copy(both, b)
	for _, id := range slices.Sorted(maps.Keys(both)) {
		was, other := a[id], b[id]
		if what := was.Differs(&other); what != "" {
			return id + ": " + what
		}
	}
	return ""
}

// Same says whether the programs that a run has recorded are plugins here, and are still what they were.
func Same(recorded map[string]Origin) error {
	for _, id := range slices.Sorted(maps.Keys(recorded)) {
		was := recorded[id]
		p := plugged(id)
		if p == nil {
			command := strings.Join(was.Command, " ")
			return fmt.Errorf("%s was the program %q there, and nothing starts a program because a run "+
				"names it: add --plugin %s=%q", id, command, id, command)
		}
		if what := was.Differs(p.Made); what != "" {
			return fmt.Errorf("%s is not the program that it was there: %s; put it back, or start a new run",
				id, what)
		}
	}
	return nil
}
