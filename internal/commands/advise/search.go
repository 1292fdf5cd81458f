package advise

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
)

// A Point is a setting with what is known of it.
type Point struct {
	Setting
	Outage  *Outage // nil: not simulated
	Rate    Rate
	rated   bool
	fine    bool // as those are that are shown
	Front   bool // no other is as good in both, and better in one
	Allowed bool // it sends no more than is allowed
}

// The roles of the settings that are shown.
const (
	Defaults = "defaults"
	Advice   = "advice"
	Fastest  = "fastest"
)

// A Finding is what a search has come to.
type Finding struct {
	*model
	Points   []*Point
	Defaults *Point
	Advice   *Point // nil: not found, or not yet
	Fastest  *Point // within the budget, whatever it sends; nil likewise
	Budget   float64
	Best     *Point   // where nothing is within the budget: the one with the fewest false elections
	checked  *checked // nil: it was not, or not yet
	took     time.Duration
}

// beats are the intervals between heartbeats to try, as multiples of the system's default, where messages is
// how many times as many messages are allowed as with the defaults. Longer intervals are no faster, and are
// tried where fewer messages are allowed.
func beats(messages float64) []float64 {
	out := []float64{1, 0.5, 0.2}
	if !slices.Contains(out, 1/messages) {
		out = append(out, 1/messages)
	}
	return out
}

// finer is the ratio of two neighbours among the patiences that are tried.
const finer = 1.02

// Search looks for the settings. With an error it returns what is known until then.
func (w *model) search(ctx context.Context) (*Finding, error) {
	begun := time.Now()
	budget, err := w.q.budget()
	if err != nil {
		return nil, err
	}
	f := &Finding{model: w, Budget: budget, Defaults: &Point{Setting: w.base}}
	f.Points = append(f.Points, f.Defaults)
	defer func() { f.took = time.Since(begun) }()
	f.Defaults.Allowed = true
	if err := f.refine(ctx, f.Defaults, Defaults); err != nil {
		return f, err
	}
	families := f.families()
	if len(families) == 0 {
		return f, f.unbearable()
	}
	for i, family := range families {
		f.say(fmt.Sprintf("settings with %s %v", cmp.Or(w.Beat, w.Patience), family[0].Beat),
			0.15+0.6*float64(i)/float64(len(families)))
		if err := f.fastest(ctx, family); err != nil {
			return f, err
		}
	}
	return f, f.conclude(ctx)
}

func (f *Finding) say(what string, done float64) {
	if f.q.Share != nil {
		f.q.Share(what, done)
	}
}

// families are the settings to try: those of one beat together, with less patience first. Those that the
// system has by default come first, since the others can be no faster than they without more messages.
func (f *Finding) families() (out [][]*Point) {
	seen := map[string]bool{}
	for _, times := range beats(f.q.Messages) {
		if f.Beat == "" && times != 1 {
			continue
		}
		beat := time.Duration(float64(f.base.Beat) * times)
		var family []*Point
		high := float64(max(16*f.base.Patience, 20*beat, 40*f.known.Latency))
		for v := float64(max(beat, f.base.Patience/200)); v <= high; v *= finer {
			x := f.setting(f.base.Params, beat, time.Duration(v), f.q.Clocks)
			if seen[x.key] || !f.bears(&x) || f.Algorithm.Spec.Needs.Params != nil && f.store() &&
				f.Algorithm.Spec.Needs.Params(f.known, x.Params) != nil {
				continue
			}
			seen[x.key] = true
			p := &Point{Setting: x, Allowed: f.allowed(&x)}
			if x.key == f.base.key && f.same(&x) {
				p = f.Defaults
			}
			family = append(family, p)
		}
		if family != nil {
			slices.SortStableFunc(family, func(a, b *Point) int {
				return cmp.Compare(a.Patience,
					b.Patience)
			})
			out = append(out, family)
		}
	}
	return out
}

// same says whether x is the system's own setting.
func (f *Finding) same(x *Setting) bool { return fmt.Sprint(x.Params) == fmt.Sprint(f.base.Params) }

// allowed says whether a setting sends no more messages than are allowed.
func (f *Finding) allowed(x *Setting) bool {
	return f.Beat == "" || float64(f.base.Beat)/float64(x.Beat) <= f.q.Messages*1.0001
}

// bears says whether a setting stands what is asked for.
func (f *Finding) bears(x *Setting) bool {
	if !f.store() {
		return true
	}
	store, clocks := f.Bears(x.Params)
	return store >= f.q.Away && (f.q.Clocks == 0 || clocks >= f.q.Clocks)
}

// within says whether the rate of a setting keeps the budget: the upper end of its interval, unless
// nothing was counted in a record, which cannot show what is rarer than once in its length.
func (f *Finding) within(p *Point) bool {
	if p.Outage == nil || math.IsInf(p.Outage.Median, 1) {
		return false
	}
	limit := f.limit(p)
	return p.Rate.High <= limit || p.Rate.Least > 0 && p.Rate.Network == 0 && p.Rate.Pauses <= limit
}

// limit is how many false elections a year a setting may have. Each costs an outage, if minutes are limited.
func (f *Finding) limit(p *Point) float64 {
	limit := f.Budget
	if f.q.Minutes > 0 && p.Outage != nil {
		limit = min(limit, f.q.Minutes*60e3/p.Outage.Median)
	}
	return limit
}

// quick is how many crashes tell about how fast a setting is that is not shown.
const quick = 200

// measure finds out about a setting what a search needs.
func (f *Finding) measure(ctx context.Context, p *Point) error {
	if p.rated {
		return nil
	}
	var err error
	if p.Outage == nil {
		if p.Outage, err = f.outages(ctx, &p.Setting, quick, "crashes of a search"); err != nil {
			return err
		}
	}
	if p.Rate, err = f.mistakes(ctx, &p.Setting, false); err != nil {
		return err
	}
	p.rated = true
	if !slices.Contains(f.Points, p) {
		f.Points = append(f.Points, p)
	}
	return nil
}

// refine finds out about a setting what is shown of it.
func (f *Finding) refine(ctx context.Context, p *Point, role string) error {
	if p.fine {
		return nil
	}
	f.say("the "+role, map[string]float64{Defaults: 0, Advice: 0.8, Fastest: 0.9}[role])
	outage, err := f.outages(ctx, &p.Setting, f.q.Effort.Outages, "crashes")
	if err != nil {
		return err
	}
	p.Outage = outage
	rate, err := f.mistakes(ctx, &p.Setting, true)
	if err != nil { // the rate of the search stays
		return err
	}
	p.Rate, p.rated, p.fine = rate, true, true
	if !slices.Contains(f.Points, p) {
		f.Points = append(f.Points, p)
	}
	return nil
}

// fastest finds, in a family, the setting with the least patience that is within the budget, by
// bisection: the more patience, the fewer false elections. It begins with as many heartbeats as the system
// has by default, and twice as many if these are too few: trials with more take long.
func (f *Finding) fastest(ctx context.Context, family []*Point) error {
	usual := f.base.Patience
	if f.base.Beat > 0 {
		usual = time.Duration(float64(usual) * float64(family[0].Beat) / float64(f.base.Beat))
	}
	low, high, known := 0, len(family)-1, false
	for low < high {
		middle := (low + high) / 2
		if !known {
			middle = min(slices.IndexFunc(family, func(p *Point) bool {
				return p.Patience >= usual || p == family[high-1]
			}), high-1)
			middle, usual = max(middle, low), 2*usual
		}
		if err := f.measure(ctx, family[middle]); err != nil {
			return err
		}
		if f.within(family[middle]) {
			high, known = middle, true
		} else {
			low = middle + 1
		}
	}
	return f.measure(ctx, family[low])
}

// ranked are the settings within the budget, the fastest first.
func (f *Finding) ranked(allowed bool) (out []*Point) {
	for _, p := range f.Points {
		if p.rated && f.within(p) && f.bears(&p.Setting) && (p.Allowed || !allowed) {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b *Point) int { return cmp.Compare(a.Outage.Median, b.Outage.Median) })
	// Of settings that are as fast the system's own comes first, then the one with the fewest false
	// elections.
	alike := 0
	for alike < len(out) && out[alike].Outage.Median <= tie*out[0].Outage.Median {
		alike++
	}
	slices.SortStableFunc(out[:alike], func(a, b *Point) int {
		switch {
		case a == f.Defaults:
			return -1
		case b == f.Defaults:
			return 1
		}
		return cmp.Compare(a.Rate.High, b.Rate.High)
	})
	return out
}

// tie is how much slower a setting may be that is as fast as another.
const tie = 1.01

// conclude chooses, and looks closer at what it has chosen: it may then be over the budget, and the next
// is tried.
func (f *Finding) conclude(ctx context.Context) error {
	for _, role := range []string{Advice, Fastest} {
		for {
			list := f.ranked(role == Advice)
			if len(list) == 0 {
				break
			}
			p := list[0]
			if err := f.refine(ctx, p, role); err != nil {
				return err
			}
			if !f.within(p) {
				if err := f.longer(ctx, p); err != nil {
					return err
				}
				continue
			}
			if role == Advice {
				f.Advice = p
			} else {
				f.Fastest = p
			}
			break
		}
	}
	f.front()
	f.say("done", 1)
	switch {
	case f.Advice == nil:
		return f.unreachable()
	case f.q.Outage > 0 && f.Advice.Outage.P99 > ms(f.q.Outage):
		return f.tooSlow()
	}
	return nil
}

// longer measures the setting next to one with more patience.
func (f *Finding) longer(ctx context.Context, p *Point) error {
	for v := float64(p.Patience) * finer; v < 4*float64(p.Patience); v *= finer {
		x := f.setting(f.base.Params, p.Beat, time.Duration(v), f.q.Clocks)
		if x.Patience > p.Patience && !slices.ContainsFunc(f.Points, func(o *Point) bool {
			return o.key == x.key
		}) {
			return f.measure(ctx, &Point{Setting: x, Allowed: f.allowed(&x)})
		}
	}
	return nil
}

// front marks the settings of which no other is as fast and as rarely mistaken.
func (f *Finding) front() {
	for _, p := range f.Points {
		p.Front = p.rated && f.bears(&p.Setting) && !slices.ContainsFunc(f.Points, func(o *Point) bool {
			return o.rated && f.bears(&o.Setting) && o.Outage.Median <= p.Outage.Median &&
				o.Rate.High <= p.Rate.High &&
				(o.Outage.Median < p.Outage.Median || o.Rate.High < p.Rate.High)
		})
	}
}

// unbearable is the error where no setting stands what is asked for.
func (f *Finding) unbearable() error {
	return answer.Mistaken("no setting that %s takes tolerates a store that is away for %v and clocks "+
		"that are %v apart; ask "+
		"for less by --away or --clocks", f.Set.Name, f.q.Away, f.q.Clocks)
}

// unreachable is the error where no setting keeps the budget.
func (f *Finding) unreachable() error {
	var best *Point
	for _, p := range f.Points {
		if p.rated && p.Allowed && !math.IsInf(p.Outage.Median, 1) &&
			(best == nil || cmp.Or(cmp.Compare(p.Rate.Year, best.Rate.Year), cmp.Compare(p.Rate.High,
				best.Rate.High)) < 0) {
			best = p
		}
	}
	if best == nil {
		return answer.Mistaken("not reachable: with no setting that %s takes does a leader come back, at "+
			"a round trip of %v; "+
			"bring the members closer", f.Set.Name, f.roundTrip())
	}
	f.Best = best
	return answer.Mistaken("not reachable: the best is %s, with %s false elections a year [%s, %s] and an "+
		"outage of %s, of "+
		"which %.0f %% are round trips; allow more by --false or --messages", f.words(&best.Setting),
		perYear(best.Rate.Year), perYear(best.Rate.Low), perYear(best.Rate.High), millis(best.Outage.Median),
		100*best.Outage.Terms.Trips/best.Outage.Terms.sum())
}

// tooSlow is the error where the fastest setting within the budget is slower than an outage may be.
func (f *Finding) tooSlow() error {
	p := f.Advice
	f.Best = p
	return answer.Mistaken("not reachable: at most %v with at most %s is contradictory on this network; "+
		"the best is %s: of a "+
		"hundred outages one is longer than %s, and %.0f %% of an outage are round trips; allow a longer "+
		"--outage, or "+
		"more by --false", f.q.Outage, f.allowance(), f.words(&p.Setting), millis(p.Outage.P99),
		100*p.Outage.Terms.Trips/p.Outage.Terms.sum())
}

// allowance is the budget in words.
func (f *Finding) allowance() string {
	if f.q.Minutes > 0 {
		return console.Number(f.q.Minutes) + " minutes a year of false elections"
	}
	return f.q.False + " false elections"
}

// millis is a time in ms for people.
func millis(v float64) string {
	switch {
	case math.IsNaN(v):
		return "n/a"
	case math.IsInf(v, 1):
		return "never"
	case v >= 1e4:
		return fmt.Sprintf("%.1f s", v/1e3)
	case v >= 100:
		return fmt.Sprintf("%.0f ms", v)
	}
	return fmt.Sprintf("%.3g ms", v)
}
