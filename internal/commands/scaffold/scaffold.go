// Package scaffold writes the skeleton of a new algorithm, into a clone of Conclave, into a Go module of its
// author's own, or as a program in another language, also for a course.
package scaffold

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"go/format"
	gotoken "go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/kits"
)

//go:embed templates/*.tmpl
var templates embed.FS

// A Scaffold is what the templates of a new algorithm or module need to know.
type Scaffold struct {
	ID, Name, Package string
	Problem           string // as in experiment files: election or mutex
	Core              string // Conclave's module
	Module            string // the author's own; "": the algorithm goes into Conclave
	Year              int
	Language          *language // of a program; nil: Go
	conclave
	from string // where it runs

	out   io.Writer // what was done, for people
	next  io.Writer // what to do next
	files []answer.Block
}

// modulePath is the path of a module, as go.mod may have it.
var modulePath = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$`)

var newID = regexp.MustCompile(`^(election|mutex)/([a-z][a-z0-9]*(?:-[a-z0-9]+)*)$`)

// Module is a module of its author's own, at a path. It reports to out.
func Module(args []string, out io.Writer) (*Scaffold, error) {
	if len(args) != 1 || !modulePath.MatchString(args[0]) {
		return nil, answer.Mistaken("bench new module: %q, expected one module path, as example.com/own",
			strings.Join(args, " "))
	}
	return &Scaffold{Problem: "election", Core: program.Core, Module: args[0], from: ".", out: out,
		next: out}, nil
}

// Algorithm is an algorithm, in Conclave or in a module. It reports to out, and to next what to do then.
func Algorithm(args []string, module string, out, next io.Writer) (*Scaffold, error) {
	if len(args) != 1 || !newID.MatchString(args[0]) {
		return nil, answer.Mistaken("bench new algorithm: %q, expected one ID, as election/my-election or "+
			"mutex/peterson", strings.Join(args, " "))
	}
	m := newID.FindStringSubmatch(args[0])
	name := strings.ReplaceAll(m[2], "-", "")
	if !gotoken.IsIdentifier(name) || name == "main" {
		return nil,
			answer.Mistaken("bench new algorithm: %q, and %s cannot be the name of a Go package; choose "+
				"another, as %s-1", args[0], name, args[0])
	}
	return &Scaffold{ID: args[0], Problem: m[1], Name: m[2], Package: name, Core: program.Core,
		Module: module, Year: time.Now().Year(), from: ".", out: out, next: next}, nil
}

// WriteAlgorithm writes an algorithm into the clone of Conclave around the working folder.
func (a *Scaffold) WriteAlgorithm(bare bool) (*answer.Document, error) {
	root, err := clone(".")
	if err != nil {
		return nil, err
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
			return nil, err
		}
	}
	err = a.write(root, [][2]string{
		{a.Problem + ".go", filepath.Join(folder, a.Package+".go")},
		{a.Problem + "_messages.go", filepath.Join(folder, "messages.go")},
		{a.Problem + "_test.go", filepath.Join(folder, a.Package+"_test.go")},
		{a.Problem + "_figure.yaml", filepath.Join("configs", "figures", a.Name+".yaml")},
		{a.Problem + "_break.yaml", filepath.Join("configs", "breaks", a.Name+".yaml")},
	})
	if err != nil {
		return nil, err
	}
	for i, l := range lists {
		if err := os.WriteFile(filepath.Join(root, l.path), []byte(texts[i]), 0o644); err != nil {
			return nil, fmt.Errorf("new: %w", err)
		}
		fmt.Fprintf(a.out, "changed %s\n", l.path)
		a.files = append(a.files, answer.File{Name: "changed", Path: l.path})
	}
	if !bare {
		if err := a.generate(root); err != nil {
			return nil, err
		}
	}
	fmt.Fprintf(a.next, `now: go test ./%s
     then write its rules, its paper and its claims; "make generate" after each change of the Spec
`, filepath.ToSlash(folder))
	return a.document(), nil
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
		return "", answer.Mistaken("new: %s is in %s already", strings.TrimSpace(line), path)
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
func (a *Scaffold) generate(root string) error {
	fmt.Fprintln(a.out, "bringing the generated files up to date: a minute or two")
	c := exec.Command("sh", filepath.Join("scripts", "generate.sh"))
	c.Dir, c.Stdout, c.Stderr = root, a.out, a.out
	if err := c.Run(); err != nil {
		return fmt.Errorf("new: scripts/generate.sh: %w", err)
	}
	return nil
}

// WriteModule writes a module of its author's own, with a command, and an algorithm if there is one.
// A clone of Conclave that is named takes the place of a version.
func (a *Scaffold) WriteModule(out, clone string) (*answer.Document, error) {
	if err := a.require(clone); err != nil {
		return nil, err
	}
	list := [][2]string{
		{"go.mod", "go.mod"},
		{"gitignore", ".gitignore"},
		{"experiment.yaml", "experiment.yaml"},
		{"gate.yml", filepath.Join(".github", "workflows", "gate.yml")},
	}
	if a.Sums != "" {
		list = append(list, [2]string{"go.sum", "go.sum"})
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
	if err := a.write(out, list); err != nil {
		return nil, err
	}
	fmt.Fprintf(a.out, "now: cd %s && go mod tidy && go test ./... && go run . run experiment.yaml\n",
		program.Quote(out))
	return a.document(), nil
}

// document says what was written.
func (a *Scaffold) document() *answer.Document {
	d := answer.New("new", "The skeleton of "+cmp.Or(a.ID, a.Module))
	d.Add(a.files...)
	return d
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
			return "",
				answer.Mistaken("new: %s is not in a clone of Conclave; with --module PATH the algorithm "+
					"gets a module of its own", start)
		}
	}
}

// fromKit marks what is copied from the kits, as it is.
const fromKit = "kits/"

// text is what a template comes to, or a file of a kit.
func (a *Scaffold) text(source string) ([]byte, error) {
	if name, ok := strings.CutPrefix(source, fromKit); ok {
		return kits.Files.ReadFile(name)
	}
	name := source + ".tmpl"
	t, err := template.New(name).Delims("<<", ">>").ParseFS(templates, "templates/"+name)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := t.Execute(&text, a); err != nil {
		return nil, err
	}
	if filepath.Ext(source) == ".go" {
		return format.Source(text.Bytes())
	}
	return text.Bytes(), nil
}

// write writes texts into files, by name.
func (a *Scaffold) write(dir string, list [][2]string) error {
	for _, f := range list {
		if _, err := os.Stat(filepath.Join(dir, f[1])); err == nil {
			return answer.Mistaken("new: %s exists; remove it, or choose another name", filepath.Join(dir,
				f[1]))
		}
	}
	for _, f := range list {
		b, err := a.text(f[0])
		if err != nil {
			return fmt.Errorf("new: %s: %w", f[0], err)
		}
		path := filepath.Join(dir, f[1])
		err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), files.Create(path, b))
		if err != nil {
			return fmt.Errorf("new: %w", err)
		}
		fmt.Fprintf(a.out, "wrote %s\n", path)
		a.files = append(a.files, answer.File{Name: "wrote", Path: path})
	}
	return nil
}
