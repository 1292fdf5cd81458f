package cli

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"go/format"
	gotoken "go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/files"
	"github.com/conclave-bench/conclave/internal/program"
)

//go:embed scaffold/*.tmpl
var scaffolds embed.FS

// A scaffold is what the templates of a new algorithm need to know.
type scaffold struct {
	ID, Name, Package string
	Problem           string // as in experiment files: election or mutex
	Core              string // Conclave's module
	Module            string // the author's own; "": the algorithm goes into Conclave
	Year              int
	Version, Source   string // of Conclave, and the clone in whose place it is, if any
}

// newPath is the path of a module, as go.mod may have it.
var newPath = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$`)

var newID = regexp.MustCompile(`^(election|mutex)/([a-z][a-z0-9]*(?:-[a-z0-9]+)*)$`)

func (s *streams) newCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "new",
		Short:   "Write the skeleton of a new algorithm or module",
		Example: `  bench new algorithm election/my-election`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("bench new: %q, want algorithm or module", args[0])
			}
			return usage("bench new: want algorithm or module, as bench new algorithm election/my-election")
		},
	}
	c.AddCommand(s.newAlgorithmCommand(), s.newModuleCommand())
	return c
}

func (s *streams) newModuleCommand() *cobra.Command {
	var out, source string
	c := &cobra.Command{
		Use:   "module PATH",
		Short: "Write a Go module with a command of your own, and a gate",
		Long: `Write a module that imports Conclave: a main of ten lines, go.mod, an
experiment, and a workflow for GitHub that compares each pull request with its
base. "bench new algorithm ID --module PATH" writes one with an algorithm of
your own, too.`,
		Example: `  bench new module example.com/mine`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !newPath.MatchString(args[0]) {
				return usage("bench new module: %q, want one module path, as example.com/own",
					strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return s.newModule(scaffold{Problem: "election", Core: program.Core, Module: args[0]},
				cmp.Or(out, path.Base(args[0])), source)
		},
	}
	c.Flags().StringVar(&out, "out", "", "the `FOLDER` of the module (default: the last part of PATH)")
	c.Flags().StringVar(&source, "conclave", "", "let it use the clone of Conclave in this `FOLDER`")
	return c
}

func (s *streams) newAlgorithmCommand() *cobra.Command {
	var module, out, source string
	var bare bool
	c := &cobra.Command{
		Use:   "algorithm ID",
		Short: "Write a plugin that runs, its tests and its scenarios",
		Long: `Write an algorithm that runs and whose tests pass. Replace its rules by yours,
one at a time.

In a clone of Conclave this writes the plugin with its tests, a worked
example, a scenario that shows how it breaks, and the lines that link it in,
and brings the generated files up to date. With --module it writes a module of
your own that imports Conclave.`,
		Example: `  bench new algorithm mutex/peterson
  bench new algorithm mutex/peterson --module example.com/own --out own`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !newID.MatchString(args[0]) {
				return usage("bench new algorithm: %q, want one ID, as election/my-election or "+
					"mutex/peterson", strings.Join(args, " "))
			}
			if name := packageOf(path.Base(args[0])); !gotoken.IsIdentifier(name) || name == "main" {
				return usage("bench new algorithm: %q, and %s cannot be the name of a Go package; choose "+
					"another, as %s-1", args[0], name, args[0])
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			m := newID.FindStringSubmatch(args[0])
			a := scaffold{ID: args[0], Problem: m[1], Name: m[2], Core: program.Core, Module: module,
				Package: packageOf(m[2]), Year: time.Now().Year()}
			if module != "" {
				return s.newModule(a, cmp.Or(out, a.Package), source)
			}
			if out != "" || source != "" {
				return usage("bench new algorithm: --out and --conclave are for --module")
			}
			return s.newPlugin(a, bare)
		},
	}
	f := c.Flags()
	f.StringVar(&module, "module", "", "write a module of your own with this `PATH`")
	f.StringVar(&out, "out", "", "the `FOLDER` of that module (default: the algorithm's name)")
	f.StringVar(&source, "conclave", "", "let the module use the clone of Conclave in this `FOLDER`")
	f.BoolVar(&bare, "no-generate", false, "leave the generated files as they are")
	return c
}

// packageOf is the Go package of an algorithm.
func packageOf(name string) string { return strings.ReplaceAll(name, "-", "") }

// newPlugin writes an algorithm into the clone of Conclave around the working
// folder.
func (s *streams) newPlugin(a scaffold, bare bool) error {
	root, err := clone(".")
	if err != nil {
		return err
	}
	folder := filepath.Join("plugins", a.Problem, a.Package)
	imports := fmt.Sprintf("\t_ %q", program.Core+"/"+filepath.ToSlash(folder))
	finding := "  - algorithm: " + a.ID
	lists := []struct{ path, prefix, line, more string }{
		{"plugins/all/all.go", "\t_ ", imports, ""},
		{"scripts/algorithms/findings.yaml", "  - algorithm: ", finding,
			"\n    scenario: breaks/" + a.Name + ".yaml\n    shows:\n      - {status: timeout}"},
	}
	texts := make([]string, len(lists))
	for i, l := range lists {
		if texts[i], err = withLine(filepath.Join(root, l.path), l.prefix, l.line, l.more); err != nil {
			return err
		}
	}
	err = s.writeScaffold(a, root, [][2]string{
		{a.Problem + ".go", filepath.Join(folder, a.Package+".go")},
		{a.Problem + "_messages.go", filepath.Join(folder, "messages.go")},
		{a.Problem + "_test.go", filepath.Join(folder, a.Package+"_test.go")},
		{a.Problem + "_figure.yaml", filepath.Join("configs", "figures", a.Name+".yaml")},
		{a.Problem + "_break.yaml", filepath.Join("configs", "breaks", a.Name+".yaml")},
	})
	if err != nil {
		return err
	}
	for i, l := range lists {
		if err := os.WriteFile(filepath.Join(root, l.path), []byte(texts[i]), 0o644); err != nil {
			return fmt.Errorf("new: %w", err)
		}
		fmt.Fprintf(s.err, "changed %s\n", l.path)
	}
	if !bare {
		if err := s.generate(root); err != nil {
			return err
		}
	}
	fmt.Fprintf(s.aside(), `now: go test ./%s
     then write its rules, its paper and its claims; "make generate" after each change of the Spec
`, filepath.ToSlash(folder))
	return nil
}

// withLine is a file's text with a line, and what follows it, in its place among
// those that begin alike.
func withLine(path, prefix, line, more string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("new: %w", err)
	}
	lines := strings.Split(string(text), "\n")
	if slices.Contains(lines, line) {
		return "", usage("new: %s is in %s already", strings.TrimSpace(line), path)
	}
	at, last := -1, -1
	for i, l := range lines {
		if strings.HasPrefix(l, prefix) {
			last = i
			if at < 0 && l > line {
				at = i
			}
		}
	}
	if at < 0 { // behind the last one, and what belongs to it
		for at = last + 1; at < len(lines) && strings.HasPrefix(lines[at], "   "); at++ {
		}
	}
	return strings.Join(slices.Insert(lines, at, line+more), "\n"), nil
}

// generate brings the files up to date that follow from the algorithms.
func (s *streams) generate(root string) error {
	fmt.Fprintln(s.err, "bringing the generated files up to date: a minute or two")
	c := exec.Command("sh", filepath.Join("scripts", "generate.sh"))
	c.Dir, c.Stdout, c.Stderr = root, s.err, s.err
	if err := c.Run(); err != nil {
		return fmt.Errorf("new: scripts/generate.sh: %w", err)
	}
	return nil
}

// newModule writes a module of its author's own, with a command, and an algorithm if there is one.
func (s *streams) newModule(a scaffold, out, source string) error {
	if source == "" {
		source, _ = clone(".")
	}
	if source != "" {
		var err error
		if source, err = clone(source); err != nil {
			return err
		}
	}
	version := ownVersion()
	if version == "" && source == "" {
		return usage("new: this program was not built from a release of Conclave; " +
			"name a clone of it: --conclave FOLDER")
	}
	a.Version, a.Source = cmp.Or(version, "v0.0.0"), source
	if strings.ContainsAny(source, " \t()[]{},\"'`") { // as go.mod wants it
		a.Source = strconv.Quote(source)
	}
	list := [][2]string{
		{"go.mod", "go.mod"},
		{"gitignore", ".gitignore"},
		{"experiment.yaml", "experiment.yaml"},
		{"gate.yml", filepath.Join(".github", "workflows", "gate.yml")},
	}
	if a.Package == "" {
		list = append(list, [2]string{"module_main.go", "main.go"})
	} else {
		list = append(list, [][2]string{
			{"main.go", "main.go"},
			{a.Problem + ".go", filepath.Join(a.Package, a.Package+".go")},
			{a.Problem + "_messages.go", filepath.Join(a.Package, "messages.go")},
			{a.Problem + "_test.go", filepath.Join(a.Package, a.Package+"_test.go")},
		}...)
	}
	if err := s.writeScaffold(a, out, list); err != nil {
		return err
	}
	fmt.Fprintf(s.err, "now: cd %s && go mod tidy && go test ./... && go run . run experiment.yaml\n",
		program.Quote(out))
	return nil
}

// ownVersion is the release of Conclave that this program was built with; "" if
// it was none.
func ownVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == program.Core && m.Replace == nil && strings.HasPrefix(m.Version, "v") &&
			!strings.Contains(m.Version, "+") && !strings.HasPrefix(m.Version, "v0.0.0-") {
			return m.Version
		}
	}
	return ""
}

// clone is the absolute path of the clone of Conclave that a folder is in.
func clone(from string) (string, error) {
	start, err := filepath.Abs(from)
	if err != nil {
		return "", fmt.Errorf("new: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module "+program.Core+"\n") {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", usage("new: %s is not in a clone of Conclave; with --module PATH the algorithm "+
				"gets a module of its own", start)
		}
	}
}

// writeScaffold fills in templates, each under the name that stands beside it.
func (s *streams) writeScaffold(a scaffold, dir string, files [][2]string) error {
	for _, f := range files {
		if _, err := os.Stat(filepath.Join(dir, f[1])); err == nil {
			return usage("new: %s exists; remove it, or choose another name", filepath.Join(dir, f[1]))
		}
	}
	for _, f := range files {
		name := f[0] + ".tmpl"
		t, err := template.New(name).Delims("<<", ">>").ParseFS(scaffolds, "scaffold/"+name)
		if err != nil {
			return fmt.Errorf("new: %w", err)
		}
		var text bytes.Buffer
		if err := t.Execute(&text, a); err != nil {
			return fmt.Errorf("new: %w", err)
		}
		b := text.Bytes()
		if filepath.Ext(f[1]) == ".go" {
			if b, err = format.Source(b); err != nil {
				return fmt.Errorf("new: %s: %w", f[0], err)
			}
		}
		if err := s.create(filepath.Join(dir, f[1]), b); err != nil {
			return err
		}
	}
	return nil
}

// create writes a file that is not there yet, and says so.
func (s *streams) create(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("new: %w", err)
	}
	err := files.WriteNew(path, text)
	if errors.Is(err, fs.ErrExist) {
		return usage("new: %s exists; remove it, or choose another name", path)
	}
	if err != nil {
		return fmt.Errorf("new: %w", err)
	}
	fmt.Fprintf(s.err, "wrote %s\n", path)
	return nil
}
