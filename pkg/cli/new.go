package cli

import (
	"cmp"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/commands/scaffold"
)

func (s *streams) newCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "new",
		Short:   "Write the skeleton of a new algorithm, module or course",
		Example: `  bench new algorithm election/my-election`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("bench new: %q, expected algorithm, module or course", args[0])
			}
			return usage("bench new: expected algorithm, module or course, as bench new algorithm " +
				"election/my-election")
		},
	}
	c.AddCommand(s.newAlgorithmCommand(), s.newModuleCommand(), s.newCourseCommand())
	return c
}

func (s *streams) newCourseCommand() *cobra.Command {
	var language string
	c := &cobra.Command{
		Use:   "course DIR",
		Short: "Write an exercise: a lock to write, and how it is graded",
		Long: `Write the folder of an exercise in another language than Go: the text, the
skeleton of a lock, the kit that it needs, a lock with a mistake, an experiment,
and a GitHub workflow that grades with "bench verify --junit".`,
		Example: `  bench new course locks --language python`,
		Args:    cobra.ArbitraryArgs,
	}
	names := scaffold.Languages()
	c.Flags().StringVar(&language, "language", names[0], inLanguage+strings.Join(names, ", "))
	choices(c, "language", names)
	return s.answering(c, func(args []string) (*answer.Document, error) {
		a, err := scaffold.Course(args, language, s.err, s.aside())
		if err != nil {
			return nil, err
		}
		return a.WriteCourse(args[0])
	})
}

// inLanguage is the help of --language, before those that there are.
const inLanguage = "write a program in `LANGUAGE`: "

// usesClone is the help of --conclave.
const usesClone = "let the module use the clone of Conclave in this `FOLDER` as it is, on this machine alone"

func (s *streams) newModuleCommand() *cobra.Command {
	var out, source string
	c := &cobra.Command{
		Use:   "module PATH",
		Short: "Write a Go module with a command of your own, and a gate",
		Long: `Write a module that imports Conclave: a main of ten lines, go.mod, an
experiment, and a GitHub workflow that compares each pull request with its base.
"bench new algorithm ID --module PATH" adds an algorithm of your own.

The module requires the version of Conclave that this program was installed
from, or the commit of the clone that it runs in; docs/how-to/gate.md says what
to do until that commit is published.`,
		Example: `  bench new module example.com/mine`,
		Args:    cobra.ArbitraryArgs,
	}
	c.Flags().StringVar(&out, "out", "", "the `FOLDER` of the module (default: the last part of PATH)")
	c.Flags().StringVar(&source, "conclave", "", usesClone)
	return s.answering(c, func(args []string) (*answer.Document, error) {
		m, err := scaffold.Module(args, s.err)
		if err != nil {
			return nil, err
		}
		return m.WriteModule(cmp.Or(out, path.Base(args[0])), source)
	})
}

func (s *streams) newAlgorithmCommand() *cobra.Command {
	var module, out, source, language string
	var bare bool
	c := &cobra.Command{
		Use:   "algorithm ID",
		Short: "Write a plugin that runs, its tests and its scenarios",
		Long: `Write an algorithm that runs and passes its tests; then replace its rules by
yours, one at a time.

In a clone of Conclave this writes the plugin with its tests, a worked example,
a scenario that shows how it breaks, and the lines that link it in, and updates
the generated files. With --module it writes a module of your own instead, and
with --language a program in another language: its rules, which you have yet to
write, the kit that it needs, and an experiment.`,
		Example: `  bench new algorithm mutex/peterson
  bench new algorithm mutex/peterson --module example.com/own --out own
  bench new algorithm mutex/my-lock --language python --out lock`,
		Args: cobra.ArbitraryArgs,
	}
	f := c.Flags()
	f.StringVar(&module, "module", "", "write a module of your own with this `PATH`")
	f.StringVar(&out, "out", "", "the `FOLDER` of that module or program (default: the algorithm's name)")
	f.StringVar(&source, "conclave", "", usesClone)
	f.BoolVar(&bare, "no-generate", false, "leave the generated files as they are")
	names := scaffold.Languages()
	f.StringVar(&language, "language", "", inLanguage+strings.Join(names, ", ")+" (default: Go)")
	choices(c, "language", names)
	return s.answering(c, func(args []string) (*answer.Document, error) {
		a, err := scaffold.Algorithm(args, module, s.err, s.aside())
		switch {
		case err != nil:
			return nil, err
		case language != "":
			if module != "" || source != "" || bare {
				return nil, usage("bench new algorithm: --module, --conclave and --no-generate are for Go, " +
					"not for --language")
			}
			if err := a.In(language); err != nil {
				return nil, err
			}
			return a.WriteProgram(cmp.Or(out, a.Name))
		case module != "":
			return a.WriteModule(cmp.Or(out, a.Package), source)
		case out != "" || source != "":
			return nil, usage("bench new algorithm: --out and --conclave are for --module, and " +
				"--out for --language")
		}
		return a.WriteAlgorithm(bare)
	})
}
