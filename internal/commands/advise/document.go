package advise

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/report/figure"
	"github.com/conclave-bench/conclave/internal/base/console"
)

// Answer looks for settings, and answers with what it has found, also if it ended early. Page is the page
// for a browser; nil if none is asked for, or nothing was found.
func Answer(ctx context.Context, q *Request) (d *answer.Document, page []byte, err error) {
	w, err := newModel(q)
	if err != nil {
		return nil, nil, err
	}
	f, err := w.search(ctx)
	if f == nil || !f.Defaults.fine {
		return nil, nil, err
	}
	if err != nil && answer.ExitOf(err) == answer.Usage {
		return nil, nil, err
	}
	f.front()
	if err == nil && q.Check > 0 {
		err = f.check(ctx)
	}
	if err != nil { // interrupted: what there is
		f.provisional()
	}
	d = f.document()
	if err == nil && q.HTML != "" {
		page, err = f.page()
	}
	return d, page, err
}

// provisional makes the best that is known so far the advice.
func (f *Finding) provisional() {
	if list := f.ranked(true); f.Advice == nil && len(list) > 0 {
		f.Advice = list[0]
	}
}

// shown are the settings that are shown, with their roles.
func (f *Finding) shown() (roles []string, points []*Point) {
	for _, s := range []struct {
		role  string
		point *Point
	}{{Defaults, f.Defaults}, {Advice, f.Advice}, {Fastest, f.Fastest}} {
		if s.point != nil {
			roles, points = append(roles, s.role), append(points, s.point)
		}
	}
	return roles, points
}

// document is the answer: first what to paste, then what it leads to.
func (f *Finding) document() *answer.Document {
	d := answer.New("advise", "Settings of "+f.Set.Name)
	d.Add(f.facts())
	f.addLines(d)
	f.addSettings(d)
	f.addTolerance(d)
	if f.q.Why {
		f.addTerms(d)
	}
	f.addCheck(d)
	f.addFront(d)
	for _, text := range f.remarks() {
		d.Say(strings.TrimLeft(console.Wrap(text, 2), " "))
	}
	return d
}

// facts are what the answer is about.
func (f *Finding) facts() answer.Facts {
	allowed := f.allowance()
	if f.q.Minutes == 0 {
		allowed = "false elections: at most " + f.q.False
	}
	of := "members"
	if f.store() {
		of = "members and a store"
	}
	return answer.Facts{{Name: "system", Value: f.Set.Name,
		Line: fmt.Sprintf("%s: %d %s, round trips up to %s in the mean; %s\n", f.Set.Name, f.members(), of,
			millis(ms(f.roundTrip())), allowed)},
		{Name: "algorithm", Value: f.Algorithm.ID}, {Name: "set", Value: f.Set.Name},
		{Name: "members", Value: f.members()}, {Name: "round_trip_ms", Value: ms(f.roundTrip())},
		{Name: "budget_per_year", Value: f.Budget}, {Name: "minutes_per_year", Value: f.q.Minutes},
		{Name: "seed", Value: f.q.Seed}, {Name: "took_s", Value: f.took.Seconds()}}
}

// addLines adds what is to be pasted.
func (f *Finding) addLines(d *answer.Document) {
	t := d.Table("lines", answer.Columns(answer.Everybody, "setting into text")...)
	t.Only, t.Keys = answer.Programs, 2
	roles, points := f.shown()
	for i, p := range points {
		for _, line := range f.Write(p.Params) {
			t.Row(roles[i], line.Into, line.Text)
		}
	}
	p := f.Advice
	if p == nil {
		d.Say("no advice yet: no setting that was looked at so far keeps the budget")
		return
	}
	var text strings.Builder
	for _, line := range f.Write(p.Params) {
		fmt.Fprintf(&text, "%s:\n  %s\n", line.Into, strings.ReplaceAll(line.Text, "\n", "\n  "))
	}
	if f.same(&p.Setting) {
		text.WriteString("These are the defaults.\n")
	} else {
		fmt.Fprintf(&text, "today's defaults: %s\n", f.words(&f.Defaults.Setting))
	}
	d.Add(answer.Lines(folded(text.String())))
}

// folded is text of which no line is wider than a terminal.
func folded(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		for console.Width(line) > console.Columns {
			at := strings.LastIndex(line[:console.Columns-2], " ")
			if at <= 2 {
				break
			}
			out = append(out, line[:at]+" \\")
			line = "    " + line[at+1:]
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n") + "\n"
}

// interval is a figure with its interval, for people.
func interval(text func(float64) string, v, low, high float64) string {
	return fmt.Sprintf("%s [%s, %s]", text(v), text(low), text(high))
}

// rate is a rate with its interval, for people.
func (r *Rate) text() string {
	if r.Year == 0 && r.High == 0 {
		return "0"
	}
	if r.Year == 0 {
		return "below " + perYear(r.High)
	}
	return interval(perYear, r.Year, r.Low, r.High)
}

// addSettings adds what the settings lead to: for people those that are shown, for programs all.
func (f *Finding) addSettings(d *answer.Document) {
	people := d.Table("outages", answer.Columns(answer.People, "setting median::outage:_median p99 "+
		"worst::worst_of_1000 false::false_elections/year")...)
	people.Only = answer.People
	roles, points := f.shown()
	for i, p := range points {
		o := p.Outage
		people.Row(roles[i], interval(millis, o.Median, o.MedianLow, o.MedianHi), interval(millis, o.P99,
			o.P99Low, o.P99High),
			interval(millis, o.Worst, o.WorstLow, o.WorstHigh), p.Rate.text())
	}
	all := d.Table("settings", answer.Columns(answer.Everybody, "setting role beat_ms:number "+
		"patience_ms:number "+
		"front:flag allowed:flag median_ms:number median_low:number median_high:number p99_ms:number "+
		"p99_low:number "+
		"p99_high:number worst_ms:number worst_low:number worst_high:number n:count false_per_year:number "+
		"false_low:number false_high:number by_network:number by_pauses:number estimate")...)
	all.Only, all.Main = answer.Programs, true
	for _, p := range f.sorted() {
		role := ""
		for i, s := range points {
			if s == p {
				role = strings.TrimPrefix(role+"+"+roles[i], "+")
			}
		}
		o, r := p.Outage, &p.Rate
		all.Row(f.words(&p.Setting), role, ms(p.Beat), ms(p.Patience), p.Front, p.Allowed, o.Median,
			o.MedianLow, o.MedianHi,
			o.P99, o.P99Low, o.P99High, o.Worst, o.WorstLow, o.WorstHigh, o.N, r.Year, r.Low, r.High,
			r.Network, r.Pauses,
			r.How)
	}
}

// sorted are the settings that were measured, the fastest first.
func (f *Finding) sorted() []*Point {
	out := slices.DeleteFunc(slices.Clone(f.Points), func(p *Point) bool { return !p.rated })
	slices.SortStableFunc(out, func(a, b *Point) int { return cmp.Compare(a.Outage.Median, b.Outage.Median) })
	return out
}

// addTolerance adds what the settings tolerate, and what users work out by hand.
func (f *Finding) addTolerance(d *answer.Document) {
	if !f.store() {
		return
	}
	roles, points := f.shown()
	t := d.Table("tolerance", answer.Columns(answer.Everybody, "setting store_away_s:number:store_away:s "+
		"clocks_apart_s:number:clocks_apart_(s):s")...)
	t.DropEmpty = true
	hand := d.Table("computed", slices.Concat(answer.Columns(answer.Everybody, "setting figure"),
		answer.Columns(answer.Programs, "formula"), answer.Columns(answer.Everybody, "value_s:number:s:s "+
			"beyond:number:outages_beyond"))...)
	hand.DropEmpty, hand.Keys = true, 2
	for i, p := range points {
		store, clocks := f.Bears(p.Params)
		var apart answer.Value
		if clocks >= 0 {
			apart = clocks.Seconds()
		}
		t.Row(roles[i], store.Seconds(), apart)
		if f.Computed == nil {
			continue
		}
		for _, c := range f.Computed(p.Params) {
			var beyond answer.Value
			if c.Worst {
				share := p.Outage.beyond(c.Value)
				beyond = answer.Shown{Value: share, Text: fmt.Sprintf("%.0f %%", 100*share)}
			}
			hand.Row(roles[i], c.Name, c.Formula, c.Value.Seconds(), beyond)
		}
	}
	if len(hand.Rows) == 0 {
		d.Blocks = slices.DeleteFunc(d.Blocks, func(b answer.Block) bool { return b == answer.Block(hand) })
	}
}

// addTerms adds what the outages are made of.
func (f *Finding) addTerms(d *answer.Document) {
	t := d.Table("terms", slices.Concat(answer.Columns(answer.Everybody,
		"setting term mean_ms:number:mean:ms "+
			"share:number"), answer.Columns(answer.Programs, "means"))...)
	t.Keys = 2
	roles, points := f.shown()
	for i, p := range points {
		all := p.Outage.Terms.sum()
		for _, term := range p.Outage.Terms.Of() {
			share := term.Mean / all
			t.Row(roles[i], term.Name, answer.Shown{Value: term.Mean, Text: console.Number(round(term.Mean))},
				answer.Shown{Value: share, Text: fmt.Sprintf("%.0f %%", 100*share)}, term.Means)
		}
	}
}

func round(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}

// addFront adds the picture of the front.
func (f *Finding) addFront(d *answer.Document) {
	picture, err := f.picture()
	if err == nil && picture != nil {
		d.Add(answer.Picture{Name: "front", Title: "Outage against false elections", SVG: picture})
	}
}

// picture is the front, and where the settings lie that are shown.
func (f *Finding) picture() ([]byte, error) {
	front := figure.Front{Name: "Pareto front"}
	limit := f.limit(f.Defaults)
	rare := limit * 1e-6 // what is rarer stands at the left edge
	one := func(p *Point) figure.Tradeoff {
		x := p.Rate.Year
		if x < rare {
			x = 0
		}
		return figure.Tradeoff{X: x, XLow: p.Rate.Low, XHigh: max(p.Rate.High, rare), Y: p.Outage.Median,
			YLow: p.Outage.MedianLow, YHigh: p.Outage.MedianHi}
	}
	for _, p := range f.sorted() {
		if p.Front {
			front.Points = append(front.Points, one(p))
		}
	}
	fronts := []figure.Front{front}
	roles, points := f.shown()
	for i, p := range points {
		fronts = append(fronts, figure.Front{Name: roles[i], Points: []figure.Tradeoff{one(p)}})
	}
	return figure.DrawFronts("front", "false elections per year", "median outage (ms)", limit, fronts)
}

// remarks are how the figures were made, and when they do not hold.
func (f *Finding) remarks() (out []string) {
	out = append(out, f.caveat())
	if f.Rule != nil && f.Advice != nil {
		text, kept := f.Rule(f.Advice.Params, f.roundTrip())
		if kept {
			out = append(out, "rule of thumb: the advice follows it ("+text+")")
		} else {
			out = append(out, fmt.Sprintf("rule of thumb: the advice is outside of it (%s), since on this "+
				"network false "+
				"elections stay within the budget (%s a year) with an outage of %s in the median, where "+
				"the defaults have %s",
				text, f.Advice.Rate.text(), millis(f.Advice.Outage.Median), millis(f.Defaults.Outage.Median)))
		}
	}
	checked := f.Checked
	if checked == "" {
		checked = "From source, not measured: nothing was compared with the system itself."
	}
	out = append(out, "predicted by "+f.Algorithm.ID+", set "+f.Set.Name+". "+checked)
	for _, p := range []*Point{f.Advice, f.Fastest} {
		if p != nil && p.Rate.How != "" {
			out = append(out, "false elections: "+p.Rate.How)
			break
		}
	}
	return append(out, fmt.Sprintf("outages: %s of the leader, simulated for each setting in the table; "+
		"intervals of "+
		"95 %%, of the worst the least and the largest of %d thousands; crashes during an election do not "+
		"count", console.Plural(f.Defaults.Outage.N, "crash", "crashes"),
		f.Defaults.Outage.N/thousand), "constraints: "+f.Set.Demands)
}

// caveat says when the advice does not hold, in one sentence.
func (f *Finding) caveat() string {
	var missing []string
	if f.pauses == nil {
		missing = append(missing, "members never pause (--pauses)")
	}
	if f.writes == nil && !f.Algorithm.Spec.Diskless {
		missing = append(missing, "writes take no time (--fsync)")
	}
	if r := f.record(); r != nil {
		of := "the record"
		if f.shows() < f.recorded() {
			of = "the record that are simulated"
		}
		missing = append(missing, fmt.Sprintf("nothing happens that is rarer than once in the %v of %s",
			f.shows().Round(time.Second), of))
	} else if !f.network.Loses() {
		missing = append(missing, "no message is lost (--loss, --pings)")
	}
	if len(missing) == 0 {
		return "does not hold if the network, the disks or the pauses are worse than in the records"
	}
	return "does not hold where it is wrong that " + strings.Join(missing, ", and ") +
		": the false elections and outages above are lower bounds then"
}
