package cli

import (
	"errors"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/worlds/guest"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// root is the tree of commands.
func (s *streams) root(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "bench",
		Short: "Benchmarks leader-election and mutual-exclusion algorithms",
		Args:  cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(c, args[0])
			}
			return c.Help()
		},
		Long: `bench runs experiments with leader-election and mutual-exclusion algorithms,
on real node processes or in simulation. It judges every run for safety and
liveness, and writes statistics.`,
		Version: inText(versionAnswer()),
		Example: `  bench init experiment.yaml
  bench plan experiment.yaml
  bench run experiment.yaml --transport sim --set repetitions=6`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetVersionTemplate("{{.Version}}")
	root.Flags().BoolP("version", "v", false, "print the version of this program")
	ourTemplates()
	for _, g := range s.groups() {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title + ":"})
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	root.AddCommand(s.schemaCommand(), s.versionCommand())
	takesPlugins(root)
	complete(root)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "Flags.FlagUsages", "Flags | flags"))
	root.SetHelpCommand(helpCommand(root))
	root.InitDefaultCompletionCmd(args...)
	explainShells(root)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		// A flag of an unknown verb is not what is wrong.
		if c == root {
			for _, a := range args {
				if !strings.HasPrefix(a, "-") {
					return unknownVerb(c, a)
				}
			}
		}
		return flagError(c, err)
	})
	return root
}

// A group is commands that help lists under one title.
type group struct {
	id, title string
	commands  []*cobra.Command
}

// groups are the commands in the order in which help lists them: first those that a newcomer needs.
func (s *streams) groups() []group {
	return []group{
		{"start", "Start here", []*cobra.Command{
			s.listCommand(),
			s.initCommand(),
			runsPlugins(s.planCommand()),
			s.runCommand(),
			s.compareCommand(),
			s.reportCommand(),
		}},
		{"run", "Run more", []*cobra.Command{
			s.serveCommand(),
			runsPlugins(s.reproduceCommand()),
			runsPlugins(s.calibrateCommand()),
			runsPlugins(s.twinCommand()),
		}},
		{"read", "Read a run", []*cobra.Command{
			s.exportCommand(),
			s.paperCommand(),
			runsPlugins(s.traceCommand()),
			runsPlugins(s.replayCommand()),
		}},
		{"compare", "Compare versions of a program", []*cobra.Command{
			s.gateCommand(),
			s.historyCommand(),
			runsPlugins(s.diffCommand()),
			s.bisectCommand(),
		}},
		{"search", "Search and estimate", []*cobra.Command{
			runsPlugins(s.exploreCommand()),
			runsPlugins(s.proveCommand()),
			runsPlugins(s.atlasCommand()),
			runsPlugins(s.tuneCommand()),
			s.adviseCommand(),
			runsPlugins(s.rareCommand()),
		}},
		{"algorithms", "Algorithms", []*cobra.Command{
			s.describeCommand(),
			runsPlugins(s.verifyCommand()),
			s.newCommand(),
		}},
		{"machines", "Several machines", []*cobra.Command{
			s.hubCommand(),
			s.joinCommand(),
			s.fleetCommand(),
			s.mergeCommand(),
			s.workCommand(),
			s.workersCommand(),
			s.queueCommand(),
		}},
	}
}

// needsCompletion is what happens without the package that the script for bash needs.
const needsCompletion = `Where it is not loaded, as in bash --norc, each Tab says
"_get_comp_words_by_ref: command not found". Load it before:

	source /usr/share/bash-completion/bash_completion

`

// explainShells gives cobra's own commands what the others have: an example, and lines that fit.
func explainShells(root *cobra.Command) {
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		for _, shell := range c.Commands() {
			if shell.Name() == "bash" {
				shell.Long = strings.Replace(shell.Long, "To load", needsCompletion+"To load", 1)
			}
			shell.Long, shell.Example = console.Folded(shell.Long), "  "+shell.CommandPath()
		}
	}
}

// ourTemplates gives cobra's templates, which all commands of a program share, what keeps the flags
// within a terminal, and commands the order in which they were added.
var ourTemplates = sync.OnceFunc(func() {
	cobra.EnableCommandSorting = false
	cobra.AddTemplateFunc("flags", func(f *pflag.FlagSet) string {
		return f.FlagUsagesWrapped(console.Columns)
	})
})

// helpCommand is cobra's own, but an unknown topic is an error.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about a command",
		Example: `  bench help
  bench help run`,
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownVerb(root, args[0])
			}
			return c.Help()
		},
	}
}

func unknownVerb(root *cobra.Command, verb string) error {
	var names []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return usage("unknown command %q%s (has: %s)", verb, algo.Hint(verb, names), strings.Join(names, ", "))
}

// alike are names of one concept: a command has the plural if it takes several.
var alike = map[string]string{"metric": "metrics", "metrics": "metric"}

// flagError says what is wrong with the flags of c, and what to write instead.
func flagError(c *cobra.Command, err error) error {
	text := err.Error()
	word, ok := strings.CutPrefix(text, "unknown flag: --")
	if !ok {
		return usage("%s: %s", c.CommandPath(), text)
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	remedy := algo.Hint("--"+word, names)
	if name := alike[word]; name != "" && c.Flags().Lookup(name) != nil {
		remedy = "; write --" + name
	} else if key := settingOf(word); key != "" && c.Flags().Lookup("set") != nil {
		remedy = "; write --set " + key + "=VALUE"
	}
	if remedy == "" {
		remedy = "; expected one of: " + strings.Join(names, ", ")
	}
	return usage("%s: unknown flag %q%s", c.CommandPath(), "--"+word, remedy)
}

// bench runs the command with args and turns its error into an exit code.
func (s *streams) bench(args []string) int {
	s.argv = append([]string{"bench"}, args...)
	root := s.root(args)
	root.SetArgs(append([]string{}, args...)) // of nil, cobra takes those of the process
	err := root.Execute()
	if ended := guest.Close(); err == nil && ended != nil {
		err = usage("%v", ended)
	}
	flushErr := s.out.Flush()
	code := Good
	var known exit
	switch {
	case errors.As(err, &known):
		code = int(known)
	case err != nil:
		s.say(err.Error())
		code = answer.ExitOf(err)
	}
	if flushErr != nil && code == Good {
		s.say("standard output: " + flushErr.Error())
		code = CouldNotRun
	}
	return code
}
