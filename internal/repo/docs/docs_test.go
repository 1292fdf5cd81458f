// Package docs executes what the documents say. It is nothing but tests: each
// command in README.md and docs runs, each experiment loads, each link and path
// leads somewhere. docs/ARCHITECTURE.md says how a document steers this.
package docs

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/cli"
	"github.com/conclave-bench/conclave/pkg/experiment"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

// TestMain makes the test binary the command bench where it is called so.
func TestMain(m *testing.M) {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if name == "bench" || len(os.Args) == 2 && strings.HasPrefix(os.Args[1], "__") {
		os.Exit(cli.Bench())
	}
	os.Exit(m.Run())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../../..")
	must(t, err)
	return dir
}

// documents are what is written for people, as far as it exists.
func documents(t testing.TB) (found []document) {
	t.Helper()
	paths := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"}
	must(t, fs.WalkDir(os.DirFS(root(t)), "docs", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".md" {
			paths = append(paths, name)
		}
		return err
	}))
	for _, name := range paths {
		text, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(name)))
		must(t, err)
		found = append(found, parse(name, string(text)))
	}
	return found
}

// A place is a folder like a fresh clone, as far as its commands need one, with bench on the path.
type place struct {
	t     *testing.T
	dir   string
	env   []string
	whole bool // run no experiment with fewer repetitions than it has
}

// newPlace has those folders of the clone that the lines name.
func newPlace(t *testing.T, lines ...string) *place {
	t.Helper()
	p := &place{t: t, dir: t.TempDir()}
	bin := t.TempDir()
	exe, err := os.Executable()
	must(t, err)
	must(t, os.Symlink(exe, filepath.Join(bin, "bench")))
	for _, name := range []string{"configs", "docs", "results"} {
		from := filepath.Join(root(t), name)
		named := func(line string) bool { return strings.Contains(line, name) || strings.Contains(line, "reproduce") }
		if _, err := os.Stat(from); err == nil && (lines == nil || slices.ContainsFunc(lines, named)) {
			must(t, os.CopyFS(filepath.Join(p.dir, name), os.DirFS(from)))
		}
	}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "CONCLAVE_") { // they would override experiments
			p.env = append(p.env, v)
		}
	}
	p.env = append(p.env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return p
}

// limit is how long a command of a document may take.
const limit = 2 * time.Minute

// mostTries is how often a command is run whose real nodes were too late to be judged.
const mostTries = 4

// repetitions are those that a command asks for.
var repetitions = regexp.MustCompile(`(--set repetitions=)\d+`)

// clone is a command as the tests call it.
func clone(line string) string { return strings.ReplaceAll(line, "go run ./cmd/bench", "bench") }

// run executes a command and says whether it ended as the document promises.
func (p *place) run(c shell) {
	p.t.Helper()
	line := clone(c.line)
	few, night := "", slowtest.Night()
	if c.nightly && !night {
		return
	}
	if words := strings.Fields(line); !night && !p.whole && len(words) > 1 && words[1] == "run" {
		// by day: that it runs, not what it measures
		switch {
		case strings.Contains(line, "--resume"):
		case p.onNodes(line):
			if testing.Short() {
				p.t.Skipf("%s starts processes", c.where)
			}
			few = "1"
			line = repetitions.ReplaceAllString(line, "${1}1")
		default:
			few = "2"
		}
	}
	ctx, cancel := context.WithTimeout(p.t.Context(), limit)
	defer cancel()
	var cmd *exec.Cmd
	var out, errs bytes.Buffer
	var err error
	for try := 1; ; try++ {
		cmd = exec.CommandContext(ctx, "sh", "-c", line)
		cmd.Dir, cmd.Env = p.dir, p.env
		cmd.WaitDelay = 10 * time.Second
		if few != "" {
			cmd.Env = append(cmd.Env, "CONCLAVE_REPETITIONS="+few)
		}
		cmd.Stdout, cmd.Stderr = &out, &errs
		err = cmd.Run()
		// A busy machine may run real nodes so late that a trial has nothing to judge: once more.
		if try == mostTries || cmd.ProcessState.ExitCode() != 5 || c.exit == 5 || !p.onNodes(line) ||
			!strings.Contains(strings.Join(strings.Fields(out.String()), " "), "could not be judged") {
			break
		}
		p.t.Logf("%s: %s: once more, since a trial could not be judged", c.where, c.line)
		out.Reset()
		errs.Reset()
	}
	code, used := cmd.ProcessState.ExitCode(), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	p.t.Logf("%s: %v of processor time: %s", c.where, used.Round(time.Millisecond), c.line)
	switch {
	case ctx.Err() != nil:
		p.t.Errorf("%s: %s: not done within %v\n%s%s", c.where, c.line, limit, &errs, &out)
	case code == 5 && c.exit == 0 && strings.Contains(errs.String()+out.String(), "stayed invalid after"):
		p.t.Logf("%s: %s: this machine is too busy\n%s%s", c.where, c.line, &errs, &out)
	case code != c.exit:
		p.t.Errorf("%s: %s: %v, want exit code %d\n%s%s", c.where, c.line, err, c.exit, &errs, &out)
	}
	p.printed(c, &out)
}

// printed compares what a command has printed with what the document says, word by word,
// so that neither has to break its lines as the other does.
func (p *place) printed(c shell, out *bytes.Buffer) {
	p.t.Helper()
	words := func(text string) string {
		return " " + strings.Join(strings.Fields(date.ReplaceAllString(text, "DATE-TIME")), " ") + " "
	}
	rest := words(out.String())
	for part := range strings.SplitSeq(strings.TrimPrefix(c.prints, dots), dots) {
		_, after, found := strings.Cut(rest, words(part))
		if c.prints != "" && !found {
			p.t.Errorf("%s: %s: it does not print, or not in this place,\n%s\nbut\n%s", c.where, c.line, part, out)
			return
		}
		rest = " " + after
	}
}

// date is the end of the name of a folder of results.
var date = regexp.MustCompile(`\b20\d{6}-\d{6}\b`)

// onNodes says whether line runs an experiment on real nodes.
func (p *place) onNodes(line string) bool {
	words := strings.Fields(line)
	if len(words) < 2 || words[1] != "run" || strings.Contains(line, "transport sim") ||
		strings.Contains(line, "transport=sim") || strings.Contains(line, "--resume") {
		return false
	}
	if strings.Contains(line, "--transport nats") {
		return true
	}
	for _, word := range words[2:] {
		if strings.HasSuffix(word, ".yaml") {
			e, err := experiment.Load(filepath.Join(p.dir, word), experiment.Overrides{})
			return err == nil && e.Transport == "nats"
		}
	}
	return true
}

// interpreter is what a command has run an algorithm in another language.
var interpreter = regexp.MustCompile(`--plugin \S+="?(\S+) `)

// need skips the test if an interpreter is missing that a command names, except in CI, which has them all.
func need(t *testing.T, lines []string) {
	t.Helper()
	for _, m := range interpreter.FindAllStringSubmatch(strings.Join(lines, "\n"), -1) {
		if _, err := exec.LookPath(m[1]); err == nil {
			continue
		}
		if os.Getenv("CI") != "" {
			t.Fatalf("there is no %s", m[1])
		}
		t.Skipf("there is no %s", m[1])
	}
}

// What a document does is there for what follows in it.
func TestCommands(t *testing.T) {
	slowtest.Skip(t, "runs every command of the documents")
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	for _, d := range documents(t) {
		if len(d.commands) == 0 {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			var lines []string
			for _, c := range d.commands {
				lines = append(lines, c.line)
			}
			need(t, lines)
			p := newPlace(t, lines...)
			p.whole = d.exact()
			for i, c := range d.commands {
				for _, f := range d.fences {
					if f.file != "" && f.after == i {
						must(t, os.WriteFile(filepath.Join(p.dir, f.file), []byte(f.text), 0o644))
					}
				}
				p.run(c)
			}
		})
	}
}

func TestExperiments(t *testing.T) {
	t.Parallel()
	for _, d := range documents(t) {
		for _, f := range d.fences {
			if f.language != "yaml" || !strings.Contains(f.text, "algorithms:") || f.skipped {
				continue
			}
			path := filepath.Join(t.TempDir(), "experiment.yaml")
			must(t, os.WriteFile(path, []byte(f.text), 0o644))
			if _, err := experiment.Load(path, experiment.Overrides{}); err != nil {
				t.Errorf("%s: %v", f.where, err)
			}
		}
	}
}

// TestConfigs: every file in configs says what it is for, loads, and runs. Those in its
// folders are simulated, and what they show is looked at, in internal/repo/configs and
// scripts/algorithms; the command itself runs them at night, and those that it runs in a
// document.
func TestConfigs(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "runs every file of configs/")
	var files []string
	err := filepath.WalkDir(filepath.Join(root(t), "configs"),
		func(path string, e os.DirEntry, err error) error {
			if err == nil && e.IsDir() && e.Name() == "systems" { // of libraries, which systems/ tests
				return filepath.SkipDir
			}
			if filepath.Ext(path) == ".yaml" && !strings.HasSuffix(path, ".statements.yaml") {
				files = append(files, path)
			}
			return err
		})
	must(t, err)
	if len(files) == 0 {
		t.Fatal("no file in configs")
	}
	documented := map[string]bool{}
	for _, d := range documents(t) {
		for _, c := range d.commands {
			if words := strings.Fields(clone(c.line)); len(words) == 3 && words[1] == "run" {
				documented[words[2]] = true
			}
		}
	}
	for _, file := range files {
		name, err := filepath.Rel(root(t), file)
		must(t, err)
		name = filepath.ToSlash(name)
		t.Run(name, func(t *testing.T) { checkConfig(t, name, documented[name]) })
	}
}

func checkConfig(t *testing.T, name string, documented bool) {
	file := filepath.Join(root(t), name)
	text, err := os.ReadFile(file)
	must(t, err)
	_, about, _ := bytes.Cut(text, []byte("\n")) // the first line is for editors
	if !bytes.HasPrefix(about, []byte("# ")) {
		t.Error("its second line is no comment: say what it shows, and what to look for")
	}
	e, err := experiment.Load(file, experiment.Overrides{})
	must(t, err)
	if len(e.Trials()) == 0 {
		t.Error("it plans no trial")
	}
	few := "repetitions=1" // by day: that it runs, not what it measures
	if slowtest.Night() {
		few = fmt.Sprintf("repetitions=%d", min(e.Repetitions, 2))
	}
	e, err = experiment.Load(file, experiment.Overrides{Set: []string{few}})
	must(t, err)
	_, total := e.Estimate()
	if e.Transport != "sim" || total > 5*time.Second || runtime.GOOS == "windows" ||
		(documented || filepath.Dir(name) != "configs") && !slowtest.Night() {
		return
	}
	t.Parallel()
	p := newPlace(t, "configs")
	p.run(shell{line: "bench run " + name + " --set " + few, where: name})
}
