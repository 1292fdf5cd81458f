package advise

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/internal/commands/rare"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// A Rate is how many false elections there are in a year, with its 95 % interval.
type Rate struct {
	Year, Low, High float64
	How             string // it was estimated
	Network, Pauses float64
	// Least is a rate that a record cannot tell from 0, since it is no longer; 0: there is none.
	Least float64
}

// The ways in which a rate is estimated.
const (
	byBound     = "none: no message is lost, and at most one in 1e16 is late enough"
	bySplitting = "multilevel splitting (bench rare)"
	byStress    = "an upper bound: multilevel splitting (bench rare) with more losses, by how many it takes"
	byCount     = "counted in resampled records"
	byDepth     = "rarer than the splitting reaches: an upper bound"
)

// direct is the probability of a loss from which on a splitting sees losses at all, and raised are those that
// it tries otherwise. Bursts come from too few of its paths: it always raises them.
const direct = 1e-3

var raised = []float64{0.03, 0.1, 0.2}

// strong is from how many losses on, that a mistake takes, a bound by more of them is near enough for a
// search.
const strong = 4

// vague is by how much an interval may exceed its estimate, or more losses are tried.
const vague = 8

// mistakes estimates the rate of a setting.
func (w *model) mistakes(ctx context.Context, x *Setting, fine bool) (Rate, error) {
	rate, err := w.byNetwork(ctx, x, fine)
	if err != nil || w.pauses == nil {
		return rate, err
	}
	n := 400
	if fine {
		n = 2000
	}
	p, low, high, err := w.byPause(ctx, x, n)
	times := w.pauseBy * float64(w.members()) * year
	rate.Pauses = p * times
	rate.Year, rate.Low, rate.High = rate.Year+p*times, rate.Low+low*times, rate.High+high*times
	rate.How += "; pauses one at a time, by their number"
	return rate, err
}

// members are the processes without the store.
func (w *model) members() int {
	if w.store() {
		return w.nodes - 1
	}
	return w.nodes
}

// member is the i-th of the members. The store is process 1.
func (w *model) member(i int) algo.ID { return algo.ID(w.nodes - i) }

// window is from when to when false elections count in a quiet trial: once everybody has waited for as
// long as anything lasts, and for some time-outs.
func (x *Setting) window() (from, to time.Duration) {
	from = x.longest() + 2*x.Beat
	return from, from + max(x.longest(), 20*x.Beat)
}

// The standard normal quantiles of what is exceeded once in 1e9, and once in 1e16. The members of a
// system send less than 1e10 messages in a year.
const (
	onceIn1e9  = 6.0
	onceIn1e16 = 8.3
)

// latest is how long the longest delay takes that is exceeded as rarely as a standard normal exceeds z.
// Delays that nobody has recorded are lognormal: see Request.network.
func (w *model) latest(z float64) time.Duration {
	if r := w.record(); r != nil {
		d, _ := w.network.Latency.Bound()
		return d
	}
	return time.Duration(float64(w.network.Slowest()) * math.Exp(z*w.q.jitter()))
}

// never says whether no silence of the network is long enough for a mistake: no message is lost, and none
// is as late as that.
func (w *model) never(x *Setting) bool {
	if w.network.Loses() {
		return false
	}
	d, beat := w.latest(onceIn1e16), x.Beat
	if w.store() { // requests one after the other, each answered before the patience is over
		return 4*d < min(x.Patience, x.Beat)
	}
	if beat == 0 {
		beat = x.Patience / 10
	}
	spread, _ := x.Params["heartbeat_spread"].(time.Duration)
	quorum, checks := x.Params["t_quorum"].(time.Duration)
	wait := 2*beat + spread + 4*d
	return x.Patience > wait && (!checks || quorum > wait)
}

// byNetwork is the rate of false elections that delays and losses cause.
func (w *model) byNetwork(ctx context.Context, x *Setting, fine bool) (rate Rate, err error) {
	switch {
	case w.never(x):
		return Rate{How: byBound}, nil
	case w.record() != nil:
		return w.counted(ctx, x, fine)
	}
	_, to := x.window()
	p, err := w.quiet(x, to+time.Second, -1)
	if err != nil {
		return Rate{}, err
	}
	p.Network = w.network
	alone, err := rare.Alone(&p, to)
	if err != nil {
		return Rate{}, err
	}
	for _, loss := range w.stresses(fine || w.losses(x, alone) < strong) {
		known := false
		if rate, known, err = w.split(ctx, x, &p, loss, alone, fine); err != nil || known {
			break
		}
	}
	rate.Network = rate.Year
	return rate, err
}

// split is the rate in a network with more losses, or as many, and whether it is known: every replication has
// seen a mistake. From more losses follows an upper bound. A mistake takes some of them at least, so with
// fewer it is rarer by the power of that.
func (w *model) split(ctx context.Context, x *Setting, p *harness.Plan, loss float64, alone, fine bool) (
	rate Rate, known bool, err error) {
	times := 1.0
	if real := w.rarest(); real > 0 {
		times = loss / real
	}
	own := *p
	own.Network = w.worse(loss, times)
	from, to := x.window()
	trials := rare.Mistakes(&own, from, to, x.Patience)
	if alone {
		slices.Reverse(trials)
	}
	o := rare.Options{Beyond: []float64{0.5}, Paths: w.q.Effort.Search, Replications: 4,
		Levels: w.q.Effort.Levels,
		Seed:   harness.Derive(w.q.Seed, "mistakes"), Workers: w.q.workers()}
	if fine {
		o.Paths, o.Replications = w.q.Effort.Paths, w.q.Effort.Replications
		o.Seed = harness.Derive(w.q.Seed, "mistakes of what is shown")
	}
	r, err := rare.Split(ctx, trials[:1], o)
	if err != nil {
		return Rate{}, false, err
	}
	scale := math.Pow(times, -w.losses(x, alone))
	yearly := func(p float64) float64 {
		return -math.Log1p(-min(p, 1-1e-9)) * year / float64(to-from) * scale
	}
	if r.Below > 0 {
		return Rate{High: yearly(r.Below), How: byDepth}, !r.Stuck, nil
	}
	e := &r.Estimates[0]
	rate = Rate{Year: yearly(e.Probability), Low: yearly(e.Low), High: yearly(e.High), How: bySplitting}
	switch {
	case e.Reached == 0: // though the pilot did
		rate = Rate{High: yearly(3 / float64(o.Paths*o.Replications)), How: bySplitting}
	case math.IsNaN(rate.High):
		rate.Low, rate.High = 0, yearly(1)
	}
	if loss > w.rarest() {
		rate.Year, rate.Low, rate.How = 0, 0, byStress
	}
	return rate, e.Reached == o.Replications && e.High <= vague*e.Probability, nil
}

// rarest is the larger of the probabilities of a loss, or of the beginning of a burst; 0: none is lost.
func (w *model) rarest() float64 {
	if b := w.network.Burst; b != nil {
		return max(b.Enter, b.Good)
	}
	return w.network.Loss
}

// stresses are the losses with which the splitting is tried, one after the other, until mistakes are seen: at
// first those that there are, if that is wanted.
func (w *model) stresses(exact bool) (tries []float64) {
	real := w.rarest()
	if real == 0 || w.q.Effort.Exact || exact && real >= direct && w.network.Burst == nil {
		tries = append(tries, real)
	}
	for _, loss := range raised {
		if loss > real {
			tries = append(tries, loss)
		}
	}
	if tries == nil {
		tries = append(tries, real)
	}
	return tries
}

// worse is the network with that probability of a loss, or, if it has bursts, with bursts so many times as
// frequent.
func (w *model) worse(loss, times float64) link.Network {
	n := w.network
	if n.Burst == nil {
		n.Loss = loss
		return n
	}
	b := *n.Burst
	b.Enter, b.Good = b.Enter*times, b.Good*times
	n.Burst = &b
	return n
}

// losses is how many messages are lost in a mistake, at least, or how many bursts there are. A silence is as
// long as the patience only if all messages of the leader are lost that would have come in time at the
// latest.
func (w *model) losses(x *Setting, alone bool) float64 {
	late := w.latest(onceIn1e9)
	duration := func(name string) time.Duration { d, _ := x.Params[name].(time.Duration); return d }
	if w.store() {
		// A request that is lost is one lost message, and the next begins when its answer is overdue.
		wait := duration("t_request")
		if wait == 0 {
			wait = x.Patience
		}
		if 2*late >= wait {
			return 0
		}
		return max(math.Floor(float64(x.Patience)/float64(wait)), 1)
	}
	beat := duration("heartbeat") + duration("heartbeat_spread")
	if beat == 0 {
		return 0
	}
	silent := x.Patience - late // of the leader, for its followers
	if quorum := duration("t_quorum"); quorum > 0 {
		silent = min(silent, quorum-2*late) // of the followers, for the leader
	}
	each := max(math.Floor(float64(silent-duration("tick"))/float64(beat)), 0)
	if w.network.Burst != nil {
		each = min(each, 1)
	}
	if alone {
		return each
	}
	return each * float64(rare.Deposing(w.nodes))
}

// longestTrial bounds the trials in which false elections are counted.
const longestTrial = 20 * time.Minute

// mostCounted is how much of a record, resampled, is simulated for a setting that is shown.
const mostCounted = 32 * time.Hour

// shows is how long the time is in which something has to happen once to be seen: the record, or as much as
// is simulated of a longer one.
func (w *model) shows() time.Duration { return min(w.recorded(), mostCounted) }

// counted is the rate in quiet trials that last for some times the length of the record together.
func (w *model) counted(ctx context.Context, x *Setting, fine bool) (Rate, error) {
	lengths, most := w.q.Effort.Lengths/4, mostCounted/8
	if fine {
		lengths, most = w.q.Effort.Lengths, mostCounted
	}
	from := x.longest() + 2*x.Beat
	all := min(time.Duration(lengths*float64(w.recorded())), most)
	each := max(min(longestTrial, all/16), 4*x.longest())
	n := max(int(all/each), 8)
	p, err := w.quiet(x, from+each+time.Second, -1)
	if err != nil {
		return Rate{}, err
	}
	counts := make([]float64, n)
	err = w.each(ctx, n, func(i int) error {
		plan := p
		plan.Seed = harness.Derive(w.q.Seed, "counted", uint64(i))
		if fine {
			plan.Seed = harness.Derive(w.q.Seed, "counted for what is shown", uint64(i))
		}
		count, err := rare.Count(&plan, from, from+each)
		counts[i] = float64(count)
		return err
	})
	if err != nil {
		return Rate{}, err
	}
	events := 0.0
	for _, c := range counts {
		events += c
	}
	over := float64(n) * float64(each) / year
	dispersion := stats.Dispersion(counts)
	low, high := stats.PoissonInterval(events/dispersion, stats.Confidence)
	out := Rate{Year: events / over, Low: low * dispersion / over, High: high * dispersion / over,
		How:   byCount,
		Least: year / float64(w.shows())}
	out.Network = out.Year
	return out, nil
}

// byPause is the probability that a pause of a member leads to a false election, with its interval. The pause
// begins at a random phase.
func (w *model) byPause(ctx context.Context, x *Setting, n int) (p, low, high float64, err error) {
	from := x.longest() + 2*x.Beat
	to := from + x.Beat + w.pauses[len(w.pauses)-1] + 2*x.longest()
	plan, err := w.quiet(x, to+time.Second, from)
	if err != nil {
		return 0, 0, 0, err
	}
	quiet := w.network
	quiet.Loss, quiet.Burst = 0, nil // whose mistakes are counted already
	if w.record() != nil {
		quiet.Latency = link.Constant(w.network.Slowest())
	}
	plan.Network = quiet
	hits := make([]int, n)
	err = w.each(ctx, n, func(i int) error {
		own := plan
		own.Seed = harness.Derive(w.q.Seed, "pause", uint64(i))
		own.Faults.Events = slices.Clone(plan.Faults.Events)
		pause := &own.Faults.Events[0]
		pause.Node, pause.Who = w.member(int(harness.Derive(own.Seed, "who")%uint64(w.members()))), ""
		if x.Beat > 0 {
			pause.At += time.Duration(harness.Derive(own.Seed, "phase") % uint64(x.Beat))
		}
		count, err := rare.Count(&own, from, to)
		hits[i] = min(count, 1)
		return err
	})
	all := 0
	for _, h := range hits {
		all += h
	}
	low, high = stats.BinomialInterval(all, n, stats.Confidence)
	return float64(all) / float64(n), low, high, err
}
