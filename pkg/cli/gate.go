package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answer"
	"github.com/conclave-bench/conclave/internal/commits"
	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/files"
	"github.com/conclave-bench/conclave/internal/proc"
	"github.com/conclave-bench/conclave/internal/program"
	"github.com/conclave-bench/conclave/internal/report/export"
	"github.com/conclave-bench/conclave/internal/transport"
	"github.com/conclave-bench/conclave/pkg/results"
)

// gateFlags are the flags of bench gate.
type gateFlags struct {
	ref, pkg, out string
	turns         int
	judged        compareFlags
}

// What a gate writes into its folder.
const (
	gateMarkdown = "comparison.md"
	gateJUnit    = "junit.xml"
)

func (s *streams) gateCommand() *cobra.Command {
	var f gateFlags
	c := &cobra.Command{
		Use:   "gate --base REF FILE...",
		Short: "Compare the working tree with its base; for pull requests",
		Long: `Build the command of the Go module in this folder twice, as the working tree
has it (head) and as the commit has it at which HEAD left REF (base). Run each
experiment with both, compare the runs as bench compare does, and fail if head
is worse. So a pull request is compared with what it began from, and not with
what others did meanwhile. Uncommitted changes are part of head.

An experiment in simulation runs once with each build. One on real processes
runs in turns, base first in one and head first in the next, with another seed
in each turn: so a machine that grows slower does so for both. FILE is read as
it is now, by both builds; if base refuses that, as it does where head adds an
algorithm, it runs FILE as it was. If it had none, head is judged alone.

DIR always gets ` + gateMarkdown + `, for a comment on the pull request, and
` + gateJUnit + `. If there is no base, or head does not build or breaks a promise,
they say so first. DIR keeps both builds and their runs, and the commands that
reproduce what broke name them.

` + exitHelp("gate", "0", "1", "2", "3", "4", "5", "130, 143"),
		Example: `  bench gate --base origin/main configs/ci.yaml
  bench gate --base HEAD~1 configs/ci.yaml configs/quickstart.yaml --turns 6
  bench gate --base main experiment.yaml --package . --threshold 1%`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case f.ref == "":
				return usage("bench gate: want --base, the branch or commit to compare with, as " +
					"--base origin/main")
			case len(args) == 0:
				return usage("bench gate: want FILE, an experiment, as bench gate --base %s configs/ci.yaml",
					f.ref)
			case f.turns < 1:
				return usage("--turns %d, want 1 or more", f.turns)
			}
			for i, file := range args {
				if strings.HasPrefix(file, "-") { // both builds would take it for an option
					args[i] = "./" + file
				}
			}
			ctx, stop := s.interruptible(context.Background())
			defer stop()
			return s.gate(ctx, &f, args)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.ref, "base", "", "compare with the commit at which HEAD left `REF`")
	flags.StringVar(&f.pkg, "package", "./cmd/bench",
		"build the command in the Go package `PATH`, as seen from this folder")
	flags.StringVar(&f.out, "out", "gate", "write the comparison, the builds and their runs into `DIR`")
	flags.IntVar(&f.turns, "turns", 3, "run experiments on real processes `N` times with each build")
	f.judged.judging(c)
	f.judged.format, f.judged.over = "markdown", "trials"
	return c
}

// A gate holds the working tree against the commit that it began from.
type gate struct {
	*gateFlags
	options    compare.Options
	builder    *commits.Builder
	base, head party
	parts      []export.Part // what does not build, if so, and then the experiments
	code       int
	began      time.Time
}

// A party is one of the two builds.
type party struct {
	name    string // base or head
	title   string // of its commit
	commit  *commits.Commit
	program string // "": it does not build
}

// String is what the party is called in a sentence.
func (c *party) String() string { return c.name + " (" + c.title + ")" }

func (s *streams) gate(ctx context.Context, f *gateFlags, files []string) error {
	g := &gate{gateFlags: f, began: time.Now(), base: party{name: "base", title: f.ref},
		head: party{name: "head", title: "the working tree"}}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return err
	}
	if err := s.hold(ctx, g, files); err != nil {
		g.fault(g.last(), classify(err), err.Error(), "")
	}
	// Whatever happened, a pipeline finds what it shows to people.
	slices.SortStableFunc(g.parts, func(a, b export.Part) int { return passing(a) - passing(b) })
	if err := errors.Join(g.write(), s.tellGate(g)); err != nil || g.code == Good {
		return err
	}
	return exit(g.code)
}

// passing is 0 for a part that does not pass, so that it comes first, and 1 for one that does.
func passing(p export.Part) int {
	if len(p.Faults) > 0 || p.Report != nil && codeOf(p.Report) != Good {
		return 0
	}
	return 1
}

// name finds the two commits.
func (g *gate) name(ctx context.Context, repo *commits.Repo) (err error) {
	if g.head.commit, err = commitCalled(ctx, repo, "HEAD", "HEAD"); err != nil {
		return err
	}
	g.head.title = g.head.commit.Title()
	dirty, err := repo.Uncommitted(ctx)
	if err != nil {
		return err
	}
	if dirty {
		g.head.title += ", with uncommitted changes"
	}
	ref, err := commitCalled(ctx, repo, "--base", g.ref)
	if err != nil {
		return err
	}
	if g.base.commit, err = repo.Fork(ctx, ref, g.head.commit); err != nil {
		return wrongWay(err)
	}
	g.base.title = g.base.commit.Title()
	if !dirty && g.base.commit.Hash == g.head.commit.Hash {
		return usage("--base %s: HEAD, %s, is part of it, and nothing has changed since: there is "+
			"nothing to compare; the commit before is --base HEAD~1", g.ref, g.head.title)
	}
	return nil
}

// hold builds both sides and has them run the experiments.
func (s *streams) hold(ctx context.Context, g *gate, files []string) (err error) {
	if g.options, err = g.judged.options(); err != nil {
		return err
	}
	for _, file := range files { // before it takes time
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return usage("%s: no such file; want an experiment", file)
		}
	}
	repo, err := commits.Open(ctx, ".")
	if err != nil {
		return err
	}
	if err := g.name(ctx, repo); err != nil {
		return err
	}
	if g.builder, err = repo.Builder(g.pkg); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.builder.Close()) }()
	for _, side := range []*party{&g.head, &g.base} { // first what may have just been broken
		s.say("building " + side.String())
		path := filepath.Join(g.out, "bench-"+side.name)
		if runtime.GOOS == "windows" {
			path += ".exe"
		}
		if side == &g.head {
			err = g.builder.BuildHere(ctx, path)
		} else {
			err = g.builder.BuildTo(ctx, side.commit, path)
		}
		cannot := (*commits.UntestableError)(nil)
		switch {
		case errors.As(err, &cannot):
			g.fault(g.pkg, CouldNotRun, side.String()+": "+cannot.Reason, "")
			if side == &g.head {
				return nil
			}
		case err != nil:
			return err
		default:
			side.program = path
		}
	}
	for _, file := range files {
		if err := s.try(ctx, g, file); err != nil {
			return err
		}
	}
	return nil
}

// try has both sides run an experiment, in turns, and compares what they found.
func (s *streams) try(ctx context.Context, g *gate, file string) error {
	g.parts = append(g.parts, export.Part{Name: file})
	plan, err := g.head.plan(ctx, file)
	if ctx.Err() != nil {
		return err
	} else if err != nil {
		g.fault(file, classify(err), err.Error(), "")
		return nil
	}
	turns := 1
	if plan.Transport != transport.Sim.Name {
		turns = g.turns
	}
	files := [2]string{g.before(ctx, file), file} // of the base and of head
	var dirs [2][]string
	for turn := range turns {
		order := []int{0, 1}
		if turn%2 == 1 {
			order = []int{1, 0}
		}
		for _, i := range order {
			side := []*party{&g.base, &g.head}[i]
			if files[i] == "" || len(dirs[i]) < turn { // it could not run before
				continue
			}
			text := fmt.Sprintf("%s runs %s", side.name, file)
			if turns > 1 {
				text += fmt.Sprintf(", turn %d of %d", turn+1, turns)
			}
			s.say(text)
			dir, err := g.run(ctx, side, file, files[i], plan.Seed+uint64(turn))
			if err != nil {
				return err
			}
			if dir != "" {
				dirs[i] = append(dirs[i], dir)
			}
		}
	}
	if len(dirs[0]) == turns && len(dirs[1]) == turns { // otherwise it is said why
		g.compare(file, plan.Name, dirs)
	}
	return nil
}

// planned is what a gate reads of bench plan --json.
type planned struct {
	Name      string `json:"name"`
	Transport string `json:"transport"`
	Seed      uint64 `json:"seed"`
}

// plan is what a side would run of a file.
func (c *party) plan(ctx context.Context, file string) (*planned, error) {
	command := proc.Interruptible(ctx, c.program, "plan", file, "--json")
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.Output()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	plan := &planned{}
	if err = cmp.Or(err, answer.Unmarshal(out, plan)); err == nil {
		return plan, nil
	}
	reason := reasonOf(err, said.String())
	if command.ProcessState != nil && command.ProcessState.ExitCode() == Usage {
		return nil, usage("%s", reason)
	}
	return nil, errors.New(reason)
}

// before is the file that the base runs in place of one: the same, or, if it does not know what that asks
// for, its own of that name. "": none; head is judged alone.
func (g *gate) before(ctx context.Context, file string) string {
	if g.base.program == "" {
		return ""
	}
	_, err := g.base.plan(ctx, file)
	if classify(err) != Usage {
		return file // if it cannot be run, that says so
	}
	p := &g.parts[len(g.parts)-1]
	before := g.builder.File(file)
	if before == "" {
		p.Notes = append(p.Notes, g.base.String()+" does not have this file, and cannot run it as head "+
			"has it: there is nothing to compare, and head is judged alone: "+err.Error())
		return ""
	}
	p.Notes = append(p.Notes, g.base.String()+" runs the file that it has, for it cannot run that of "+
		"head: "+err.Error())
	return before
}

// reasonOf is what a program said before it failed.
func reasonOf(err error, said string) string {
	said = strings.NewReplacer("bench: ", "", "\n  ", " ").Replace(proc.Harmless(said)) // without breaks
	return cmp.Or(strings.TrimSpace(said), err.Error())
}

// A ranReport is what this program reads of what another says of a run.
type ranReport struct {
	Dir        string        `json:"dir"`
	ExitCode   int           `json:"exit_code"`
	Violations []trialReport `json:"violations"`
	Errors     []trialReport `json:"errors"`
	Misses     []missReport  `json:"thresholds_missed"`
	Warnings   []string      `json:"warnings"`
}

// run has a side run an experiment, which is at a path, and returns the folder; "": it could not, which is
// said. What is wrong with head is said; the base is what it is.
func (g *gate) run(ctx context.Context, side *party, file, at string, seed uint64) (string, error) {
	c := proc.Interruptible(ctx, side.program, "run", at, "--out", filepath.Join(g.out, side.name), "--set",
		fmt.Sprintf("seed=%d", seed), "--json", "--quiet", "--progress", "none")
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	ran := &ranReport{}
	if bad := json.Unmarshal(out, ran); bad != nil || ran.Dir == "" {
		g.fault(file, CouldNotRun, side.String()+" does not run it: "+reasonOf(cmp.Or(err, bad, errNoFolder),
			said.String()), "")
		return "", nil
	}
	if side == &g.head {
		g.judge(file, ran)
	}
	if ran.ExitCode == CouldNotRun && len(ran.Errors) == 0 { // it ended before its time
		g.fault(file, CouldNotRun, side.String()+": "+reasonOf(cmp.Or(err, errNoFolder), said.String()), "")
		return "", nil
	}
	return ran.Dir, nil
}

var errNoFolder = errors.New("it names no folder")

// judge says what is wrong with head, whatever the base is.
func (g *gate) judge(file string, ran *ranReport) {
	told := func(code int, list []trialReport) {
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
	told(Violated, ran.Violations)
	told(CouldNotRun, ran.Errors)
	for _, m := range ran.Misses {
		g.fault(file, Missed, m.Text, "")
	}
	if ran.ExitCode == Incomplete {
		g.fault(file, Incomplete, strings.Join(ran.Warnings, "; "), "")
	}
}

// compare compares what both sides found.
func (g *gate) compare(file, name string, dirs [2][]string) {
	var tables [2]*results.Table
	for i, side := range []*party{&g.base, &g.head} {
		path := dirs[i][0]
		var err error
		if len(dirs[i]) > 1 {
			path, err = appended(filepath.Join(g.out, side.name, name+".csv"), dirs[i])
		}
		if err == nil {
			tables[i], err = results.ReadTable(path)
		}
		if err != nil {
			g.fault(file, CouldNotRun, side.String()+": "+err.Error(), "")
			return
		}
	}
	r, err := compare.Compare(tables[0], tables[1], g.options)
	if err != nil {
		err = unknownName(err)
		g.fault(file, classify(err), err.Error(), "")
		return
	}
	if r.New.Started.IsZero() {
		r.New.Started = g.began
	}
	g.parts[len(g.parts)-1].Report = r
	g.raise(codeOf(r))
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
			return "", fmt.Errorf("%s has other columns than %s: the turns cannot be compared together",
				dir, dirs[0])
		default:
			all = append(all, rows...)
		}
	}
	return path, files.Write(path, all)
}

// fault takes down what is wrong, and what it makes of the exit code.
func (g *gate) fault(part string, code int, text, hint string) {
	if len(g.parts) == 0 || g.last() != part {
		g.parts = append(g.parts, export.Part{Name: part})
	}
	kind, _ := verdictOf(code)
	p := &g.parts[len(g.parts)-1]
	p.Faults = append(p.Faults, export.Fault{Kind: cmp.Or(kind, "configuration"), Text: text, Hint: hint,
		Failure: code == Violated || code == Missed})
	g.raise(code)
}

// last is the part that is being looked at.
func (g *gate) last() string {
	if len(g.parts) == 0 {
		return "gate"
	}
	return g.parts[len(g.parts)-1].Name
}

// graver are exit codes, the gravest first; those of interruptions come before.
var graver = []int{CouldNotRun, Usage, Violated, Missed, Incomplete, Good}

// raise makes code the gate's unless that is a graver one.
func (g *gate) raise(code int) {
	if slices.Index(graver, code) < slices.Index(graver, g.code) {
		g.code = code
	}
}

// write writes the comparison for people and for programs.
func (g *gate) write() error {
	var text bytes.Buffer
	fmt.Fprintf(&text, "## Conclave: %s\n\nbase: %s  \nhead: %s\n\n", meaning("gate", g.code),
		console.Markdown(g.base.title), console.Markdown(g.head.title))
	for _, p := range g.parts {
		for _, f := range p.Faults {
			fmt.Fprintf(&text, "- **%s**: %s\n", f.Kind,
				strings.ReplaceAll(console.Markdown(headed(p.Name, f.Text)), "\n", "\n  "))
			if f.Hint != "" {
				fmt.Fprintf(&text, "  `%s`\n", f.Hint)
			}
		}
		for _, n := range p.Notes {
			fmt.Fprintf(&text, "- note: %s\n", console.Markdown(headed(p.Name, n)))
		}
	}
	for _, p := range g.parts {
		if p.Report == nil {
			continue
		}
		fmt.Fprintf(&text, "\n## %s\n\n", console.Markdown(p.Name))
		if err := markdownComparison(&text, p.Report, len(g.options.Metrics) > 0); err != nil {
			return err
		}
	}
	junit, err := export.Gate(g.parts, g.began)
	return errors.Join(err, files.Write(filepath.Join(g.out, gateMarkdown), text.Bytes()),
		files.Write(filepath.Join(g.out, gateJUnit), junit))
}

// tellGate prints the comparison.
func (s *streams) tellGate(g *gate) error {
	w := s.text()
	fmt.Fprintf(w, "base  %s\nhead  %s\n", g.base.title, g.head.title)
	for _, p := range g.parts {
		for _, f := range p.Faults {
			fmt.Fprintf(w, "%s: %s\n", f.Kind, headed(p.Name, f.Text))
			if f.Hint != "" {
				fmt.Fprintf(w, "  reproduce: %s\n", f.Hint)
			}
		}
		for _, n := range p.Notes {
			fmt.Fprintf(w, "note: %s\n", headed(p.Name, n))
		}
		if p.Report != nil {
			sayFailures(p.Report, func(kind, text string) {
				fmt.Fprintf(w, "%s: %s\n", kind, headed(p.Name, text))
			})
		}
	}
	for _, p := range g.parts {
		if p.Report == nil {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", p.Name)
		if err := textComparison(s.out, p.Report, len(g.options.Metrics) > 0); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\ncomparison: %s, %s\n", meaning("gate", g.code),
		filepath.Join(g.out, gateMarkdown), filepath.Join(g.out, gateJUnit))
	return err
}

// headed is what is said of a part, with its name in front.
func headed(name, text string) string {
	if strings.HasPrefix(text, name) {
		return text
	}
	return name + ": " + text
}
