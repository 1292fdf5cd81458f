// Package gate holds the working tree of a repository against the commit that it began from: it builds
// the program of both, has both run experiments, and compares what they found.
package gate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/base/commits"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/results"
)

// What a gate writes into its folder.
const (
	Markdown = "comparison.md"
	JUnit    = "junit.xml"
)

// A Request says what is compared with what.
type Request struct {
	Base    string   // head is compared with the merge base of HEAD and this
	Package string   // of the command
	Out     string   // a folder
	Turns   int      // of experiments on real processes
	Files   []string // the experiments
	Judged  compare.Request
	Say     func(string)          // what happens
	Meaning func(code int) string // of an exit code
}

// A gate is one that is being held.
type gate struct {
	*Request
	options    compare.Options
	builder    *commits.Builder
	base, head party
	parts      []*part // what does not build, if so, and then the experiments
	code       int
	began      time.Time
}

// A part is what was found about one experiment.
type part struct {
	name     string
	faults   []answer.Note
	notes    []string
	compared *answer.Document // nil: there was nothing to compare
}

// passes says whether nothing is wrong with the part.
func (p *part) passes() bool {
	return len(p.faults) == 0 && (p.compared == nil || p.compared.Exit == answer.Good)
}

// Run holds the gate. What goes wrong is a part of the answer, which it also writes into the folder:
// whatever happened, a pipeline finds what it shows to people.
func Run(ctx context.Context, q Request) (*answer.Document, error) {
	g := &gate{Request: &q, began: time.Now(), base: party{name: "base", title: q.Base},
		head: party{name: "head", title: "the working tree"}}
	if err := os.MkdirAll(q.Out, 0o755); err != nil {
		return nil, err
	}
	if err := g.hold(ctx); err != nil {
		g.fail(g.last(), err)
	}
	d := g.document()
	for name, format := range map[string]string{Markdown: "markdown", JUnit: "junit"} {
		text, err := d.In(format)
		if err = errors.Join(err, files.Write(filepath.Join(q.Out, name), text)); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// find finds the two commits.
func (g *gate) find(ctx context.Context, repo *commits.Repo) (err error) {
	if g.head.commit, err = repo.Find(ctx, "HEAD"); err != nil {
		return fmt.Errorf("HEAD: %w", err)
	}
	g.head.title = g.head.commit.Title()
	dirty, err := repo.Uncommitted(ctx)
	if err != nil {
		return err
	}
	if dirty {
		g.head.title += ", with uncommitted changes"
	}
	ref, err := repo.Find(ctx, g.Base)
	if err != nil {
		return fmt.Errorf("--base: %w", err)
	}
	if g.base.commit, err = repo.Fork(ctx, ref, g.head.commit); err != nil {
		return err
	}
	g.base.title = g.base.commit.Title()
	if !dirty && g.base.commit.Hash == g.head.commit.Hash {
		return answer.Mistaken("--base %s: it contains HEAD, %s, and there are no uncommitted changes: "+
			"there is "+
			"nothing to compare; --base HEAD~1 names the commit before", g.Base, g.head.title)
	}
	return nil
}

// hold builds both sides and has them run the experiments.
func (g *gate) hold(ctx context.Context) (err error) {
	if g.options, err = g.Judged.Options(); err != nil {
		return err
	}
	for _, file := range g.Files { // before it takes time
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return answer.Mistaken("%s: no such file; expected an experiment", file)
		}
	}
	repo, err := commits.Open(ctx, ".")
	if err != nil {
		return err
	}
	if err := g.find(ctx, repo); err != nil {
		return err
	}
	if g.builder, err = repo.Builder(g.Package); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.builder.Close()) }()
	for _, side := range []*party{&g.head, &g.base} { // first what may have just been broken
		g.Say("building " + side.String())
		path := filepath.Join(g.Out, "bench-"+side.name)
		if runtime.GOOS == "windows" {
			path += ".exe"
		}
		if side == &g.head {
			err = g.builder.BuildHere(ctx, path)
		} else {
			err = g.builder.BuildTo(ctx, side.commit, path)
			side.folder = g.builder.Folder()
		}
		cannot := (*commits.UntestableError)(nil)
		switch {
		case errors.As(err, &cannot):
			g.fault(g.Package, answer.CouldNotRun, side.String()+": "+cannot.Reason, "")
			if side == &g.head {
				return nil
			}
		case err != nil:
			return err
		default:
			side.program = path
		}
	}
	for _, file := range g.Files {
		if err := g.try(ctx, file); err != nil {
			return err
		}
	}
	return nil
}

// try has both sides run an experiment, in turns, and compares what they found.
func (g *gate) try(ctx context.Context, file string) error {
	g.parts = append(g.parts, &part{name: file})
	planned, err := g.head.plan(ctx, file)
	if ctx.Err() != nil {
		return err
	} else if err != nil {
		g.fail(file, err)
		return nil
	}
	turns := 1
	if planned.Transport != transport.Sim.Name {
		turns = g.Turns
	}
	at := [2]string{g.before(ctx, file), file} // of the base and of head
	var dirs [2][]string
	for turn := range turns {
		order := []int{0, 1}
		if turn%2 == 1 {
			order = []int{1, 0}
		}
		for _, i := range order {
			side := []*party{&g.base, &g.head}[i]
			if at[i] == "" || len(dirs[i]) < turn { // it could not run before
				continue
			}
			text := fmt.Sprintf("%s runs %s", side.name, file)
			if turns > 1 {
				text += fmt.Sprintf(", turn %d of %d", turn+1, turns)
			}
			g.Say(text)
			dir, err := g.run(ctx, side, file, at[i], planned.Seed+uint64(turn))
			if err != nil {
				return err
			}
			if dir != "" {
				dirs[i] = append(dirs[i], dir)
			}
		}
	}
	if len(dirs[0]) == turns && len(dirs[1]) == turns { // otherwise it is said why
		if err := g.compare(planned.Name, dirs); err != nil {
			g.fail(file, err)
		}
	}
	return nil
}

// before is the file that the base runs in place of one: the same, or, if it does not know what that
// asks for, its own of that name. "": none; head is judged alone.
func (g *gate) before(ctx context.Context, file string) string {
	if g.base.program == "" {
		return ""
	}
	_, err := g.base.plan(ctx, file)
	if answer.ExitOf(err) != answer.Usage {
		return file // if it cannot be run, that says so
	}
	before, text := g.builder.File(file), " runs its own version of the file, since it cannot run that of "+
		"head: "
	if before == "" {
		text = " does not have this file, and cannot run that of head: there is nothing to compare, " +
			"and only head is judged: "
	}
	p := g.parts[len(g.parts)-1]
	p.notes = append(p.notes, g.base.String()+text+err.Error())
	return before
}

// run has a side run an experiment, which is at a path, and returns the folder; "": it could not, which
// is said. What is wrong with head is said; the base is what it is.
func (g *gate) run(ctx context.Context, side *party, file, at string, seed uint64) (string, error) {
	ran := &run{}
	said, err := side.ask(ctx, ran, "run", seen(at), "--out", seen(filepath.Join(g.Out, side.name)), "--set",
		fmt.Sprintf("seed=%d", seed), "--json", "--quiet", "--progress", "none")
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	err = cmp.Or(err, errors.New("it names no folder"))
	if ran.Dir == "" {
		g.fault(file, answer.CouldNotRun, side.String()+" does not run it: "+reasonOf(err, said), "")
		return "", nil
	}
	if side == &g.head {
		g.judge(file, ran)
	}
	if ran.Exit == answer.CouldNotRun && len(ran.Errors) == 0 { // it ended before its time
		g.fault(file, answer.CouldNotRun, side.String()+": "+reasonOf(err, said), "")
		return "", nil
	}
	return ran.Dir, nil
}

// judge says what is wrong with head, whatever the base is.
func (g *gate) judge(file string, ran *run) {
	told := func(code int, list []trial) {
		count := map[string]int{}
		for _, t := range list {
			count[t.Algorithm]++
		}
		for _, t := range list { // the first of each algorithm
			n := count[t.Algorithm]
			if n == 0 {
				continue
			}
			count[t.Algorithm] = 0
			text := t.Algorithm + ": " + t.Reason
			if n > 1 {
				text += fmt.Sprintf(", and so on in %d trials", n)
				if len(list) == mostTold {
					text += " or more"
				}
			}
			g.fault(file, code, text, fmt.Sprintf("%s replay %s --trial %d", program.Quote(g.head.program),
				program.Quote(ran.Dir), t.Trial))
		}
	}
	told(answer.Violated, ran.Violations)
	told(answer.CouldNotRun, ran.Errors)
	for _, m := range ran.Misses {
		g.fault(file, answer.Missed, m.Text, "")
	}
	if ran.Exit == answer.Incomplete {
		g.fault(file, answer.Incomplete, strings.Join(ran.warnings(), "; "), "")
	}
}

// compare compares what both sides found.
func (g *gate) compare(name string, dirs [2][]string) error {
	var tables [2]*results.Table
	for i, side := range []*party{&g.base, &g.head} {
		path := dirs[i][0]
		var err error
		if len(dirs[i]) > 1 {
			path, err = appended(filepath.Join(g.Out, side.name, name+".csv"), dirs[i])
		}
		if err == nil {
			tables[i], err = results.ReadTable(path)
		}
		if err != nil {
			return fmt.Errorf("%v: %w", side, err)
		}
	}
	r, err := compare.Compare(tables[0], tables[1], g.options)
	if err != nil {
		return err
	}
	d := r.Document()
	g.parts[len(g.parts)-1].compared = d
	g.raise(d.Exit)
	return nil
}

// appended writes the trials of several runs into one file. Each has a seed of its own, so that the
// trials of a pair are of one turn.
func appended(path string, dirs []string) (string, error) {
	var all, columns []byte
	for _, dir := range dirs {
		text, err := os.ReadFile(filepath.Join(dir, results.TrialsFile))
		if err != nil {
			return "", err
		}
		header, rows, _ := bytes.Cut(text, []byte("\n"))
		switch {
		case columns == nil:
			columns, all = header, text
		case !bytes.Equal(header, columns):
			return "", fmt.Errorf("the columns of %s differ from those of %s: the turns cannot be compared "+
				"together",
				dir, dirs[0])
		default:
			all = append(all, rows...)
		}
	}
	return path, files.Write(path, all)
}

// kinds are what a fault is called that leads to an exit code; of a signal it is an interruption.
var kinds = map[int]string{answer.CouldNotRun: "could not run", answer.Usage: "configuration",
	answer.Violated: "violation", answer.Missed: "threshold missed", answer.Incomplete: "incomplete"}

// fail takes down an error.
func (g *gate) fail(part string, err error) { g.fault(part, answer.ExitOf(err), err.Error(), "") }

// fault takes down what is wrong, and what it makes of the exit code.
func (g *gate) fault(name string, code int, text, hint string) {
	if len(g.parts) == 0 || g.last() != name {
		g.parts = append(g.parts, &part{name: name})
	}
	p := g.parts[len(g.parts)-1]
	p.faults = append(p.faults, answer.Note{Kind: cmp.Or(kinds[code], "interrupted"), Text: text, Hint: hint})
	g.raise(code)
}

// last is the part that is being looked at.
func (g *gate) last() string {
	if len(g.parts) == 0 {
		return "gate"
	}
	return g.parts[len(g.parts)-1].name
}

// graver are exit codes, the gravest first; those of interruptions come before.
var graver = []int{answer.CouldNotRun, answer.Usage, answer.Violated, answer.Missed, answer.Incomplete,
	answer.Good}

// raise makes code the gate's unless that is a graver one.
func (g *gate) raise(code int) {
	if slices.Index(graver, code) < slices.Index(graver, g.code) {
		g.code = code
	}
}
