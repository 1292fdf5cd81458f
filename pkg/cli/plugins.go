package cli

import (
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/worlds/guest"
	"github.com/conclave-bench/conclave/internal/worlds/host/node"
)

// A plugins is the programs in other languages that a command line names. No experiment, run or archive names
// one: it may come from a stranger.
type plugins struct {
	commands []string
	file     string
}

// flags adds the flags that name them.
func (p *plugins) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&p.commands, "plugin", nil,
		"run the program `ID=COMMAND` as an algorithm: mutex/my-lock=\"python3 lock.py\" (repeatable)")
	f.StringVar(&p.file, "plugins", "",
		"run the programs in `FILE` as algorithms, which has a line \"ID: COMMAND\" for each")
}

// load starts the programs and registers them, also for the processes that this one starts.
func (p *plugins) load() error {
	var list []guest.Plugin
	for _, text := range p.commands {
		q, err := guest.Parse(text, "")
		if err != nil {
			return usage("--plugin: %v", err)
		}
		list = append(list, q)
	}
	if p.file != "" {
		more, err := pluginsOf(p.file)
		if err != nil {
			return usage("--plugins: %v", err)
		}
		list = append(list, more...)
	}
	if list == nil {
		return nil
	}
	if err := guest.Load(list); err != nil {
		return usage("%v", err)
	}
	for _, text := range p.commands {
		program.AddFlags("--plugin", text)
	}
	if p.file != "" {
		program.AddFlags("--plugins", p.file)
	}
	return guest.Bequeath()
}

// mostPlugins bounds a file of plugins, in bytes.
const mostPlugins = 1 << 20

// pluginsOf are the plugins that a file lists. They start in its folder.
func pluginsOf(path string) (list []guest.Plugin, err error) {
	b, err := files.Read(path, mostPlugins)
	if err != nil {
		return nil, err
	}
	commands := map[string]string{}
	if err := yaml.Unmarshal(b, &commands); err != nil {
		return nil, usage("%s: %v", path, err)
	}
	ids := make([]string, 0, len(commands))
	for id := range commands {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		q, err := guest.Parse(id+"="+commands[id], filepath.Dir(path))
		if err != nil {
			return nil, usage("%s: %v", path, err)
		}
		list = append(list, q)
	}
	return list, nil
}

// takesPlugins has all commands below c take the flags, and load what they name before they run.
func takesPlugins(c *cobra.Command) {
	p := &plugins{}
	p.flags(c.PersistentFlags())
	c.PersistentPreRunE = func(*cobra.Command, []string) error { return p.load() }
}

// heir runs a part of a run that has the plugins of the process that has started it.
func heir(life func(io.Reader, io.Writer) error) func(io.Reader, io.Writer) error {
	return func(in io.Reader, out io.Writer) error {
		if err := guest.Inherit(); err != nil {
			return err
		}
		return life(in, out)
	}
}

// asNode is the life of a node: a signal to it reaches its programs, which have to answer in real time.
func asNode(in io.Reader, out io.Writer) error {
	guest.Join()
	guest.SetLimit(guest.RealTime)
	return heir(node.Run)(in, out)
}
