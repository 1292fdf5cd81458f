package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// tailFlags are those that a comparison over operations understands otherwise, or not.
func (f *compareFlags) tails() error {
	if f.over == experiment.Overs[0] {
		if f.stat != "" {
			return usage("--stat %s: means something with --over operations alone; trials are compared in "+
				"all their values", f.stat)
		}
		return nil
	}
	if f.stat == "" {
		f.stat = compare.DefaultTail
	}
	if err := oneOf("stat", f.stat, stats.QuantileNames()); err != nil {
		return err
	}
	switch {
	case f.strict:
		return usage("--strict with --over operations: it is about counts of trials; leave one of them out")
	case f.prove != "":
		return usage("--prove with --over operations: it is about trials; read the interval of " +
			"the change, or leave one of them out")
	case !slices.Contains([]string{"table", "json"}, f.format):
		return usage("--format %s with --over operations: want one of table, json", f.format)
	}
	return nil
}

// compareTails compares two runs over operations.
func (s *streams) compareTails(f *compareFlags, old, fresh *results.Table, o compare.Options) error {
	names := slices.Clone(o.Metrics)
	for _, c := range o.Conditions {
		names = append(names, c.Metric)
	}
	for _, name := range names {
		if m := metric.Named(name); m != nil {
			if why := m.NotOfOperations(cmp.Or(m.Problem, algo.Election)); why != "" {
				return usage("--over operations: %s", why)
			}
		}
	}
	r, err := compare.CompareTails(old, fresh, f.stat, o)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if f.format == "json" {
		err = writeJSON(&text, tailDocument(r))
	} else {
		printTails(&text, r)
	}
	if err == nil {
		err = s.output(f.out, text.Bytes())
	}
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	for _, text := range r.Failures {
		s.say("fails: " + text)
	}
	if len(r.Failures) > 0 {
		return exit(Missed)
	}
	return nil
}

func printTails(w io.Writer, r *compare.TailReport) {
	w = &console.Folding{W: w}
	fmt.Fprintf(w, "base: %s\nnew:  %s\n", sideText(r.Base), sideText(r.New))
	t := &console.Table{}
	for _, head := range strings.Split("cell,figure,base,new,change,verdict,operations,design effect", ",") {
		t.Column(head, !slices.Contains([]string{"cell", "figure", "verdict"}, head))
	}
	t.Keyed(2)
	paired, legend := 0, &compare.Legend{}
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Paired {
			paired++
		}
		t.Add(row.Cell, row.Stat+" of "+row.Metric, legend.Tail(&row.Base), legend.Tail(&row.New),
			row.ChangeText(), string(row.Verdict), besides(tailSize(&row.Base), tailSize(&row.New)),
			besides(compare.Number(row.Base.Effect), compare.Number(row.New.Effect)))
	}
	fmt.Fprintln(w)
	t.Write(w)
	fmt.Fprintf(w, "\nfigures: %s\n"+
		"change: of that quantile [%.4g %% interval, by a two-level bootstrap of trials and operations]\n"+
		"worse, better: the interval leaves out 0, and the change is more than %s\n", compare.TailNote,
		100*r.Confidence, percentOf(r.Threshold))
	for _, text := range legend.Notes() {
		fmt.Fprintln(w, text)
	}
	if paired > 0 {
		fmt.Fprintf(w, "trials of equal seeds were drawn together (rows: %d)\n", paired)
	}
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Why != "" {
			fmt.Fprintf(w, "n/a: %s: %v\n", row.Cell, row)
		}
	}
	for _, text := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", text)
	}
}

// tailSize is how many operations in how many trials.
func tailSize(t *stats.Tail) string {
	text := fmt.Sprintf("%d in %d trials", t.N, t.Groups)
	if t.Censored > 0 {
		text += fmt.Sprintf(" (%d pending)", t.Censored)
	}
	return text
}

// besides are two texts, once if they are one.
func besides(a, b string) string {
	if a == b {
		return a
	}
	return strings.Join([]string{a, b}, ", ")
}

// The machine's form of a comparison over operations.
type (
	tailsReport struct {
		Schema     int       `json:"schema_version"`
		Over       string    `json:"over"`
		Confidence float64   `json:"confidence"` // of each interval of a change
		Threshold  float64   `json:"threshold"`
		Rows       []tailRow `json:"rows"`
		Notes      []string  `json:"notes"`
		Failures   []string  `json:"failures"`
		Passed     bool      `json:"passed"`
	}
	tailRow struct {
		Design     map[string]string `json:"design"`
		Metric     string            `json:"metric"`
		Stat       string            `json:"stat"`
		Base       tailSide          `json:"base"`
		New        tailSide          `json:"new"`
		Change     *float64          `json:"change"`
		ChangeLow  *float64          `json:"change_low"`
		ChangeHigh *float64          `json:"change_high"`
		Paired     bool              `json:"paired"`
		Verdict    compare.Verdict   `json:"verdict"`
		Why        string            `json:"why,omitempty"`
		Failed     bool              `json:"failed"`
	}
	tailSide struct {
		Operations int      `json:"operations"`
		Pending    int      `json:"pending"`
		Trials     int      `json:"trials"`
		Value      *float64 `json:"value"`
		CILow      *float64 `json:"ci_low"`
		CIHigh     *float64 `json:"ci_high"`
		Effect     *float64 `json:"design_effect"`
		Doubt      float64  `json:"clock_doubt_ms,omitempty"` // what clocks can be wrong by, if that is more
	}
)

func tailDocument(r *compare.TailReport) tailsReport {
	finite := results.Finite
	side := func(t *stats.Tail) tailSide {
		return tailSide{t.N, t.Censored, t.Groups, finite(t.Value), finite(t.Low), finite(t.High),
			finite(t.Effect), t.Doubtful()}
	}
	d := tailsReport{Schema: 1, Over: experiment.OverOperations, Confidence: r.Confidence,
		Threshold: r.Threshold, Rows: []tailRow{}, Notes: append([]string{}, r.Notes...),
		Failures: append([]string{}, r.Failures...), Passed: len(r.Failures) == 0}
	for i := range r.Rows {
		row := &r.Rows[i]
		d.Rows = append(d.Rows, tailRow{metric.ByName(row.Design), row.Metric, row.Stat, side(&row.Base),
			side(&row.New), finite(row.Change), finite(row.Low), finite(row.High), row.Paired, row.Verdict,
			row.Why, row.Failure != ""})
	}
	return d
}
