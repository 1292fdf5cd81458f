package scaffold

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/kits"
)

// A language is one whose programs can be algorithms.
type language struct {
	Name, Title string // on the command line, and in a text
	Runs        string // the command that runs a program
	Ext         string // of a program
}

var languages = []language{
	{"python", "Python", "python3", ".py"},
	{"javascript", "JavaScript", "node", ".mjs"},
}

// Languages are the names of those that have a skeleton, beside Go.
func Languages() (names []string) {
	for _, l := range languages {
		names = append(names, l.Name)
	}
	return names
}

// In has the algorithm be a program in another language.
func (a *Scaffold) In(name string) error {
	i := slices.Index(Languages(), name)
	if i < 0 {
		return answer.Mistaken("new: there is no skeleton in %q yet; there is one in %s", name,
			strings.Join(Languages(), " and "))
	}
	a.Language = &languages[i]
	if a.stem() == "conclave" {
		return answer.Mistaken("new: conclave is the name of the kit; choose another name for %s", a.ID)
	}
	return nil
}

// Course is an exercise: a lock to write in a language. It reports to out, and to next what to do then.
func Course(args []string, language string, out, next io.Writer) (*Scaffold, error) {
	if len(args) != 1 || args[0] == "" {
		return nil, answer.Mistaken("bench new course: %q, expected one folder", strings.Join(args, " "))
	}
	a, err := Algorithm([]string{"mutex/my-lock"}, "", out, next)
	if err != nil {
		return nil, err
	}
	return a, a.In(language)
}

// stem is the name of the program, without its extension.
func (a *Scaffold) stem() string { return strings.ReplaceAll(a.Name, "-", "_") }

// File is the program.
func (a *Scaffold) File() string { return a.stem() + a.Language.Ext }

// Class is the name of its class.
func (a *Scaffold) Class() string {
	var name strings.Builder
	for word := range strings.SplitSeq(a.Name, "-") {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}

// Plugin is the flag that names the program to bench.
func (a *Scaffold) Plugin() string {
	return fmt.Sprintf(`--plugin %s="%s %s"`, a.ID, a.Language.Runs, a.File())
}

// Release is the version of bench that a workflow installs.
func (a *Scaffold) Release() string {
	if info, ok := debug.ReadBuildInfo(); ok && installed(info) != "" {
		return installed(info)
	}
	return "main"
}

// program is what every program has: the kit, the skeleton, and an experiment.
func (a *Scaffold) program() ([][2]string, error) {
	kit, err := fs.Glob(kits.Files, a.Language.Name+"/*")
	if err != nil {
		return nil, fmt.Errorf("new: %w", err)
	}
	list := [][2]string{{"algorithm" + a.Language.Ext, a.File()}, {"experiment.yaml", "experiment.yaml"}}
	for _, name := range kit {
		list = append(list, [2]string{fromKit + name, path.Base(name)})
	}
	return list, nil
}

// WriteProgram writes the skeleton of a program into a folder, with the kit that it needs.
func (a *Scaffold) WriteProgram(dir string) (*answer.Document, error) {
	list, err := a.program()
	if err != nil {
		return nil, err
	}
	return a.writeProgram(dir, list)
}

// WriteCourse writes the folder of a course: besides, the exercise, a lock with a mistake, and the grading.
func (a *Scaffold) WriteCourse(dir string) (*answer.Document, error) {
	list, err := a.program()
	if err != nil {
		return nil, err
	}
	return a.writeProgram(dir, append(list, [][2]string{
		{"course.md", "README.md"},
		{"broken_lock" + a.Language.Ext, "broken_lock" + a.Language.Ext},
		{"grade.yml", filepath.Join(".github", "workflows", "grade.yml")},
		{"course.gitignore", ".gitignore"},
	}...))
}

func (a *Scaffold) writeProgram(dir string, list [][2]string) (*answer.Document, error) {
	if err := a.write(dir, list); err != nil {
		return nil, err
	}
	enter := ""
	if filepath.Clean(dir) != "." {
		enter = "cd " + program.Quote(dir) + " && "
	}
	fmt.Fprintf(a.next, "now: write the rules in %s, then %sbench verify %s %s\n", a.File(), enter, a.ID,
		a.Plugin())
	return a.document(), nil
}
