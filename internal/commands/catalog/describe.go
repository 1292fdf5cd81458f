package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
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

// A property is one that a Spec declares, for people.
type property struct{ name, value string }

// Describe is what an algorithm declares about itself.
func Describe(a *algo.Algorithm) *answer.Document {
	spec := &a.Spec
	d := answer.New("describe", a.ID+": "+spec.Summary)
	d.Add(facts(a))
	d.Say(a.ID + ": " + spec.Summary + "\n\n" + paper(spec) + "\n" + messages(spec))
	properties(d, "needs", "Needs", needs(&spec.Needs))
	properties(d, "survives", "Survives", survives(spec))
	more := ""
	if spec.Breaks != "" {
		more = fmt.Sprintf("Beyond that\n%s\n\n", console.Wrap(spec.Breaks, 2))
	}
	d.Say(more + "Promises\n  " + strings.Join(Promises(a), "\n  "))
	addClaims(d, spec.Claims)
	addParams(d, a)
	addSets(d, spec.Sets)
	if p := spec.Predicted; p != nil {
		d.Add(answer.Facts{{Name: "predicted_by", Value: p.By}, {Name: "predicted_with_set", Value: p.Set},
			{Name: "predicted_differs", Value: p.Differs}})
		d.Say(fmt.Sprintf("\nPredicted by %v\n%s", p, console.Wrap(p.Differs, 2)))
	}
	return d
}

// facts are the declarations that are single values.
func facts(a *algo.Algorithm) answer.Facts {
	s, p := &a.Spec, &a.Spec.Paper
	out := answer.Facts{{Name: "id", Value: a.ID}, {Name: "problem", Value: string(a.Problem)},
		{Name: "summary", Value: s.Summary},
		{Name: "paper_authors", Value: p.Authors}, {Name: "paper_title", Value: p.Title},
		{Name: "paper_venue", Value: p.Venue}, {Name: "paper_year", Value: p.Year},
		{Name: "paper_doi", Value: p.DOI}, {Name: "paper_deviations", Value: p.Deviations},
		{Name: "messages", Value: kinds(s.Messages)}, {Name: "auxiliary_messages", Value: kinds(s.Auxiliary)},
		{Name: "token", Value: s.Token}, {Name: "perpetual", Value: s.Perpetual},
		{Name: "periods", Value: periods(s)}, {Name: "breaks", Value: s.Breaks},
		{Name: "promises", Value: Promises(a)},
		{Name: "defaults_for_nodes", Value: shownNodes},
		{Name: "defaults_for_latency", Value: shownLatency.String()}}
	if a.Problem == algo.MutualExclusion {
		out = append(out, answer.Fact{Name: "defaults_for_hold", Value: shownHold.String()})
	}
	return out
}

// paper is where an algorithm comes from, and how it departs from that.
func paper(s *algo.Spec) string {
	p := &s.Paper
	cite := strings.Join([]string{p.Authors, p.Title, p.Venue}, ". ")
	out := fmt.Sprintf("Paper\n%s\n", console.Wrap(fmt.Sprintf("%s, %d.", cite, p.Year), 2))
	if p.DOI != "" {
		out += fmt.Sprintf("  https://doi.org/%s\n", p.DOI)
	}
	if p.Deviations != "" {
		out += fmt.Sprintf("\nDepartures from the paper\n%s\n", console.Wrap(p.Deviations, 2))
	}
	return out
}

func messages(s *algo.Spec) string {
	out := fmt.Sprintf("Messages\n  %s\n", strings.Join(kinds(s.Messages), ", "))
	if len(s.Auxiliary) > 0 {
		out += fmt.Sprintf("  counted apart: %s\n", strings.Join(kinds(s.Auxiliary), ", "))
	}
	if s.Token != "" {
		out += fmt.Sprintf("  hands the token on: %s\n", s.Token)
	}
	if s.Perpetual {
		out += "  never falls quiet\n"
	}
	for _, name := range periods(s) {
		out += fmt.Sprintf("  a leader repeats something every %s\n", name)
	}
	return out
}

// periods are the parameters that say how often a leader repeats something.
func periods(s *algo.Spec) []string {
	out := []string{}
	for _, period := range s.Periods {
		out = append(out, period.Param)
	}
	return out
}

func properties(d *answer.Document, name, title string, list []property) {
	t := d.Table(name, answer.Column{Name: "name", Kind: answer.Words},
		answer.Column{Name: "value", Kind: answer.Words})
	t.Title, t.Terms = title, true
	for _, p := range list {
		t.Row(p.name, p.value)
	}
}

// forPrograms is a table of which people read the rows in other words.
func forPrograms(d *answer.Document, name string, columns ...answer.Column) *answer.Table {
	t := d.Table(name, columns...)
	t.Only = answer.Programs
	return t
}

func words(name string) answer.Column { return answer.Column{Name: name, Kind: answer.Words} }

func addClaims(d *answer.Document, list []algo.Claim) {
	t := forPrograms(d, "claims", answer.Column{Name: "claim", Kind: answer.Count}, words("metric"),
		words("load"), words("text"), words("source"))
	of := forPrograms(d, "bounds", answer.Column{Name: "claim", Kind: answer.Count},
		answer.Column{Name: "nodes", Kind: answer.Count}, answer.Column{Name: "low", Kind: answer.Number},
		answer.Column{Name: "high", Kind: answer.Number})
	text := ""
	for i, c := range list {
		t.Row(i+1, c.Metric, c.Load, c.Text, string(c.Source))
		var bounds []string
		for _, n := range shownSizes {
			if c.Bound == nil {
				break
			}
			low, high := c.Bound(n)
			of.Row(i+1, n, low, high)
			bound := console.Number(low)
			if high != low {
				bound += " to " + console.Number(high)
			}
			bounds = append(bounds, fmt.Sprintf("%d: %s", n, bound))
		}
		text += fmt.Sprintf("\n  %s, %s: %s", c.Metric, cmp.Or(c.Load, "any load"), c.Text)
		if bounds != nil {
			text += " (by nodes: " + strings.Join(bounds, ", ") + ")"
		}
		text += fmt.Sprintf("\n    %s: %s", c.Source, c.Source.Meaning())
	}
	if text != "" {
		d.Say("\nClaims" + text)
	}
}

func addParams(d *answer.Document, a *algo.Algorithm) {
	t := forPrograms(d, "params", words("name"), words("type"), words("unit"),
		answer.Column{Name: "choices", Kind: answer.List}, words("default"), words("min"), words("max"),
		answer.Column{Name: "per_process", Kind: answer.Flag}, answer.Column{Name: "process",
			Kind: answer.Flag},
		answer.Column{Name: "tuned", Kind: answer.Flag}, words("doc")) // tuned: by bench tune
	if len(a.Spec.Params) == 0 {
		d.Say("\nParameters\n  none")
		return
	}
	held := ""
	if a.Problem == algo.MutualExclusion {
		held = fmt.Sprintf(", %v in the critical section", shownHold)
	}
	said := fmt.Sprintf("\nParameters (defaults for %d nodes and a latency of %v%s)", shownNodes,
		shownLatency, held)
	values := a.Spec.Defaults(shown(shownNodes))
	text := func(v any) string {
		if v == nil {
			return ""
		}
		return fmt.Sprint(v)
	}
	for _, p := range a.Spec.Params {
		least, most, tuned := text(p.Min), text(p.Max), p.Tunes != algo.Fixed
		t.Row(p.Name, p.Type.String(), p.Unit, append([]string{}, p.Choices...), text(values[p.Name]),
			least, most,
			p.PerProcess, p.Process, tuned, p.Doc)
		kind := cmp.Or(strings.Join(p.Choices, " or "), p.Type.String())
		for _, more := range []struct {
			holds bool
			text  string
		}{
			{p.Unit != "", " in " + p.Unit}, {least != "", ", at least " + least}, {most != "",
				", at most " + most},
			{p.Process, ", at most the number of nodes"}, {tuned, ", set by bench tune"},
			{p.PerProcess, ", or a list with one for each process"},
		} {
			if more.holds {
				kind += more.text
			}
		}
		said += fmt.Sprintf("\n  %s = %s (%s)\n%s", p.Name, text(values[p.Name]), kind,
			console.Wrap(p.Doc, 6))
	}
	d.Say(said)
}

// addSets adds values of parameters by one name: source is the version that has them and where it says so,
// differs what the system does otherwise, demands what it asks of its settings.
func addSets(d *answer.Document, sets []algo.Set) {
	t := forPrograms(d, "sets", words("name"), words("doc"), answer.Column{Name: "params", Kind: answer.Map},
		words("source"), words("differs"), words("demands"))
	said := ""
	for _, set := range sets {
		params, values := map[string]string{}, []string{}
		for _, name := range slices.Sorted(maps.Keys(set.Params)) {
			params[name] = fmt.Sprint(set.Params[name])
			values = append(values, name+" "+params[name])
		}
		t.Row(set.Name, set.Doc, params, set.Source, set.Differs, set.Demands)
		said += fmt.Sprintf("\n  %s\n%s\n%s", set.Name, console.Wrap(set.Doc, 6),
			console.Wrap(strings.Join(values, ", "), 6))
		for _, more := range []property{{"of", set.Source}, {"differs", set.Differs}, {"demands",
			set.Demands}} {
			if more.value != "" {
				said += "\n" + console.Wrap(more.name+": "+more.value, 6)
			}
		}
	}
	if said != "" {
		d.Say("\nSets of parameters (set: NAME beside the name of the algorithm)" + said)
	}
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
		out[1].value = "fifo"
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
			crashes += fmt.Sprintf("; process %d must restart", anchor)
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

// Promises are what an algorithm promises, a sentence each, with the defaults of its parameters.
func Promises(a *algo.Algorithm) []string {
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
