package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/internal/report/diagram"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A replay is one trial that was run again.
type replay struct {
	trial *experiment.Trial
	cell  *experiment.Cell
	*rerun
	kinds    []string       // of its messages
	recorded *results.Trial // nil: the run has none
	fed      int            // events of real nodes that were fed to the algorithm; 0: it was run again
	details  []harness.Detail
	differs  []string // from what is recorded
}

// replayFlags are the flags of bench replay, but for the number of the trial.
type replayFlags struct {
	events, state, json, live bool
	host                      string
}

func (s *streams) replayCommand() *cobra.Command {
	var number int
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay DIR",
		Short: "Run one trial again",
		Long: `Run one trial again from the configuration in its folder, and print its
outcome. A simulated trial is the same to the last event. For a trial on real
nodes, the recorded order of messages and timers is fed to the same algorithm,
step by step, and it must send the same messages. That needs a trace (trace:
all). A difference from the record is an error (exit code 1). With --live,
real nodes run it again with the same plan and the same random draws.

--events prints what happened, a line for each event. --state adds what each
message holds and which variables of its process each event changed, in
simulation and on real nodes alike.`,
		Example: `  bench replay results/quickstart/latest --trial 3
  bench replay results/quickstart/latest --trial 3 --events
  bench replay results/quickstart/latest --trial 3 --events --state
  bench replay results/quickstart/latest --trial 3 --live
  bench replay results/quickstart/latest --trial 3 --json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || number < 0 {
				return usage("bench replay: want a folder of results and --trial N, as " +
					"bench replay results/quickstart/latest --trial 3")
			}
			if number == 0 {
				var err error
				if number, err = onlyTrial(args[0], "replay"); err != nil {
					return err
				}
			}
			return s.replay(args[0], number, &f)
		},
	}
	c.Flags().IntVar(&number, "trial", 0, aTrial)
	c.Flags().BoolVar(&f.events, "events", false, "print every event")
	c.Flags().BoolVar(&f.state, "state", false,
		"with each event, what its message holds and what it changed")
	c.Flags().BoolVar(&f.live, "live", false, "run it on real nodes again, if it was")
	c.Flags().StringVar(&f.host, "host", "",
		"with --live: start the nodes on another machine with `COMMAND`")
	c.Flags().BoolVar(&f.json, "json", false, "print the outcome, and what --events prints, as JSON")
	return c
}

func (s *streams) replay(path string, number int, f *replayFlags) error {
	e, dir, err := recorded(path)
	if err != nil {
		return err
	}
	if f.host != "" && !f.live {
		return usage("--host without --live: nothing runs on nodes; add --live, or leave it out")
	}
	if err := checkHost(e, f.host); err != nil {
		return err
	}
	f.events = f.events || f.state
	r := &replay{}
	if r.trial, r.cell, err = trialOf(e, number); err != nil {
		return err
	}
	setup, err := r.trial.Plan.Setup()
	if err != nil {
		return err
	}
	r.kinds = setup.Alg.Codec.Kinds()
	if !e.Virtual() && !f.live {
		err = r.retrace(setup, dir, f.state)
	} else {
		r.rerun, err = s.again(e, r.trial, strings.Fields(f.host))
	}
	if err != nil {
		return err
	}
	if f.state && r.details == nil && r.verdict.Status == trace.Failed && r.end.Events == 0 {
		s.say("note: its states are not known: its process died")
	} else if f.state && r.details == nil {
		found, err := details(setup, r.records)
		if err != nil {
			return fmt.Errorf("trial %d: its states cannot be told: %w", number, err)
		}
		if r.details = found.Details; len(found.Differences) > 0 {
			s.say("note: the states may be wrong: " + found.Differences[0])
		}
	}
	attempts, err := results.ReadAttempts(dir, number)
	if err != nil {
		return err
	}
	if len(attempts) > 0 {
		r.recorded = &attempts[len(attempts)-1]
		if e.Virtual() {
			r.differs = r.differences()
		}
	}
	if f.json {
		out := r.report()
		if f.events {
			out.Events = diagram.Events(r.records, r.kinds, r.details)
		}
		if err := writeJSON(s.out, out); err != nil {
			return err
		}
	} else {
		s.printReplay(r, e.Virtual(), f.events)
	}
	switch {
	case len(r.differs) > 0:
		return fmt.Errorf("trial %d is not what %s has recorded: %s; that was another program, "+
			"or something is not deterministic", number, dir, strings.Join(r.differs, "; "))
	case r.verdict.Status == trace.Failed:
		return fmt.Errorf("trial %d could not be run: %s", number, r.verdict.Reason)
	case r.verdict.Status == trace.Violated && r.verdict.Within(&r.cell.Plan):
		return exit(Violated)
	}
	return nil
}

// retrace feeds what reached the real nodes of the trial to the same algorithm.
func (r *replay) retrace(setup *harness.Setup, dir string, state bool) error {
	kept, err := results.ReadTrace(dir, r.trial.Number)
	if errors.Is(err, fs.ErrNotExist) {
		return usage("trial %d kept no trace to retrace: run the experiment with --set trace=all, "+
			"or run the trial on real nodes again with --live", r.trial.Number)
	}
	if err != nil {
		return err
	}
	r.rerun = &rerun{records: kept.Records}
	feed := harness.Feed
	if state {
		feed = harness.Details
	}
	found, err := retraced(setup, kept.Records, feed)
	if err != nil {
		return fmt.Errorf("trial %d: it cannot be retraced: %w", r.trial.Number, err)
	}
	r.details, r.fed, r.differs = found.Details, found.Fed, found.Differences
	return nil
}

// differences says in what the replay is not what was recorded.
func (r *replay) differences() (out []string) {
	old, v := r.recorded, &r.verdict
	text := func(name, was, is string) {
		if was != is {
			out = append(out, fmt.Sprintf("%s was %s and is %s", name, cmp.Or(was, "none"),
				cmp.Or(is, "none")))
		}
	}
	text("status", string(old.Status), string(v.Status))
	if v.Status == trace.Failed && out != nil {
		return []string{fmt.Sprintf("%s (%s: %s)", out[0], r.cell.Algorithm, v.Reason)}
	}
	figures := v.Figures(r.end.At)
	for _, was := range old.Values() {
		now := math.NaN()
		i := slices.IndexFunc(figures, func(n metric.Value) bool { return n.Name == was.Name })
		switch {
		case i >= 0:
			now = figures[i].Value
		case was.Always(): // the machine tells it
			continue
		}
		text(was.Name, results.Number(was.Value), results.Number(now))
	}
	return out
}

func (s *streams) printReplay(r *replay, virtual, events bool) {
	w := s.text()
	if events {
		_ = diagram.WriteEvents(w, r.records, r.kinds, nil, r.details) // the error stays in w until the end
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "trial %d: cell %d, %s, %d nodes, %s, repetition %d, seed %d\n", r.trial.Number,
		r.trial.Cell, r.cell.Algorithm, r.cell.Plan.Nodes, r.cell.Plan.Scenario.Kind,
		r.trial.Repetition, r.trial.Seed)
	if r.fed > 0 {
		r.printRetraced(w)
		return
	}
	fmt.Fprintf(w, "status: %s, after %v\n", r.verdict.Status,
		r.end.At.Round(time.Microsecond))
	if r.verdict.Reason != "" && len(r.verdict.Violations) == 0 {
		fmt.Fprintf(w, "reason: %s\n", r.verdict.Reason)
	}
	if plan := &r.cell.Plan; !r.verdict.Within(plan) {
		fmt.Fprintf(w, "in_model=false: %s\n", strings.Join(r.verdict.Outside(plan), "; "))
	}
	for _, text := range r.verdict.Violations {
		fmt.Fprintf(w, "violation: %s: %s\n", r.cell.Algorithm, text)
	}
	if r.verdict.Status != trace.Failed { // what did not run as it should has no figures
		r.printMetrics(w)
	}
	switch {
	case r.recorded == nil:
		fmt.Fprintln(w, "not recorded: the run, or its cell, ended before this trial")
	case !virtual:
		fmt.Fprintf(w, "recorded: status %s, %d messages; real nodes are never quite the same\n",
			r.recorded.Status, r.recorded.Count(metric.Messages))
	case len(r.differs) == 0:
		fmt.Fprintln(w, "same as recorded")
	}
}

func (r *replay) printMetrics(w io.Writer) {
	t := &console.Table{}
	t.Column("metric", false)
	t.Column("value", true)
	t.Add("messages", fmt.Sprint(r.verdict.Totals.Sent))
	for _, m := range r.verdict.Metrics {
		if !math.IsNaN(m.Value) {
			t.Add(m.Name, compare.Number(m.Value))
		}
	}
	t.Write(w)
}

// printRetraced says what came of feeding the algorithm what reached real nodes.
func (r *replay) printRetraced(w io.Writer) {
	if r.recorded != nil {
		fmt.Fprintf(w, "recorded: status %s, %d messages\n", r.recorded.Status,
			r.recorded.Count(metric.Messages))
	}
	fmt.Fprintf(w, "retraced: %s that reached its processes, in the recorded order: ",
		report.Plural(r.fed, "event", "events"))
	if len(r.differs) == 0 {
		fmt.Fprintln(w, "the algorithm asks for the same")
		return
	}
	fmt.Fprintf(w, "%s\n", report.Plural(len(r.differs), "difference", "differences"))
	for _, text := range r.differs {
		fmt.Fprintf(w, "  %s\n", text)
	}
}

type replayReport struct {
	Schema     int                 `json:"schema_version"`
	Trial      int                 `json:"trial"`
	Cell       int                 `json:"cell"`
	Seed       uint64              `json:"seed"`
	Design     map[string]string   `json:"design"`
	InModel    bool                `json:"in_model"`
	Status     trace.Status        `json:"status"`
	Reason     string              `json:"reason"`
	Violations []string            `json:"violations"`
	DurationMS float64             `json:"duration_ms"`
	Messages   int64               `json:"messages"`
	Metrics    map[string]*float64 `json:"metrics"`
	Recorded   trace.Status        `json:"recorded_status"`
	Retraced   int                 `json:"retraced_events,omitempty"`
	Differs    []string            `json:"differs"`
	Events     []diagram.Event     `json:"events,omitempty"`
}

func (r *replay) report() replayReport {
	out := replayReport{
		Schema: 1, Trial: r.trial.Number, Cell: r.trial.Cell, Seed: r.trial.Seed,
		Design: metric.ByName(r.cell.Design), InModel: r.verdict.Within(&r.cell.Plan),
		Status: r.verdict.Status, Reason: r.verdict.Reason,
		Violations: append([]string{}, r.verdict.Violations...),
		DurationMS: float64(r.end.At) / 1e6, Messages: r.verdict.Totals.Sent,
		Metrics: map[string]*float64{}, Differs: append([]string{}, r.differs...),
	}
	for _, m := range r.verdict.Metrics {
		out.Metrics[m.Name] = results.Finite(m.Value)
	}
	if r.recorded != nil {
		out.Recorded = r.recorded.Status
		if r.fed > 0 { // it was not judged again
			out.Status, out.Reason = r.recorded.Status, r.recorded.Reason
			out.DurationMS, out.Messages = r.recorded.Value(metric.Duration),
				r.recorded.Count(metric.Messages)
		}
	}
	out.Retraced = r.fed
	return out
}
