package compare

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A Request is a comparison of two runs, in the words of the command line.
type Request struct {
	FailIf           []string // conditions
	FailFrom         string   // a file of such; "": none
	Metrics, Ignore  []string
	Where            []string // COLUMN=VALUE
	Alpha            float64
	Threshold, Prove string // shares; "" of what is to be proved: nothing
	Strict, NoFail   bool
	Over             string // "": trials
	Stat             string // a quantile of operations; "": all statistics
	// Distribution compares two algorithms by the distributions of a time; Above is a duration, and Figures
	// the folder of the picture; "": none.
	Distribution   bool
	Above, Figures string
}

// Usual is the request with every default.
func Usual() Request {
	return Request{Alpha: DefaultAlpha, Threshold: view.Share(DefaultThreshold)}
}

// Options reads the request, all of whose mistakes are those of the command line.
func (q *Request) Options() (o Options, err error) {
	deciding := q.Strict || len(q.FailIf) > 0 || q.FailFrom != ""
	if q.NoFail && deciding {
		return o, answer.Mistaken("--no-fail with --strict or --fail-if: one of them")
	}
	if q.Prove != "" && (q.NoFail || deciding) {
		return o, answer.Mistaken("--prove with --no-fail, --strict or --fail-if: one of them")
	}
	o = Options{Alpha: q.Alpha, Metrics: q.Metrics, Ignore: q.Ignore, Strict: q.Strict,
		NoGate: q.NoFail, Stat: q.Stat}
	if q.Over == experiment.OverOperations {
		o.Over = q.Over
	}
	if o.Threshold, err = ReadShare(q.Threshold); err != nil {
		return o, answer.Mistaken("--threshold %s: %v, expected a percentage as 5%%, or a fraction as 0.05",
			q.Threshold, err)
	}
	if q.Prove != "" {
		if o.Prove, err = ReadShare(q.Prove); err != nil || o.Prove == 0 || o.Prove >= 1 {
			return o, answer.Mistaken("--prove %s: expected a percentage between 0%% and 100%%, as "+
				"5%%", q.Prove)
		}
	}
	if !(q.Alpha > 0 && q.Alpha < 1) {
		return o, answer.Mistaken("--alpha %v: expected a probability between 0 and 1, as 0.05", q.Alpha)
	}
	if err := q.tails(); err != nil {
		return o, err
	}
	if _, err := q.bounded(); err != nil {
		return o, err
	}
	for _, text := range q.FailIf {
		c, err := ParseCondition(text)
		if err != nil {
			return o, answer.Mistaken("--fail-if: %v", err)
		}
		o.Conditions = append(o.Conditions, c)
	}
	if q.FailFrom != "" {
		text, err := files.Read(q.FailFrom, files.MiB)
		if err != nil {
			return o, answer.Mistaken("--fail-if-from: %v", err)
		}
		more, err := ReadConditions(bytes.NewReader(text), q.FailFrom)
		if err != nil {
			return o, answer.Mistaken("--fail-if-from: %v", err)
		}
		o.Conditions = append(o.Conditions, more...)
	}
	o.Where, err = view.ReadWhere(q.Where)
	return o, err
}

// tails reads what a comparison over operations understands otherwise, or not.
func (q *Request) tails() error {
	if q.Over != experiment.OverOperations {
		if q.Stat != "" {
			return answer.Mistaken("--stat %s needs --over operations; trials are "+
				"compared in all their values", q.Stat)
		}
		return nil
	}
	if q.Strict {
		return answer.Mistaken("--strict with --over operations: --strict is about counts of trials; leave " +
			"one " +
			"of them out")
	}
	return nil
}

// ReadShare reads a share: 5% or 0.05. A bare 5 probably means 5 %, and is an error rather
// than 500 %.
func ReadShare(text string) (float64, error) {
	a, ok := metric.ReadAmount(text)
	switch {
	case !ok || a.Value < 0 || a.Value > 1e6:
		return 0, errors.New("no share")
	case !a.Percent && a.Value > 1:
		return 0, fmt.Errorf("that is %v times", a.Value)
	}
	return a.Value, nil
}

// Runs compares two runs, at paths.
func Runs(base, new string, q Request) (*answer.Document, error) {
	o, err := q.Options()
	if err != nil {
		return nil, err
	}
	old, fresh, err := readBoth(base, new)
	if err != nil {
		return nil, err
	}
	r, err := Compare(old, fresh, o)
	if err != nil {
		return nil, err
	}
	return r.Document(), nil
}

// readBoth reads the two runs at a time.
func readBoth(base, new string) (a, b *results.Table, err error) {
	done := make(chan error, 1)
	go func() {
		var err error
		b, err = results.ReadTable(new)
		done <- err
	}()
	a, err = results.ReadTable(base)
	return a, b, errors.Join(err, <-done)
}

// Algorithms compares two algorithms of one run, by their labels, in each place of its sweep.
func Algorithms(path, a, b string, q Request) (*answer.Document, error) {
	t, err := two(path, a, b, &q)
	if err != nil {
		return nil, err
	}
	rankings, err := rankings(t, q.Metrics)
	if err != nil {
		return nil, err
	}
	if len(rankings) == 0 {
		return nil, fmt.Errorf("%s: no time by which its algorithms are ranked", path)
	}
	d := answer.New("compare", fmt.Sprintf("Conclave: %s and %s in %s", a, b, path))
	compared := false
	for _, r := range rankings {
		d.Say(r.Head())
		for _, text := range r.Explain(a, b) {
			d.Say("  " + text)
			compared = true
		}
		for _, text := range r.Notes {
			d.Note(text)
		}
	}
	if !compared {
		d.Verdict = nothingCompared
	}
	Table(d, rankings, func(duel *Duel) bool {
		return duel.Fast == a && duel.Slow == b || duel.Fast == b && duel.Slow == a
	})
	return d, nil
}

// two reads a run, which has two algorithms of these labels.
func two(path, a, b string, q *Request) (*results.Table, error) {
	o, err := q.Options()
	if err != nil {
		return nil, err
	}
	t, err := results.ReadTable(path)
	if err != nil {
		return nil, err
	}
	t = view.Filter(t, o.Where)
	labels := []string{}
	for _, c := range t.Cells() {
		if label := view.Label(c.Design); !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	for _, label := range []string{a, b} {
		if !slices.Contains(labels, label) {
			wrong := &metric.NameError{Kind: "algorithm", Name: label, Known: labels}
			return nil, answer.Mistaken("%v", wrong)
		}
	}
	if a == b {
		return nil, answer.Mistaken("%s and %s: expected two different algorithms", a, b)
	}
	return t, nil
}

// rankings are those by the metrics of these names, or else that by the main time.
func rankings(t *results.Table, names []string) (out []*Ranking, err error) {
	if len(names) == 0 {
		if r := Rank(t); r != nil {
			out = append(out, r)
		}
		return out, nil
	}
	for _, name := range names {
		known := t.Known()
		if !slices.Contains(known, name) {
			return nil, answer.Mistaken("--metrics: %v",
				&metric.NameError{Kind: "metric", Name: name, Known: known})
		}
		r := RankBy(t, metric.Named(name))
		if r == nil {
			return nil, answer.Mistaken("--metrics %s: no two algorithms can be ranked by it", name)
		}
		out = append(out, r)
	}
	return out, nil
}
