package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Underway is what the attempts of a run that goes on have shown so far. The zero value has seen none.
type Underway struct {
	Finished int
	Counts   map[trace.Status]int // of finished trials
	Machines map[string]Done      // by name, where trials name their machines

	invalid map[string]*Reason // by text without what differs
}

// Done is what a machine has done of a run.
type Done struct{ Finished, Invalid int }

// A Reason is why attempts were invalid, as the last of them has it.
type Reason struct {
	Text  string
	Count int
	On    []string // machines, where they are named
}

// Where is on which machines that was, in a few words; "": they are not named.
func (r Reason) Where() string { return Some(r.On) }

// mostNamed is how many names stand for many.
const mostNamed = 3

// Some are the first of some names, and how many more there are.
func Some(names []string) string {
	text := strings.Join(names[:min(len(names), mostNamed)], ", ")
	if more := len(names) - mostNamed; more > 0 {
		text += " and " + console.Plural(more, "other", "others")
	}
	return text
}

// Add takes in an attempt. Final says that its trial needs no further one.
func (u *Underway) Add(t *results.Trial, final bool) {
	if u.Counts == nil {
		u.Counts, u.Machines, u.invalid = map[trace.Status]int{}, map[string]Done{}, map[string]*Reason{}
	}
	share := u.Machines[t.Host]
	if t.Status == trace.Invalid {
		share.Invalid++
		u.explain(t)
	}
	if final {
		share.Finished++
		u.Finished++
		u.Counts[t.Status]++
	}
	if t.Host != "" {
		u.Machines[t.Host] = share
	}
}

func (u *Underway) explain(t *results.Trial) {
	words := strings.Fields(t.Reason)
	for i, word := range words {
		if strings.Trim(word, ",;.:") == t.Host { // what differs only by it is one
			words[i] = "it"
		}
	}
	kind := results.Alike(strings.Join(words, " "))
	r := u.invalid[kind]
	if r == nil {
		r = &Reason{}
		u.invalid[kind] = r
	}
	r.Text, r.Count = t.Reason, r.Count+1
	if t.Host != "" && !slices.Contains(r.On, t.Host) {
		r.On = append(r.On, t.Host)
		slices.Sort(r.On)
	}
}

// Reasons are why attempts were invalid, the most frequent first.
func (u *Underway) Reasons() (list []Reason) {
	for _, kind := range slices.Sorted(maps.Keys(u.invalid)) {
		list = append(list, *u.invalid[kind])
	}
	slices.SortStableFunc(list, func(a, b Reason) int { return cmp.Compare(b.Count, a.Count) })
	return list
}

// Left is how long the rest takes, if it goes on as since an instant, when before trials were finished;
// 0: that is not known.
func (u *Underway) Left(planned, before int, since, now time.Time) time.Duration {
	done := u.Finished - before
	if done <= 0 || planned <= u.Finished {
		return 0
	}
	left := time.Duration(float64(now.Sub(since)) / float64(done) * float64(planned-u.Finished))
	return max(left, time.Second).Round(time.Second)
}

// PerMinute is how many trials were finished per minute of a run that began so long ago.
func PerMinute(trials int, since time.Duration) float64 {
	return float64(trials) / max(since.Minutes(), 1.0/60)
}

// Cost is what machines cost, in words: so far, per hour, and, where it is known how long the runs go on, at
// the end. Whole is that last figure; 0: it is not known.
func Cost(soFar, hourly float64, left time.Duration) (whole float64, text string) {
	text = fmt.Sprintf("%.2f so far, %.2f an hour", soFar, hourly)
	if left > 0 {
		whole = soFar + float64(hourly*left.Hours())
		text += fmt.Sprintf(", %.2f at the end", whole)
	}
	return whole, text
}
