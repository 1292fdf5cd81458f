package diff

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/internal/commands/catalog"
	"github.com/conclave-bench/conclave/internal/commands/replay"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Request says which two trials are compared, in the words of the command line.
type Request struct {
	Args          []string // A B [FILE]
	Trial, Events int      // Trial 0: the only one
	Nodes         string
	Set           []string
	Again         replay.Again
}

// Answer compares the trials. An error beside the answer says which could not be run.
func (q *Request) Answer(ctx context.Context) (*answer.Document, error) {
	sides, subject, err := q.sides(ctx)
	if err != nil {
		return nil, err
	}
	d := New(sides)
	out := answer.New("diff", fmt.Sprintf("%s against %s", sides[0].Name, sides[1].Name))
	d.Describe(out, "", subject, q.Events)
	for _, one := range sides {
		if one.Status == trace.Failed {
			return out, fmt.Errorf("%s: the trial could not be run: %s", one.Name, one.Reason)
		}
	}
	if d.Differ() {
		out.Exit = answer.Missed
	}
	return out, nil
}

// sides are the two trials, and what their subject is called.
func (q *Request) sides(ctx context.Context) (sides [2]*replay.Side, subject string, err error) {
	args := q.Args
	if len(args) < 2 || len(args) > 3 {
		return sides, "", mistaken("%s, expected two sides and perhaps FILE, as bench diff raft "+
			"raft,pre_vote=true", console.Plural(len(args), "argument", "arguments"))
	}
	if q.Trial < 0 || q.Events < 0 {
		return sides, "", answer.Mistaken("--trial %d --events %d: expected no number below "+
			"0", q.Trial, q.Events)
	}
	for _, word := range args[:2] {
		if err := check(word); err != nil {
			return sides, "", err
		}
	}
	kind, other := kindOf(args[0]), kindOf(args[1])
	switch {
	case other != kind:
		err = mistaken("%s is %s and %s is %s; expected two of a kind", args[0], kind, args[1],
			other)
	case strings.Contains(q.Nodes, ","):
		err = answer.Mistaken("--nodes %s: expected one number, of the trial's processes", q.Nodes)
	case len(args) == 3 && q.Nodes != "":
		err = answer.Mistaken("--nodes goes without FILE; beside %s use --set, as --set nodes=5", args[2])
	case kind == aFolder && len(args) == 3:
		err = mistaken("%s and %s are folders of results, which have their experiments; "+
			"leave %s out", args[0], args[1], args[2])
	case kind != anAlgorithm && (len(q.Set) > 0 || q.Nodes != ""):
		err = answer.Mistaken("--set and --nodes are for algorithms; %s is %s", args[0], kind)
	case kind == aFolder:
		if q.Trial == 0 {
			q.Trial, err = replay.Only(args[0], "diff")
		}
		for i, path := range args {
			if err == nil {
				sides[i], err = replay.Folder(path, q.Trial, q.Again)
			}
		}
		subject = fmt.Sprintf("trial %d", q.Trial)
	case kind == aProgram && len(args) == 2:
		err = mistaken("expected what both programs simulate, as bench diff %s %s FILE --trial 3",
			program.Quote(args[0]), program.Quote(args[1]))
	case kind == aProgram:
		return q.programs(ctx)
	default:
		return q.rivals()
	}
	return sides, subject, err
}

// programs are trial N of an experiment by each of two builds.
func (q *Request) programs(ctx context.Context) (sides [2]*replay.Side, subject string, err error) {
	w, err := ReadSubject(q.Args[2], &q.Trial)
	if err != nil {
		return sides, "", err
	}
	for i, program := range q.Args[:2] {
		if sides[i], err = w.By(ctx, program); err != nil {
			return sides, "", err
		}
		sides[i].Name = program
	}
	return sides, w.Name, nil
}

func mistaken(format string, args ...any) error {
	return answer.Mistaken("bench diff: "+format, args...)
}

// The kinds of sides.
const (
	anAlgorithm = "an algorithm"
	aFolder     = "a folder"
	aProgram    = "a program"
)

// kindOf is what a word on the command line stands for. What is called as an algorithm is one,
// whatever files there are: ./raft is the file.
func kindOf(word string) string {
	name, _, _ := strings.Cut(word, ",")
	info, err := os.Stat(word)
	path := strings.HasPrefix(word, ".") || filepath.IsAbs(word)
	switch {
	case len(catalog.Named(name)) > 0, err != nil && !path:
		return anAlgorithm
	case err == nil && info.IsDir():
		return aFolder
	}
	return aProgram // or there is none, which starting it tells
}

// check refuses a path at which there is nothing to compare.
func check(word string) error {
	name, _, _ := strings.Cut(word, ",")
	problem, _, path := strings.Cut(filepath.ToSlash(name), "/")
	extension := strings.TrimPrefix(filepath.Ext(word), ".")
	info, err := os.Stat(word)
	switch {
	case err == nil && !info.IsDir() && slices.Contains(experiment.Extensions(), extension):
		return mistaken("%s is an experiment, which both sides share: it comes behind them, as "+
			"in bench diff bully ring-list %s --trial 3", word, program.Quote(word))
	case err != nil && path && problem != string(algo.Election) && problem != string(algo.MutualExclusion):
		return mistaken("%s: there is no such folder or program", word)
	}
	return nil
}

// rivals are two algorithms on one trial.
func (q *Request) rivals() (sides [2]*replay.Side, subject string, err error) {
	args := q.Args
	var trials [2]*replay.Trial
	for i, word := range args[:2] {
		if trials[i], err = q.rival(word, args[2:]); err != nil {
			return sides, "", err
		}
	}
	a, b := trials[0], trials[1]
	if a.Design().Plan.Scenario.Kind() != b.Design().Plan.Scenario.Kind() || a.Of.Problem != b.Of.Problem {
		return sides, "", mistaken("%s and %s solve different problems, and have no trial in common",
			args[0], args[1])
	}
	share(&a.Plan, &b.Plan)
	for i, t := range trials {
		own := &t.Design().Plan
		own.InModel, own.OutOfModel = t.Plan.InModel, t.Plan.OutOfModel
		if sides[i], err = replay.Simulated(args[i], t, q.Again); err != nil {
			return sides, "", err
		}
	}
	return sides, fmt.Sprintf("%s, %s, repetition %d, seed %d", a.Plan.Scenario.Kind(),
		console.Plural(a.Plan.Nodes, "process", "processes"), a.Repetition, a.Seed), nil
}

// share gives b the plan of a: all but the algorithm and what belongs to it. The label
// decides the algorithm's own draws.
func share(a, b *harness.Plan) {
	settle := max(a.Scenario.Settle(), b.Scenario.Settle()) // each needs so long at least
	own := *b
	*b = *a
	b.Algorithm, b.Params, b.Shape = own.Algorithm, own.Params, own.Shape
	b.InModel, b.OutOfModel = own.InModel, own.OutOfModel
	if settle > 0 {
		a.Scenario.Set("settle", settle)
		b.Scenario.Set("settle", settle)
	}
}

// rival is the trial of an algorithm, or of a label of the experiment in FILE.
func (q *Request) rival(word string, file []string) (*replay.Trial, error) {
	over := experiment.Overrides{Transport: transport.Sim.Name, Set: q.Set}
	number, place := max(q.Trial, 1), -1
	if len(file) > 0 {
		e, _, err := experimentIn(file[0], over)
		if err != nil {
			return nil, err
		}
		if all := e.Trials(); q.Trial == 0 && len(all) != 1 {
			return nil, answer.Mistaken("%s has %d trials; add --trial N", file[0], len(all))
		}
		t, err := replay.TrialOf(e, number)
		if err != nil {
			return nil, err
		}
		cells := func(label string) (list []*experiment.Cell) {
			for i := range e.Cells {
				if e.Cells[i].Label == label {
					list = append(list, &e.Cells[i])
				}
			}
			return list
		}
		place = slices.Index(cells(t.Design().Label), t.Design())
		if own := cells(word); place < len(own) {
			return replay.TrialOf(e, (own[place].Number-1)*e.Repetitions+t.Repetition)
		}
		number = place*e.Repetitions + t.Repetition
	}
	alg, params, err := contender(word)
	if err != nil {
		return nil, err
	}
	var e *experiment.Experiment
	if len(file) > 0 {
		over.Set = append(slices.Clone(q.Set), fmt.Sprintf("algorithms=[{name: %s, params: {%s}}]", alg.ID,
			strings.Join(params, ", ")))
		e, _, err = experimentIn(file[0], over)
	} else {
		for _, p := range params {
			over.Set = append(slices.Clone(over.Set), "params."+strings.Replace(p, ": ", "=", 1))
		}
		e, err = experiment.Build([]string{alg.ID}, q.Nodes, over)
	}
	if err != nil {
		return nil, err
	}
	return replay.TrialOf(e, number)
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
		return nil, nil, mistaken("an empty word, expected an algorithm, a folder or a program")
	}
	if alg, err = catalog.Simulated(parts[0]); err != nil {
		return nil, nil, err
	}
	values := map[string]string{}
	var set *algo.Set
	for _, p := range parts[1:] {
		name, value, ok := strings.Cut(strings.TrimSpace(p), "=")
		switch name = strings.TrimPrefix(name, "params."); {
		case !ok, name == "", value == "":
			return nil, nil, mistaken("%s: %q, expected NAME=VALUE, as raft,pre_vote=true", word, p)
		case name != "set":
			values[name] = value
			continue
		}
		if set, err = alg.Spec.SetOf(value); err != nil {
			return nil, nil, mistaken("%s: %v", word, err)
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
