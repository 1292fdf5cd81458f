package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/commits"
	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/proc"
	"github.com/conclave-bench/conclave/internal/report"
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
it is now, by both builds.

DIR gets ` + gateMarkdown + `, for a comment on the pull request, and ` + gateJUnit + `, also if
head does not build or breaks a promise: then they say so first. It keeps both
builds and their runs, and the commands that reproduce what broke name them.

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
	base, head party
	parts      []export.Part // what does not build, if so, and then the experiments
	code       int
	began      time.Time
}

// A party is one of the two builds.
type party struct {
	name    string // base or head
	title   string // of its commit
	program string // "": it does not build
}

// String is what the party is called in a sentence.
func (c *party) String() string { return c.name + " (" + c.title + ")" }

func (s *streams) gate(ctx context.Context, f *gateFlags, files []string) error {
	g := &gate{gateFlags: f, began: time.Now()}
	var err error
	if g.options, err = f.judged.options(); err != nil {
		return err
	}
	repo, err := commits.Open(ctx, ".")
	if err != nil {
		return err
	}
	from, err := g.name(ctx, repo)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return err
	}
	err = s.hold(ctx, g, repo, from, files)
	if err != nil {
		g.fault(g.last(), classify(err), err.Error(), "")
	}
	// Whatever happened, a pipeline finds what it shows to people.
	if err := errors.Join(err, g.write(), s.tellGate(g)); err != nil || g.code == Good {
		return err
	}
	return exit(g.code)
}

// name finds the two commits, and returns that of the base.
func (g *gate) name(ctx context.Context, repo *commits.Repo) (*commits.Commit, error) {
	head, err := commitCalled(ctx, repo, "HEAD", "HEAD")
	if err != nil {
		return nil, err
	}
	ref, err := commitCalled(ctx, repo, "--base", g.ref)
	if err != nil {
		return nil, err
	}
	base, err := repo.Fork(ctx, ref, head)
	if err != nil {
		return nil, wrongWay(err)
	}
	dirty, err := repo.Uncommitted(ctx)
	if err != nil {
		return nil, err
	}
	g.base = party{name: "base", title: base.Title()}
	g.head = party{name: "head", title: head.Title()}
	switch {
	case dirty:
		g.head.title += ", with uncommitted changes"
	case base.Hash == head.Hash:
		return nil, usage("--base %s: HEAD, %s, is part of it, and nothing has changed since: there is "+
			"nothing to compare; the commit before is --base HEAD~1", g.ref, head.Title())
	}
	return base, nil
}

// hold builds both sides and has them run the experiments.
func (s *streams) hold(ctx context.Context, g *gate, repo *commits.Repo, from *commits.Commit,
	files []string) (err error) {
	builder, err := repo.Builder(g.pkg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, builder.Close()) }()
	for _, side := range []*party{&g.head, &g.base} { // first what may have just been broken
		s.say("building " + side.String())
		program := filepath.Join(g.out, "bench-"+side.name)
		if runtime.GOOS == "windows" {
			program += ".exe"
		}
		if side == &g.head {
			err = builder.BuildHere(ctx, program)
		} else {
			err = builder.BuildTo(ctx, from, program)
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
			side.program = program
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
	plan, err := g.plan(ctx, file)
	if err != nil || plan == nil {
		return err
	}
	turns := 1
	if plan.Transport != transport.Sim.Name {
		turns = g.turns
	}
	var dirs [2][]string // of the base and of head
	for turn := range turns {
		order := []int{0, 1}
		if turn%2 == 1 {
			order = []int{1, 0}
		}
		for _, i := range order {
			side := []*party{&g.base, &g.head}[i]
			if side.program == "" || len(dirs[i]) < turn { // it could not run before
				continue
			}
			text := fmt.Sprintf("%s runs %s", side.name, file)
			if turns > 1 {
				text += fmt.Sprintf(", turn %d of %d", turn+1, turns)
			}
			s.say(text)
			dir, err := g.run(ctx, side, file, plan.Seed+uint64(turn))
			if err != nil {
				return err
			}
			if dir != "" {
				dirs[i] = append(dirs[i], dir)
			}
		}
	}
	if len(dirs[0]) < turns || len(dirs[1]) < turns { // it is said why
		return nil
	}
	return g.compare(file, plan.Name, dirs)
}

// plan is what head would run of a file; nil: nothing, and that is said.
func (g *gate) plan(ctx context.Context, file string) (*planReport, error) {
	c := running(ctx, g.head.program, "plan", file, "--json")
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	plan := &planReport{}
	if bad := cmp.Or(err, json.Unmarshal(out, plan)); bad != nil {
		code := CouldNotRun
		if c.ProcessState != nil && c.ProcessState.ExitCode() == Usage {
			code = Usage
		}
		g.fault(file, code, reasonOf(bad, said.String()), "")
		return nil, nil
	}
	return plan, nil
}

// reasonOf is what a program said before it failed.
func reasonOf(err error, said string) string {
	return cmp.Or(strings.TrimSpace(strings.ReplaceAll(proc.Harmless(said), "bench: ", "")), err.Error())
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

// run has a side run an experiment, and returns the folder; "": it could not, which is said. What is
// wrong with head is said; the base is what it is.
func (g *gate) run(ctx context.Context, side *party, file string, seed uint64) (string, error) {
	c := running(ctx, side.program, "run", file, "--out", filepath.Join(g.out, side.name), "--set",
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
	replay := func(t trialReport) string {
		return fmt.Sprintf("%s replay %s --trial %d", report.Quote(g.head.program), report.Quote(ran.Dir),
			t.Trial)
	}
	for _, t := range ran.Violations {
		g.fault(file, Violated, t.Algorithm+": "+t.Reason, replay(t))
	}
	for _, t := range ran.Errors {
		g.fault(file, CouldNotRun, fmt.Sprintf("trial %d of %s could not be run: %s", t.Trial, t.Algorithm,
			t.Reason), replay(t))
	}
	for _, m := range ran.Misses {
		g.fault(file, Missed, m.Text, "")
	}
	if ran.ExitCode == Incomplete {
		g.fault(file, Incomplete, strings.Join(ran.Warnings, "; "), "")
	}
}

// compare compares what both sides found.
func (g *gate) compare(file, name string, dirs [2][]string) error {
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
			return nil
		}
	}
	r, err := compare.Compare(tables[0], tables[1], g.options)
	if err != nil {
		return unknownName(err)
	}
	if r.New.Started.IsZero() {
		r.New.Started = g.began
	}
	g.parts[len(g.parts)-1].Report = r
	g.raise(codeOf(r))
	return nil
}

// appended writes the trials of several runs into one file. Each has a seed of its own, so that the
// trials of a pair are of one turn.
func appended(path string, dirs []string) (string, error) {
	var all []byte
	for i, dir := range dirs {
		text, err := os.ReadFile(filepath.Join(dir, results.TrialsFile))
		if err != nil {
			return "", err
		}
		if i > 0 {
			_, text, _ = bytes.Cut(text, []byte("\n"))
		}
		all = append(all, text...)
	}
	return path, writeWhole(path, all)
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
		return g.pkg
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
		escapeMarkdown(g.base.title), escapeMarkdown(g.head.title))
	for _, p := range g.parts {
		for _, f := range p.Faults {
			fmt.Fprintf(&text, "- **%s**: %s: %s\n", f.Kind, escapeMarkdown(p.Name),
				strings.ReplaceAll(escapeMarkdown(f.Text), "\n", "\n  "))
			if f.Hint != "" {
				fmt.Fprintf(&text, "  `%s`\n", f.Hint)
			}
		}
	}
	for _, p := range g.parts {
		if p.Report == nil {
			continue
		}
		fmt.Fprintf(&text, "\n## %s\n\n", escapeMarkdown(p.Name))
		if err := markdownComparison(&text, p.Report, len(g.options.Metrics) > 0); err != nil {
			return err
		}
	}
	junit, err := export.Gate(g.parts, g.began)
	return errors.Join(err, writeWhole(filepath.Join(g.out, gateMarkdown), text.Bytes()),
		writeWhole(filepath.Join(g.out, gateJUnit), junit))
}

// tellGate prints the comparison.
func (s *streams) tellGate(g *gate) error {
	w := s.text()
	fmt.Fprintf(w, "base  %s\nhead  %s\n", g.base.title, g.head.title)
	for _, p := range g.parts {
		for _, f := range p.Faults {
			fmt.Fprintf(w, "%s: %s: %s\n", f.Kind, p.Name, f.Text)
			if f.Hint != "" {
				fmt.Fprintf(w, "  reproduce: %s\n", f.Hint)
			}
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
	for _, p := range g.parts {
		if p.Report != nil {
			s.sayFailures(p.Report)
		}
	}
	return err
}
