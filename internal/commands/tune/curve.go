package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
)

// A curve is the settings of one search with one spread, from the shortest time-out to the longest. The
// longer, the fewer false elections, and the longer an outage, so that the fastest within the budget is
// where the false-election rate crosses the budget.
type curve struct {
	*search
	spread float64
	points []*Point // in the order of measurement
	low    float64  // the longest time-out that is known not to be chosen; NaN: none
	high   float64  // the shortest that is known to be within the budget, or beaten; NaN: none
	why    Verdict  // of low; "": it was refused
	text   string   // by which it was refused
	beaten bool     // high is no faster than what another spread has
	spent  float64  // hours
	chosen *Point   // the best of all, if it is one of these
	told   func(share float64)
	share  float64
}

const (
	// enough is how long a setting runs quietly until another is tried, by the budget: eight mistakes.
	enough = 8
	// first is the first look at a setting, likewise. Each other look is four times as long.
	first = 0.05
	// steps is how many settings are tried at most once the crossing has been bracketed.
	steps = 60
	// usual is the part of the hours that a search takes about.
	usual = 0.4
	// slower is how much slower than the best of another spread a setting is that is not looked at.
	slower = 1.05
)

// confidence is that of one look of the five at a setting (Bonferroni).
const confidence = 1 - (1-stats.Confidence)/5

// windows are how far from a crossing the curve is taken for a line: as far as the counts allow it.
var windows = []float64{1.25, 1.15, 1.08, 1.04}

// misfit is how much wider than their own scatter counts may lie around a line.
const misfit = 3

// follow finds where the curve crosses the budget, and keeps what it has seen.
func (k *curve) follow(ctx context.Context) error {
	err := k.bracket(ctx)
	for n := 0; err == nil && n < steps && k.spent < k.Hours; n++ {
		next, ok := k.next()
		if !ok {
			break
		}
		err = k.try(ctx, next)
	}
	if err == nil {
		err = k.choose(ctx)
	}
	k.result.out = k.result.out || k.spent >= k.Hours
	from := len(k.result.Points)
	for _, p := range k.points {
		k.result.Points = append(k.result.Points, *p)
	}
	if i := slices.Index(k.points, k.chosen); i >= 0 {
		k.result.Best = from + i
	}
	return err
}

// bracket doubles the time-out until it is within the budget, or may be.
func (k *curve) bracket(ctx context.Context) error {
	low, high := k.contender.reach(k.Span)
	for v := low; v <= high*1.0001 && math.IsNaN(k.high) && k.near() == nil; v *= 2 {
		value := k.contender.fit(v)
		if value == k.low {
			continue // the system takes nothing between the two
		}
		if err := k.try(ctx, value); err != nil {
			return err
		}
	}
	return nil
}

// try measures a setting, or one that was measured for longer, and takes in what that says.
func (k *curve) try(ctx context.Context, value float64) error {
	p := k.known(value)
	if p == nil {
		var err error
		if p, err = k.crash(ctx, value, k.Crashes/4); err != nil || p == nil {
			return err
		}
		if p.Verdict == Down {
			k.bar(value, Down)
			return nil
		}
		if k.isBeaten(p) {
			k.lose(value)
			return nil
		}
		k.points = append(k.points, p)
	}
	if err := k.watch(ctx, p); err != nil {
		return err
	}
	switch p.Verdict {
	case Over, Costly:
		k.bar(value, p.Verdict)
	case Within:
		if !(value >= k.high) {
			k.high, k.beaten = value, false
		}
	}
	return nil
}

// lose takes in that a setting is slower than what another spread has. So are longer ones, unless it is
// slow because it is short, and split votes or the next election come before the end of this one.
func (k *curve) lose(value float64) {
	if slices.ContainsFunc(k.points, func(p *Point) bool { return p.Hours > 0 && p.Patience < value }) {
		k.high, k.beaten = value, true
	} else {
		k.bar(value, slow)
	}
}

// slow is why a setting is no good that is slower than what another spread has; it is no verdict on its
// mistakes, which are not counted.
const slow Verdict = "slow"

// bar excludes settings up to a value.
func (k *curve) bar(value float64, why Verdict) {
	if !(value <= k.low) {
		k.low, k.why = value, why
	}
}

// known is the setting of that value, if it was measured.
func (k *curve) known(value float64) *Point {
	if i := slices.IndexFunc(k.points, func(p *Point) bool { return p.Patience == value }); i >= 0 {
		return k.points[i]
	}
	return nil
}

// isMistake says that an experiment is not allowed.
func isMistake(err error) bool {
	var mistake *experiment.Error
	return errors.As(err, &mistake)
}

// crash measures how soon leaders are replaced, in as many crashes as the file says, and so many at least;
// nil: the experiment, or the search, does not allow the setting.
func (k *curve) crash(ctx context.Context, value float64, least int) (*Point, error) {
	nan := math.NaN()
	p := &Point{Patience: value, Spread: k.spread, Settings: k.contender.settings(value, k.spread),
		Fitted: nan, FittedLow: nan, FittedHigh: nan, Verdict: Undecided}
	p.Rate, p.RateLow, p.RateHigh, p.Dispersion = nan, nan, nan, nan
	p.Duration, p.Recurrence, p.Accuracy = nan, nan, nan
	e, err := k.contender.crashes(value, k.spread, least)
	if err != nil && !isMistake(err) {
		return nil, err
	}
	if err == nil {
		if p.Beyond = e.Cells[0].Plan.OutOfModel; k.InModel && len(p.Beyond) > 0 {
			err = errors.New(strings.Join(p.Beyond, "; "))
		}
	}
	if err != nil {
		k.refused, k.text = err, err.Error()
		k.bar(value, "")
		return nil, nil
	}
	trials, err := k.Run(ctx, e)
	if err != nil {
		return nil, err
	}
	if p.Speed = speedOf(trials, k.contender.downtime); math.IsNaN(p.Downtime) || math.IsInf(p.Downtime, 0) {
		p.Verdict = Down
		if k.known(value) == nil {
			k.points = append(k.points, p)
		}
		k.tell(p)
	}
	return p, nil
}

// tell says what was measured, and how far the curve is.
func (k *curve) tell(p *Point) {
	if k.Told != nil {
		k.Told(k.contender, p)
	}
	k.share = max(k.share, min(k.spent/(usual*k.Hours), 0.95))
	k.told(k.share)
}

// isBeaten says whether another spread is within the budget and faster, so that it does not
// matter how many mistakes p makes.
func (k *curve) isBeaten(p *Point) bool {
	best := k.result.Best
	return best >= 0 && p.Downtime > slower*k.result.Points[best].Downtime
}

// watch counts the mistakes of a setting: until it is on one side of the budget, or has made as many as
// the budget allows in some hours; from then on so many hours more each time.
func (k *curve) watch(ctx context.Context, p *Point) error {
	e, err := k.contender.crashes(p.Patience, k.spread, 0)
	if err != nil {
		return err
	}
	warm := warmUp(e)
	each := min(max(0.25/k.Budget, 30*warm.Hours()), 1)
	until := p.Hours + enough/k.Budget
	for look := len(p.trials); p.Hours < until && k.spent < k.Hours; look = len(p.trials) {
		hours := max(first/k.Budget, 3*p.Hours)
		hours = min(hours, until-p.Hours, max(k.Hours-k.spent, each))
		trials := int(math.Ceil(hours / each))
		if look == 0 {
			trials = max(trials, fewest)
		}
		if e, err = k.contender.quiet(p.Patience, k.spread, each, warm, trials, look); err != nil {
			return err
		}
		ran, err := k.Run(ctx, e)
		if err != nil {
			return err
		}
		before := p.Hours
		p.Quiet.add(ran, warm, math.Log(p.Patience))
		if !(p.Hours > before) {
			return fmt.Errorf("%s: %s: not one trial of quiet running could be judged", k.contender.Label,
				p.Settings)
		}
		k.spent += p.Hours - before
		if !e.Cells[0].Plan.Detector.Restless() { // nobody watches by heartbeats
			p.Duration, p.Recurrence, p.Accuracy = math.NaN(), math.NaN(), math.NaN()
		}
		p.Verdict = p.Quiet.judge(k.Budget)
		if p.Verdict != Over && k.contender.beat == "" && p.Sends() > leeway*k.result.Limit {
			p.Verdict = Costly
		}
		if p.Verdict != Undecided {
			break
		}
	}
	k.tell(p)
	return nil
}

// fewest is the number of trials by which the first look sees whether mistakes come in clusters.
const fewest = 4

// open are the settings of which the budget is still inside the interval.
func (k *curve) open() []*Point {
	return slices.DeleteFunc(slices.Clone(k.points), func(p *Point) bool {
		return p.Verdict != Undecided || p.Patience <= k.low || p.Patience >= k.high
	})
}

// near is the open setting whose rate is the nearest to the budget; nil: none is open.
func (k *curve) near() (best *Point) {
	off := func(p *Point) float64 {
		return math.Abs(math.Log((float64(p.Mistakes) + 0.5) / p.Hours / k.Budget))
	}
	for _, p := range k.open() {
		if best == nil || off(p) < off(best) {
			best = p
		}
	}
	return best
}

// next is the setting to measure, if there is one to be.
func (k *curve) next() (value float64, ok bool) {
	near := k.near()
	switch {
	case math.IsNaN(k.high) && k.spent > k.Hours/4: // first of all some setting that is within
		return k.beyond(k.longest())
	case near != nil:
	case math.IsNaN(k.high): // what seemed to be within is over
		return k.beyond(k.low)
	case math.IsNaN(k.low) || k.high/k.low <= finest || k.beaten && k.high/k.low <= slower:
		return 0, false
	default:
		return k.between(k.low, k.high, math.Sqrt(k.low*k.high))
	}
	l := k.lineAt(near.Patience)
	if value, ok = k.within(l); !ok {
		return k.nearer(near, l)
	}
	if at := k.known(value); at != nil && at.Hours >= enough/k.Budget/2 {
		k.share = max(k.share, min(l.share(k, value), 0.95))
		if l.precise(k, value) || k.contender.fit(value/finest) <= k.low ||
			at.Hours >= 4*enough/k.Budget && k.tight(l, value) {
			return 0, false
		}
	}
	return value, true
}

// nearer is what to measure where the line says of no setting that it is within the budget: the one that is
// the nearest to it, for a while; then a longer one, if there is one between it and one that is within.
func (k *curve) nearer(near *Point, f fit) (float64, bool) {
	at := k.known(f.crossing(k.Budget))
	rough := at != nil && !f.precise(k, at.Patience)
	if rough && f.known && f.At(math.Log(at.Patience)) < k.Budget && at.Hours < 4*enough/k.Budget {
		return at.Patience, true
	}
	if math.IsNaN(k.high) {
		return k.beyond(near.Patience)
	}
	longer := near.Patience * windows[2]
	if f.known && f.Slope < 0 { // where the rate is so far below the budget as it may be
		longer = max(near.Patience*finest, min(longer, math.Exp(f.Where(k.Budget/(1+k.Precision)))))
	}
	if value, ok := k.between(near.Patience, k.high, longer); ok {
		return value, true
	}
	if rough && !k.beaten {
		return at.Patience, true
	}
	return 0, false
}

// tight says whether the next shorter setting was measured, is as near as a search goes, and is not within
// the budget, though it was watched for long: then it does not matter how far below the budget this one is.
func (k *curve) tight(f fit, value float64) bool {
	return slices.ContainsFunc(f.points, func(p *Point) bool {
		return p.Patience < value && p.Patience >= value/finest && p.Hours >= 4*enough/k.Budget &&
			f.upper(p.Patience) > k.Budget
	})
}

// longest is the longest time-out that was watched, or excluded.
func (k *curve) longest() float64 {
	most := k.low
	for _, p := range k.points {
		if p.Hours > 0 && !(p.Patience <= most) {
			most = p.Patience
		}
	}
	return most
}

// beyond is the next setting above one.
func (k *curve) beyond(value float64) (float64, bool) {
	_, most := k.contender.reach(k.Span)
	next := k.contender.fit(value * windows[1])
	for step := 1.3; next <= value && step < 4; step *= 1.3 { // the system counts in large steps
		next = k.contender.fit(value * step)
	}
	return next, next > value && next <= most*1.0001
}

// between is a setting between two, next to a third.
func (k *curve) between(low, high, value float64) (float64, bool) {
	value = k.contender.fit(value)
	if !(value < high) {
		value = k.contender.fit(math.Sqrt(low * high))
	}
	return value, value > low && value < high
}

// A fit is the line through the settings around one.
type fit struct {
	stats.RateLine
	points []*Point
	known  bool
}

// lineAt fits a line to the settings around one, to fewer if they do not lie on one.
func (k *curve) lineAt(value float64) (f fit) {
	for _, w := range append(slices.Clone(windows), 1) {
		f.points = slices.DeleteFunc(slices.Clone(k.points), func(p *Point) bool {
			away := max(p.Patience/value, value/p.Patience)
			return p.Hours == 0 || p.Rate > 4*k.Budget || away > w*1.0001
		})
		f.RateLine, f.known = stats.FitRates(counts(f.points))
		if f.known && f.Slope <= 0 && f.Misfit <= misfit {
			return f
		}
	}
	return f
}

// crossing is the measured setting that is the nearest to where the line crosses the budget.
func (f *fit) crossing(budget float64) float64 {
	if len(f.points) == 0 {
		return 0
	}
	at := math.NaN()
	if f.known {
		at = math.Exp(f.Where(budget))
	}
	if math.IsNaN(at) {
		at = f.points[0].Patience
	}
	return nearest(f.points, at)[0].Patience
}

// upper is the end of the interval of the rate at a setting.
func (f *fit) upper(value float64) float64 {
	_, high := f.Interval(math.Log(value), stats.Confidence)
	return high
}

// within is the shortest setting of which the line says that it is within the budget: one that was
// measured, if it is one of the next.
func (k *curve) within(f fit) (float64, bool) {
	if !f.known {
		return 0, false
	}
	from, to := math.Inf(1), 0.0
	for _, p := range f.points {
		from, to = min(from, p.Patience), max(to, p.Patience)
	}
	if f.Slope < 0 {
		from, to = from/windows[2], to*windows[2]
	}
	if k.low > from {
		from = k.low
	}
	for v := from; v <= to*1.0001; v *= 1.005 {
		s := k.contender.fit(v)
		if s <= k.low || s > k.high || f.upper(s) > k.Budget {
			continue
		}
		for _, p := range nearest(f.points, s) {
			upper := f.upper(p.Patience)
			if p.Patience >= s && p.Patience <= s*1.012 && p.Verdict != Over && p.Verdict != Costly &&
				upper <= k.Budget && (upper > 0.85*k.Budget || p.Hours < 4*enough/k.Budget) {
				return p.Patience, true
			}
		}
		if f.Slope < 0 {
			return s, true
		}
	}
	return 0, false
}

// precise says whether the rate at a setting is known so well that it need not be further below the
// budget.
func (f *fit) precise(k *curve, value float64) bool {
	return f.upper(value) <= (1+k.Precision)*f.At(math.Log(value))
}

// share is how much of the precision there is, in terms of mistakes.
func (f *fit) share(k *curve, value float64) float64 {
	have := math.Log(f.upper(value) / f.At(math.Log(value)))
	return math.Pow(math.Log1p(k.Precision)/have, 2)
}

// choose takes the shortest setting that was measured and is within the budget, by the line or by its own
// count, and has its leader crash as often as is needed to tell it from those of other spreads.
func (k *curve) choose(ctx context.Context) error {
	at := k.high
	if k.beaten {
		at = math.NaN()
	}
	if near := k.near(); near != nil {
		at = k.settle(near, at)
	} else if p := k.known(at); p != nil { // its own count decides; the line may tell more of the rate
		k.settle(p, at)
	}
	p := k.known(at)
	if p == nil {
		return nil
	}
	again, err := k.crash(ctx, at, k.Crashes)
	if err != nil {
		return err
	}
	if again.Verdict == Down {
		p.Verdict = Down
		return nil
	}
	p.Speed, p.Verdict = again.Speed, Within
	if best := k.result.Best; best < 0 || p.Downtime < k.result.Points[best].Downtime {
		k.chosen = p
	}
	return nil
}

// settle has the settings around one say what the line says of them, and returns the shortest that is
// within the budget; else high.
func (k *curve) settle(near *Point, high float64) float64 {
	f := k.lineAt(near.Patience)
	if !f.known {
		return high
	}
	for _, p := range f.points {
		x := math.Log(p.Patience)
		rate := f.At(x)
		low, upper := f.Interval(x, stats.Confidence)
		if upper-low < p.RateHigh-p.RateLow { // else its own count tells more
			p.Fitted, p.FittedLow, p.FittedHigh = rate, low, upper
		}
		if p.FittedHigh <= k.Budget && p.Patience > k.low && !(p.Patience >= high) && p.Verdict != Costly {
			high = p.Patience
		}
	}
	return high
}

// bound says what keeps the search from settings shorter than the chosen one; "": the budget does.
func (k *curve) bound() string {
	c, chosen := k.contender, k.chosen.Patience
	shorter := func(p *Point) bool { return p.Patience < chosen }
	switch {
	case math.IsNaN(k.low) && c.set != nil && c.fit(chosen/2) == chosen:
		return "at the bound of the model: the shortest setting that its system accepts is within the " +
			"budget"
	case math.IsNaN(k.low) && slices.ContainsFunc(k.points, shorter):
		return ""
	case math.IsNaN(k.low):
		return "at the edge of the search: the shortest setting is within the budget; a larger --span " +
			"finds shorter ones"
	case k.why == Over && c.fit(chosen/finest) <= k.low:
		return fmt.Sprintf("the next shorter setting, %s=%v, is over the budget", c.name(c.Dial),
			k.shown(k.low))
	case chosen/k.low > 1.1 || k.why == Over || k.why == slow:
		return ""
	case k.why == Down:
		return fmt.Sprintf("at the bound of the model: with %s=%v no leader comes back before time_limit %v "+
			"in most trials", c.name(c.Dial), k.shown(k.low), c.limit)
	case k.why == Costly:
		return fmt.Sprintf("at the limit of messages: %s=%v sends more than %s per second", c.name(c.Dial),
			k.shown(k.low), console.Number(k.result.Limit))
	}
	return "at the bound of the model: " + k.text
}

// shown is a value for people.
func (k *curve) shown(v float64) string {
	if k.contender.duration {
		return text(v)
	}
	return console.Number(v)
}
