package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// The network for which defaults are shown, and the sizes for which bounds are.
const (
	shownLatency = 2 * time.Millisecond
	shownHold    = time.Millisecond // elections have none
	shownNodes   = 5
)

func shown(n int) algo.Network {
	return algo.Network{Nodes: n, Latency: shownLatency, Hold: shownHold, Bounded: true}
}

var shownSizes = []int{3, 5, 9}

type description struct {
	Schema    int            `json:"schema_version"`
	ID        string         `json:"id"`
	Problem   algo.Problem   `json:"problem"`
	Summary   string         `json:"summary"`
	Paper     paperReport    `json:"paper"`
	Messages  []string       `json:"messages"`
	Auxiliary []string       `json:"auxiliary_messages"`
	Token     string         `json:"token"` // the kind of message that hands it on
	Perpetual bool           `json:"perpetual"`
	Periods   []string       `json:"periods"` // parameters: how often a leader repeats something
	Needs     []property     `json:"needs"`
	Survives  []property     `json:"survives"`
	Breaks    string         `json:"breaks"`
	Promises  []string       `json:"promises"`
	Claims    []claimReport  `json:"claims"`
	Params    []paramReport  `json:"params"`
	Sets      []setReport    `json:"sets"`
	Defaults  map[string]any `json:"defaults_for"`
}

type paperReport struct {
	Authors    string `json:"authors"`
	Title      string `json:"title"`
	Venue      string `json:"venue"`
	Year       int    `json:"year"`
	DOI        string `json:"doi"`
	Deviations string `json:"deviations"`
}

// A setReport is values of parameters by one name.
type setReport struct {
	Name    string            `json:"name"`
	Doc     string            `json:"doc"`
	Params  map[string]string `json:"params"`
	Source  string            `json:"source,omitempty"`  // which version, and where it says so
	Differs string            `json:"differs,omitempty"` // what the system does otherwise
	Demands string            `json:"demands,omitempty"` // of its settings
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type claimReport struct {
	Metric string       `json:"metric"`
	Load   string       `json:"load"`
	Text   string       `json:"text"`
	Source algo.Source  `json:"source"`
	Bounds []claimBound `json:"bounds"`
}

type claimBound struct {
	Nodes int     `json:"nodes"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

type paramReport struct {
	Name       string   `json:"name"`
	Type       string   `json:"type"`
	Unit       string   `json:"unit"`
	Choices    []string `json:"choices"`
	Default    string   `json:"default"`
	Min        string   `json:"min"`
	Max        string   `json:"max"`
	PerProcess bool     `json:"per_process"`
	Process    bool     `json:"process"`
	Tuned      bool     `json:"tuned"` // by bench tune
	Doc        string   `json:"doc"`
}

func (s *streams) describeCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "describe ID",
		Short: "Describe an algorithm",
		Long: `Show what an algorithm declares about itself: its paper and how it departs
from it, what it needs, survives, promises and claims, its messages and
parameters. ID is as in "bench list". The name alone is enough if no other
algorithm has it.`,
		Example: `  bench describe election/bully
  bench describe naimi-trehel
  bench describe mutex/naimi-trehel --json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("bench describe: %d arguments, want one ID (\"bench list\" shows all)",
					len(args))
			}
			a, err := find(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(s.out, describe(a))
			}
			s.printDescription(describe(a))
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return c
}

func describe(a *algo.Algorithm) description {
	p := &a.Spec.Paper
	d := description{
		Schema: 1, ID: a.ID, Problem: a.Problem, Summary: a.Spec.Summary,
		Paper:    paperReport{p.Authors, p.Title, p.Venue, p.Year, p.DOI, p.Deviations},
		Messages: kinds(a.Spec.Messages), Auxiliary: kinds(a.Spec.Auxiliary),
		Token:     a.Spec.Token,
		Perpetual: a.Spec.Perpetual, Needs: needs(&a.Spec.Needs), Survives: survives(&a.Spec),
		Breaks: a.Spec.Breaks, Promises: promises(a), Claims: claims(a.Spec.Claims), Params: params(&a.Spec),
		Defaults: map[string]any{"nodes": shownNodes, "latency": shownLatency.String()},
		Periods:  []string{},
		Sets:     []setReport{},
	}
	for _, set := range a.Spec.Sets {
		r := setReport{Name: set.Name, Doc: set.Doc, Params: map[string]string{}, Source: set.Source,
			Differs: set.Differs, Demands: set.Demands}
		for name, v := range set.Params {
			r.Params[name] = fmt.Sprint(v)
		}
		d.Sets = append(d.Sets, r)
	}
	for _, period := range a.Spec.Periods {
		d.Periods = append(d.Periods, period.Param)
	}
	if a.Problem == algo.MutualExclusion {
		d.Defaults["hold"] = shownHold.String()
	}
	return d
}

func kinds(messages []algo.Message) []string {
	out := make([]string, len(messages))
	for i, m := range messages {
		out[i] = m.Kind()
	}
	return out
}

func needs(n *algo.Needs) []property {
	out := []property{
		{"topology", fmt.Sprint(n.Topology)}, {"order", "any"},
		{"synchrony", n.Synchrony.String()}, {"detector", n.Detector.String()},
	}
	if n.FIFO {
		out[1].Value = "fifo"
	}
	if n.Anonymous {
		out = append(out, property{"anonymous", "processes have no IDs"})
	}
	if n.Params != nil {
		out = append(out, property{"parameters", "within bounds: bench plan says where they are not"})
	}
	if n.Nodes != nil {
		var allowed []string
		for i := 1; i <= 40 && len(allowed) < 8; i++ {
			if n.Nodes(i) == nil {
				allowed = append(allowed, fmt.Sprint(i))
			}
		}
		out = append(out, property{"nodes", strings.Join(allowed, ", ") + ", ..."})
	}
	return out
}

// survives is for the defaults of the parameters.
func survives(s *algo.Spec) []property {
	f, crashes := &s.Survives, "no"
	if f.Crashes != nil {
		var parts []string
		for _, n := range shownSizes {
			parts = append(parts, fmt.Sprintf("%d of %d", f.CrashesOf(n, s.Defaults(shown(n))), n))
		}
		crashes = strings.Join(parts, ", ")
		if anchor := f.AnchorOf(s.Defaults(shown(shownNodes))); anchor != algo.None {
			crashes += fmt.Sprintf("; process %d has to come back", anchor)
		}
	}
	return []property{
		{"loss", yes(f.Loss)}, {"duplication", yes(f.Duplication)}, {"partition", yes(f.Partition)},
		{"crashes", crashes}, {"recovery", yes(f.Recovery)},
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func promises(a *algo.Algorithm) []string {
	p := &a.Spec.Promises
	out := []string{a.Spec.Admits.Text()}
	if a.Problem == algo.Election {
		out = []string{"leadership: " + p.Leadership.String(),
			"downtime_ms and availability: those of outages as " + a.Spec.Service.String(),
			"liveness: " + alive(&a.Spec)}
	}
	for _, q := range []struct {
		holds bool
		text  string
	}{
		{p.StarvationFree, "every request is granted"},
		{p.RequestOrder, "requests are granted in the order in which they happened"},
		{p.Announced, "every process learns the leader"},
		{p.Highest, "the highest live process leads, unless parameters rank them"},
	} {
		if q.holds {
			out = append(out, q.text)
		}
	}
	return out
}

// alive is the promise of a leader for the defaults of the parameters.
func alive(s *algo.Spec) string {
	l := s.LiveOf(shownNodes, s.Defaults(shown(shownNodes)))
	if l.Under == algo.Unpromised {
		return l.Text()
	}
	return fmt.Sprintf("%s (%d processes, defaults)", l.Text(), shownNodes)
}

func claims(list []algo.Claim) []claimReport {
	out := []claimReport{}
	for _, c := range list {
		r := claimReport{
			Metric: c.Metric, Load: c.Load, Text: c.Text, Source: c.Source, Bounds: []claimBound{},
		}
		for _, n := range shownSizes {
			if c.Bound != nil {
				low, high := c.Bound(n)
				r.Bounds = append(r.Bounds, claimBound{n, low, high})
			}
		}
		out = append(out, r)
	}
	return out
}

func params(s *algo.Spec) []paramReport {
	values := s.Defaults(shown(shownNodes))
	text := func(v any) string {
		if v == nil {
			return ""
		}
		return fmt.Sprint(v)
	}
	out := []paramReport{}
	for _, p := range s.Params {
		out = append(out, paramReport{
			Name: p.Name, Type: p.Type.String(), Unit: p.Unit,
			Choices: append([]string{}, p.Choices...),
			Default: text(values[p.Name]), Min: text(p.Min), Max: text(p.Max),
			PerProcess: p.PerProcess, Process: p.Process, Doc: p.Doc,
			Tuned: p.Tunes != algo.Fixed,
		})
	}
	return out
}

func (s *streams) printDescription(d description) {
	w := s.text()
	fmt.Fprintf(w, "%s: %s\n\n", d.ID, d.Summary)
	p := &d.Paper
	cite := strings.Join([]string{p.Authors, p.Title, p.Venue}, ". ")
	fmt.Fprintf(w, "Paper\n%s\n", console.Wrap(fmt.Sprintf("%s, %d.", cite, p.Year), 2))
	if p.DOI != "" {
		fmt.Fprintf(w, "  https://doi.org/%s\n", p.DOI)
	}
	if p.Deviations != "" {
		fmt.Fprintf(w, "\nDepartures from the paper\n%s\n", console.Wrap(p.Deviations, 2))
	}
	fmt.Fprintf(w, "\nMessages\n  %s\n", strings.Join(d.Messages, ", "))
	if len(d.Auxiliary) > 0 {
		fmt.Fprintf(w, "  counted apart: %s\n", strings.Join(d.Auxiliary, ", "))
	}
	if d.Token != "" {
		fmt.Fprintf(w, "  hands the token on: %s\n", d.Token)
	}
	if d.Perpetual {
		fmt.Fprintln(w, "  never falls quiet")
	}
	for _, name := range d.Periods {
		fmt.Fprintf(w, "  a leader repeats something every %s\n", name)
	}
	s.properties("Needs", d.Needs)
	s.properties("Survives", d.Survives)
	if d.Breaks != "" {
		fmt.Fprintf(w, "\nBeyond that\n%s\n", console.Wrap(d.Breaks, 2))
	}
	fmt.Fprintf(w, "\nPromises\n  %s\n", strings.Join(d.Promises, "\n  "))
	if len(d.Claims) > 0 {
		fmt.Fprintln(w, "\nClaims")
	}
	for _, c := range d.Claims {
		fmt.Fprintf(w, "  %s, %s: %s%s\n    %s: %s\n", c.Metric, cmp.Or(c.Load, "any load"), c.Text,
			bounds(c.Bounds), c.Source, c.Source.Meaning())
	}
	printParams(w, d)
	if len(d.Sets) > 0 {
		fmt.Fprintln(w, "\nSets of parameters (set: NAME beside the name of the algorithm)")
	}
	for _, set := range d.Sets {
		var values []string
		for _, name := range slices.Sorted(maps.Keys(set.Params)) {
			values = append(values, name+" "+set.Params[name])
		}
		fmt.Fprintf(w, "  %s\n%s\n%s\n", set.Name, console.Wrap(set.Doc, 6),
			console.Wrap(strings.Join(values, ", "), 6))
		for _, more := range []property{
			{"of", set.Source}, {"differs", set.Differs}, {"demands", set.Demands},
		} {
			if more.Value != "" {
				fmt.Fprintf(w, "%s\n", console.Wrap(more.Name+": "+more.Value, 6))
			}
		}
	}
}

func bounds(list []claimBound) string {
	var parts []string
	for _, b := range list {
		text := compare.Number(b.Low)
		if b.High != b.Low {
			text += " to " + compare.Number(b.High)
		}
		parts = append(parts, fmt.Sprintf("%d: %s", b.Nodes, text))
	}
	if parts == nil {
		return ""
	}
	return " (by nodes: " + strings.Join(parts, ", ") + ")"
}

func (s *streams) properties(title string, list []property) {
	t := &console.Table{}
	t.Column(title, false)
	t.Column("", false)
	for _, p := range list {
		t.Add("  "+p.Name, p.Value)
	}
	fmt.Fprintln(s.out)
	t.Write(s.text())
}

func printParams(w io.Writer, d description) {
	if len(d.Params) == 0 {
		fmt.Fprintln(w, "\nParameters\n  none")
		return
	}
	held := ""
	if hold, ok := d.Defaults["hold"]; ok {
		held = fmt.Sprintf(", %v in the critical section", hold)
	}
	fmt.Fprintf(w, "\nParameters (defaults for %d nodes and a latency of %v%s)\n", shownNodes,
		shownLatency, held)
	for _, p := range d.Params {
		kind := p.Type
		if len(p.Choices) > 0 {
			kind = strings.Join(p.Choices, " or ")
		}
		if p.Unit != "" {
			kind += " in " + p.Unit
		}
		if p.Min != "" {
			kind += ", at least " + p.Min
		}
		if p.Max != "" {
			kind += ", at most " + p.Max
		}
		if p.Process {
			kind += ", at most the number of nodes"
		}
		if p.Tuned {
			kind += ", set by bench tune"
		}
		if p.PerProcess {
			kind += ", or a list with one for each process"
		}
		fmt.Fprintf(w, "  %s = %s (%s)\n%s\n", p.Name, p.Default, kind, console.Wrap(p.Doc, 6))
	}
}
