package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/files"
	"github.com/conclave-bench/conclave/internal/proc"
	"github.com/conclave-bench/conclave/internal/program"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/internal/report/diagram"
	"github.com/conclave-bench/conclave/internal/transport"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// diffFlags are the flags of bench diff.
type diffFlags struct {
	trial, events int
	nodes         string
	set           []string
	json          bool
}

func (s *streams) diffCommand() *cobra.Command {
	var f diffFlags
	c := &cobra.Command{
		Use:   "diff A B [FILE]",
		Short: "Find the first message at which two trials part",
		Long: `Simulate one trial twice, and print the first message at which the two part,
what followed, and how each ended. A and B are both of one of these kinds:

  folders of results  trial N of each run
  programs            two builds of bench, as files: trial N of the
                      experiment, or of the folder of results, in FILE
  algorithms          an ID or a name, with parameters as in
                      raft,pre_vote=true, or a set of them as in raft,set=etcd,
                      or a label of FILE: both in the world of trial N of FILE,
                      with its faults and its draws. Without FILE, --nodes and
                      --set describe the world

A folder's trial is that of its trace if it kept one, and is simulated again
otherwise. The code is 0 if all events are the same, down to what messages
hold. Variables of processes are told where they differ, and decide nothing.

` + exitHelp("diff", "0", "1", "2", "4", "130, 143"),
		Example: `  bench diff results/base results/new --trial 3
  bench diff bully bully,t_answer=9ms configs/quickstart.yaml --trial 3
  bench diff bully ring-list --nodes 5 --set network.loss=0.1
  bench diff ./bench-old ./bench-new configs/quickstart.yaml --trial 3`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error { return s.diff(&f, args) },
	}
	flags := c.Flags()
	flags.IntVar(&f.trial, "trial", 0, aTrial)
	flags.IntVar(&f.events, "events", 10, "print `N` events of each side behind the parting")
	flags.StringVar(&f.nodes, "nodes", "", "with `N` processes, without FILE")
	flags.StringArrayVar(&f.set, "set", nil,
		"override a key of the experiment with `KEY=VALUE`, as network.loss=0.05; repeatable")
	flags.BoolVar(&f.json, "json", false, "print the outcome as JSON")
	return c
}

// A side is one of two trials that are compared.
type side struct {
	name string
	replayReport
}

func (s *streams) diff(f *diffFlags, args []string) error {
	if len(args) < 2 || len(args) > 3 {
		return usage("bench diff: %s, want two sides and perhaps FILE, as bench diff raft raft,pre_vote=true",
			report.Plural(len(args), "argument", "arguments"))
	}
	if f.trial < 0 || f.events < 0 {
		return usage("--trial %d --events %d: want no number below 0", f.trial, f.events)
	}
	for _, word := range args[:2] {
		if err := aSide(word); err != nil {
			return err
		}
	}
	kind := kindOfSide(args[0])
	if other := kindOfSide(args[1]); other != kind {
		return usage("bench diff: %s is %s and %s is %s; want two of a kind", args[0], kind, args[1], other)
	}
	if strings.Contains(f.nodes, ",") {
		return usage("--nodes %s: want one number, of the trial's processes", f.nodes)
	}
	if len(args) == 3 && f.nodes != "" {
		return usage("--nodes goes without FILE; beside %s use --set, as --set nodes=5", args[2])
	}
	var sides [2]*side
	var world string
	var err error
	switch {
	case kind == aFolder && len(args) == 3:
		return usage("bench diff: %s and %s are folders of results, which have their experiments; "+
			"leave %s out", args[0], args[1], args[2])
	case kind != anAlgorithm && (len(f.set) > 0 || f.nodes != ""):
		return usage("--set and --nodes are for algorithms; %s is %s", args[0], kind)
	case kind == aFolder:
		sides, err = s.foldersOf(f, args)
		world = fmt.Sprintf("trial %d", f.trial)
	case kind == aProgram && len(args) == 2:
		return usage("bench diff: want what both programs simulate, as bench diff %s %s FILE --trial 3",
			program.Quote(args[0]), program.Quote(args[1]))
	case kind == aProgram:
		sides, world, err = s.programsOf(f, args)
	default:
		sides, world, err = s.rivals(f, args)
	}
	if err != nil {
		return err
	}
	d := newDifference(sides)
	if f.json {
		err = writeJSON(s.out, d.report(f.events))
	} else {
		d.print(s.text(), world, f.events)
	}
	for _, one := range sides {
		if err == nil && one.Status == trace.Failed {
			err = fmt.Errorf("%s: the trial could not be run: %s", one.name, one.Reason)
		}
	}
	if err == nil && d.differ() {
		return exit(Missed)
	}
	return err
}

// The kinds of sides.
const (
	anAlgorithm = "an algorithm"
	aFolder     = "a folder"
	aProgram    = "a program"
)

// kindOfSide is what a word on the command line stands for. What is called as an algorithm is one,
// whatever files there are: ./raft is the file.
func kindOfSide(word string) string {
	name, _, _ := strings.Cut(word, ",")
	info, err := os.Stat(word)
	path := strings.HasPrefix(word, ".") || filepath.IsAbs(word)
	switch {
	case len(named(name)) > 0, err != nil && !path:
		return anAlgorithm
	case err == nil && info.IsDir():
		return aFolder
	}
	return aProgram // or there is none, which starting it tells
}

// aSide refuses a path at which there is nothing to compare.
func aSide(word string) error {
	name, _, _ := strings.Cut(word, ",")
	problem, _, path := strings.Cut(filepath.ToSlash(name), "/")
	extension := strings.TrimPrefix(filepath.Ext(word), ".")
	info, err := os.Stat(word)
	switch {
	case err == nil && !info.IsDir() && slices.Contains(extensions, extension):
		return usage("bench diff: %s is an experiment, which both sides share: it comes behind them, as in "+
			"bench diff bully ring-list %s --trial 3", word, program.Quote(word))
	case err != nil && path && problem != string(algo.Election) && problem != string(algo.MutualExclusion):
		return usage("bench diff: %s: there is no such folder or program", word)
	}
	return nil
}

// foldersOf are trial N of each of two runs.
func (s *streams) foldersOf(f *diffFlags, args []string) (sides [2]*side, err error) {
	if f.trial == 0 {
		if f.trial, err = onlyTrial(args[0], "diff"); err != nil {
			return sides, err
		}
	}
	for i, path := range args {
		if sides[i], err = s.folderSide(path, f.trial); err != nil {
			return sides, err
		}
	}
	return sides, nil
}

// folderSide is a trial of a run: that of its trace, or simulated again.
func (s *streams) folderSide(path string, number int) (*side, error) {
	e, dir, err := recorded(path)
	if err != nil {
		return nil, err
	}
	if !e.Virtual() {
		return nil, usage("%s ran on real nodes, which never do the same twice; bench diff is for "+
			"simulations", path)
	}
	r := &replay{}
	if r.trial, r.cell, err = trialOf(e, number); err != nil {
		return nil, err
	}
	attempts, err := results.ReadAttempts(dir, number)
	if err != nil {
		return nil, err
	}
	if len(attempts) > 0 {
		r.recorded = &attempts[len(attempts)-1]
	}
	kept, err := results.ReadTrace(dir, number)
	if err == nil && r.recorded != nil {
		return s.keptSide(path, r, kept)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	out, err := s.simulated(path, e, r)
	if err == nil && r.recorded != nil {
		if differs := r.differences(); len(differs) > 0 {
			return nil, fmt.Errorf("trial %d is not what %s has recorded: %s; another build ran it: give "+
				"both builds, as bench diff OLD NEW %s --trial %d", number, dir, strings.Join(differs, "; "),
				program.Quote(path), number)
		}
	}
	return out, err
}

// keptSide is the trial of a trace, which another build may have written.
func (s *streams) keptSide(name string, r *replay, kept *results.Trace) (*side, error) {
	r.rerun, r.kinds = &rerun{records: kept.Records}, kept.Kinds
	out := &side{name: name, replayReport: r.report()}
	old := r.recorded
	out.Status, out.Reason = old.Status, old.Reason
	out.DurationMS, out.Messages = old.Value(metric.Duration), old.Count(metric.Messages)
	out.Metrics = map[string]*float64{}
	for _, m := range old.Values() {
		if !m.Always() {
			out.Metrics[m.Name] = results.Finite(m.Value)
		}
	}
	return out, s.tell(out, r)
}

// simulated is a trial that is simulated now.
func (s *streams) simulated(name string, e *experiment.Experiment, r *replay) (*side, error) {
	alg, err := algo.Lookup(r.trial.Plan.Algorithm)
	if err != nil {
		return nil, err
	}
	if r.rerun, err = s.again(e, r.trial, nil); err != nil {
		return nil, err
	}
	r.kinds = alg.Codec.Kinds()
	out := &side{name: name, replayReport: r.report()}
	return out, s.tell(out, r)
}

// tell adds the events to a side, with what messages hold if that is certain.
func (s *streams) tell(out *side, r *replay) error {
	setup, err := r.trial.Plan.Setup()
	if err != nil {
		return err
	}
	if setup.Nodes*len(r.records) <= mostStates {
		found, err := details(setup, r.records)
		switch {
		case err != nil:
			return err
		case len(found.Differences) == 0:
			r.details = found.Details
		}
	}
	if r.details == nil {
		s.say("note: " + out.name + ": what messages hold is not known, and not compared")
	}
	out.Events = diagram.Events(r.records, r.kinds, r.details)
	return nil
}

// programsOf are trial N of an experiment by each of two builds.
func (s *streams) programsOf(f *diffFlags, args []string) (sides [2]*side, world string, err error) {
	w, err := readWorld(args[2], &f.trial)
	if err != nil {
		return sides, "", err
	}
	ctx, stop := s.interruptible(context.Background())
	defer stop()
	for i, program := range args[:2] {
		if sides[i], err = w.by(ctx, program); err != nil {
			return sides, "", err
		}
		sides[i].name = program
	}
	return sides, w.name, nil
}

// A world is a trial that programs are asked to simulate.
type world struct {
	name    string
	problem algo.Problem
	header  results.Header
	config  []byte // of the experiment: as it stands, so that each program has its own defaults
	trial   int
}

// readWorld reads the experiment of a file, or of a folder of results.
func readWorld(path string, trial *int) (*world, error) {
	e, config, err := worldIn(path, experiment.Overrides{})
	if err != nil {
		return nil, err
	}
	if !e.Virtual() {
		if e, _, err = worldIn(path, experiment.Overrides{Transport: transport.Sim.Name}); err != nil {
			return nil, err
		}
		config = nil
	}
	if config == nil || filepath.Ext(path) == ".toml" {
		if config, err = e.Resolved(); err != nil {
			return nil, err
		}
	}
	if *trial == 0 {
		if *trial = 1; len(e.Trials()) != 1 {
			return nil, usage("%s has %d trials; want --trial N", path, len(e.Trials()))
		}
	}
	if _, _, err := trialOf(e, *trial); err != nil {
		return nil, err
	}
	return &world{name: fmt.Sprintf("trial %d of %s", *trial, path), problem: e.Problem,
		header: runner.Header(e, []string{"bench", "diff"}), config: config, trial: *trial}, nil
}

// worldIn is the experiment in a file or a folder of results, and its text.
func worldIn(path string, over experiment.Overrides) (*experiment.Experiment, []byte, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		dir, _, config, err := results.ReadConfig(path)
		if err != nil {
			return nil, nil, err
		}
		e, err := experiment.LoadContent(filepath.Join(dir, results.ConfigFile), config, over)
		return e, config, err
	}
	e, err := experiment.Load(path, over)
	if err != nil {
		return nil, nil, err
	}
	text, err := files.Read(path, config.MaxSize)
	return e, text, err
}

// by has a program simulate the trial, and returns what it says of it. The program finds a run
// that was killed before its first trial.
func (w *world) by(ctx context.Context, program string) (*side, error) {
	root, err := os.MkdirTemp("", "bench-diff-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root) // in the folder for what may go
	folder, err := results.Create(root, w.header, w.config)
	if err != nil {
		return nil, err
	}
	if err := folder.Close(); err != nil {
		return nil, err
	}
	if program, err = filepath.Abs(program); err != nil {
		return nil, err
	}
	var out, said bytes.Buffer
	c := exec.CommandContext(ctx, program, "replay", folder.Dir(), "--trial", fmt.Sprint(w.trial),
		"--state", "--json")
	c.Stdout, c.Stderr = &out, &said
	c.WaitDelay = time.Second // for what a script has started, once it was killed
	err = c.Run()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	answer := &side{}
	if bad := json.Unmarshal(out.Bytes(), &answer.replayReport); bad != nil || answer.Events == nil {
		text := strings.TrimSpace(proc.Harmless(said.String()))
		return nil, fmt.Errorf("%s does not simulate trial %d: %w%s", program, w.trial,
			cmp.Or(err, bad, errNoEvents), strings.TrimSuffix(": "+text, ": "))
	}
	return answer, nil
}

var errNoEvents = errors.New("it names no events")

// rivals are two algorithms in one world.
func (s *streams) rivals(f *diffFlags, args []string) (sides [2]*side, world string, err error) {
	var e [2]*experiment.Experiment
	var trials [2]*experiment.Trial
	var cells [2]*experiment.Cell
	for i, word := range args[:2] {
		if e[i], trials[i], cells[i], err = f.rival(word, args[2:]); err != nil {
			return sides, "", err
		}
	}
	if cells[0].Plan.Scenario.Kind != cells[1].Plan.Scenario.Kind || e[0].Problem != e[1].Problem {
		return sides, "", usage("bench diff: %s and %s solve different problems, and have no world in common",
			args[0], args[1])
	}
	share(&trials[0].Plan, &trials[1].Plan)
	for i, word := range args[:2] {
		cells[i].Plan.InModel, cells[i].Plan.OutOfModel = trials[i].Plan.InModel, trials[i].Plan.OutOfModel
		if sides[i], err = s.simulated(word, e[i], &replay{trial: trials[i], cell: cells[i]}); err != nil {
			return sides, "", err
		}
	}
	t := trials[0]
	return sides, fmt.Sprintf("%s, %s, repetition %d, seed %d", t.Plan.Scenario.Kind,
		report.Plural(t.Plan.Nodes, "process", "processes"), t.Repetition, t.Seed), nil
}

// share has b take place in the world of a: all but the algorithm and what belongs to it. The label
// decides the algorithm's own draws.
func share(a, b *harness.Plan) {
	settle := max(a.Scenario.Settle, b.Scenario.Settle) // each needs so long at least
	own := *b
	*b = *a
	b.Algorithm, b.Params, b.Shape = own.Algorithm, own.Params, own.Shape
	b.InModel, b.OutOfModel = own.InModel, own.OutOfModel
	a.Scenario.Settle, b.Scenario.Settle = settle, settle
}

// rival is the trial of an algorithm, or of a label of the experiment in FILE.
func (f *diffFlags) rival(word string, file []string) (
	*experiment.Experiment, *experiment.Trial, *experiment.Cell, error) {
	over := experiment.Overrides{Transport: transport.Sim.Name, Set: f.set}
	number, place := max(f.trial, 1), -1
	if len(file) > 0 {
		e, _, err := worldIn(file[0], over)
		if err != nil {
			return nil, nil, nil, err
		}
		if all := e.Trials(); f.trial == 0 && len(all) != 1 {
			return nil, nil, nil, usage("%s has %d trials; want --trial N", file[0], len(all))
		}
		t, cell, err := trialOf(e, number)
		if err != nil {
			return nil, nil, nil, err
		}
		cells := func(label string) (list []*experiment.Cell) {
			for i := range e.Cells {
				if e.Cells[i].Label == label {
					list = append(list, &e.Cells[i])
				}
			}
			return list
		}
		place = slices.Index(cells(cell.Label), cell)
		if own := cells(word); place < len(own) {
			t, _, err := trialOf(e, (own[place].Number-1)*e.Repetitions+t.Repetition)
			return e, t, own[place], err
		}
		number = place*e.Repetitions + t.Repetition
	}
	alg, params, err := contender(word)
	if err != nil {
		return nil, nil, nil, err
	}
	var e *experiment.Experiment
	if len(file) > 0 {
		over.Set = append(slices.Clone(f.set), fmt.Sprintf("algorithms=[{name: %s, params: {%s}}]", alg.ID,
			strings.Join(params, ", ")))
		e, _, err = worldIn(file[0], over)
	} else {
		for _, p := range params {
			over.Set = append(slices.Clone(over.Set), "params."+strings.Replace(p, ": ", "=", 1))
		}
		e, err = experiment.Build([]string{alg.ID}, f.nodes, over)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	t, cell, err := trialOf(e, number)
	return e, t, cell, err
}

// contender reads an algorithm with parameters, as raft,pre_vote=true or raft,set=etcd,pre_vote=false.
func contender(word string) (alg *algo.Algorithm, params []string, err error) {
	depth := 0 // of brackets: a list has commas of its own
	parts := strings.FieldsFunc(word, func(r rune) bool {
		switch r {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		return r == ',' && depth == 0
	})
	if len(parts) == 0 {
		return nil, nil, usage("bench diff: an empty word, want an algorithm, a folder or a program")
	}
	if alg, err = find(parts[0]); err != nil {
		return nil, nil, err
	}
	values := map[string]string{}
	var set *algo.Set
	for _, p := range parts[1:] {
		name, value, ok := strings.Cut(strings.TrimSpace(p), "=")
		switch name = strings.TrimPrefix(name, "params."); {
		case !ok, name == "", value == "":
			return nil, nil, usage("bench diff: %s: %q, want NAME=VALUE, as raft,pre_vote=true", word, p)
		case name != "set":
			values[name] = value
			continue
		}
		if set, err = alg.Spec.SetOf(value); err != nil {
			return nil, nil, usage("bench diff: %s: %v", word, err)
		}
	}
	if set != nil {
		for name, v := range set.Params {
			values[name] = cmp.Or(values[name], fmt.Sprint(v))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		params = append(params, name+": "+values[name])
	}
	return alg, params, nil
}
