package history

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/base/stats"
)

// A Curve is what analyses with several alphas would have noticed.
type Curve struct {
	Series       int       `json:"series"`
	Values       int       `json:"values"`
	CommitsAYear float64   `json:"commits_a_year"`
	Shifts       []float64 `json:"shifts"`
	Rows         []Setting `json:"rows"`
	Proposed     *Proposal `json:"proposed"` // null: none raises so few alarms
}

// A Setting is one alpha.
type Setting struct {
	Alpha  float64 `json:"alpha"`
	Alarms float64 `json:"false_alarms_a_year"`
	Found  []Found `json:"found"` // by Curve.Shifts
}

// Found is what became of steps of one size.
type Found struct {
	Share float64 `json:"share"` // found within Within commits
	// measured commits until it is reported, the first included: the median of those found
	Delay float64 `json:"delay"`
	Tries int     `json:"tries"`
}

// A Proposal is the alpha that finds most with so few alarms, and the smallest step that is found nine
// times in ten.
type Proposal struct {
	Alpha  float64  `json:"alpha"`
	Least  *float64 `json:"least"`
	Alarms float64  `json:"false_alarms_a_year"`
}

// Within is after how many commits a step is to be found.
const Within = 5

// window is how many values a look back at a series takes, and least how many come before a step.
const (
	window = 60
	before = 10
)

// ErrShort is that of a history without a noisy series that is long enough.
var ErrShort = errors.New("no noisy series has 20 values or more: add more runs on real processes")

// Roc adds steps to the noisy series of an analysis, and looks at each commit as if it were the
// last. Alarms are the changes that an analysis at any commit reports in the unchanged series, and that
// the whole series does not have within two commits.
func Roc(ctx context.Context, a *Analysis, alarms float64) (*Curve, error) {
	c := &Curve{Shifts: []float64{0.01, 0.02, 0.05, 0.10}}
	var series []*Series
	var noisy int
	var span time.Duration
	for _, s := range a.Series {
		const constant = 1e-9 // counts, for example: a shift of these has no noise to hide in
		if s.Exact || !s.logs || s.Noise() < constant {
			continue
		}
		if len(s.Points) >= Fewest {
			noisy++
		}
		if len(s.Points) < 2*before {
			continue
		}
		series = append(series, s)
		c.Values += len(s.Points)
		span = max(span, s.Points[len(s.Points)-1].Entry.committed().Sub(s.Points[0].Entry.committed()))
	}
	if len(series) == 0 {
		return nil, ErrShort
	}
	c.Series = len(series)
	commits := float64(c.Values) / float64(c.Series)
	c.CommitsAYear = commits
	if span > 0 {
		c.CommitsAYear = commits * float64(365*24*time.Hour) / float64(span)
	}
	for _, alpha := range []float64{0.1, 0.05, 0.01, 0.001, 0.0001} {
		row := Setting{Alpha: alpha}
		wrong, looks := 0, 0
		tries := make([][]int, len(c.Shifts)) // delays; 0: not found
		for _, s := range series {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			w, l := s.alarms(alpha / float64(noisy))
			wrong, looks = wrong+w, looks+l
			for i, shift := range c.Shifts {
				tries[i] = append(tries[i], s.caught(math.Log1p(shift), alpha/float64(noisy))...)
			}
		}
		if looks > 0 { // looks are of single series, of which each commit has as many as there are
			row.Alarms = float64(wrong) / float64(looks) * float64(noisy) * c.CommitsAYear
		}
		for _, delays := range tries {
			row.Found = append(row.Found, foundOf(delays))
		}
		c.Rows = append(c.Rows, row)
	}
	c.propose(alarms)
	return c, nil
}

func foundOf(delays []int) Found {
	var yes []float64
	for _, d := range delays {
		if d > 0 {
			yes = append(yes, float64(d))
		}
	}
	f := Found{Tries: len(delays)}
	if len(yes) > 0 {
		f.Share, f.Delay = float64(len(yes))/float64(len(delays)), stats.Describe(yes, 0).Median
	}
	return f
}

// values are the logarithms of the series.
func (s *Series) values() []float64 {
	out := make([]float64, len(s.Points))
	for i, p := range s.Points {
		out[i] = math.Log(p.Value)
	}
	return out
}

// alarms counts what looks at each commit told that the whole series does not bear out.
func (s *Series) alarms(alpha float64) (wrong, looks int) {
	values := s.values()
	whole := stats.FollowCourse(values, alpha).Shifts
	near := func(at int, shifts []stats.Shift) bool {
		return slices.ContainsFunc(shifts, func(x stats.Shift) bool {
			return at >= min(x.Lo, x.At)-2 && at <= max(x.Hi, x.End)+2
		})
	}
	var told []stats.Shift
	for n := before; n <= len(values); n++ {
		from := max(0, n-window)
		looks++
		for _, shift := range stats.FollowCourse(values[from:n], alpha).Shifts {
			shift.At, shift.End, shift.Lo, shift.Hi = shift.At+from, shift.End+from, shift.Lo+from,
				shift.Hi+from
			if !near(shift.At, whole) && !near(shift.At, told) {
				told = append(told, shift)
				wrong++
			}
		}
	}
	return wrong, looks
}

// caught adds a step at several places of the series without its own shifts, and tells after how many
// commits each is found; 0: not within Within.
func (s *Series) caught(step, alpha float64) (delays []int) {
	rest := s.values()
	for i := range rest {
		rest[i] -= math.Log(s.Course.Level[i])
	}
	for at := before; at+Within <= len(rest); at += max(1, (len(rest)-before-Within)/5) {
		from := max(0, at-window)
		changed := slices.Clone(rest[from : at+Within])
		for i := at - from; i < len(changed); i++ {
			changed[i] += step
		}
		delay := 0
		for n := 1; n <= Within && delay == 0; n++ {
			for _, x := range stats.FollowCourse(changed[:at-from+n], alpha).Shifts {
				if x.Hi >= at-from-1 && x.Lo <= at-from+1 && x.After > x.Before {
					delay = n
				}
			}
		}
		delays = append(delays, delay)
	}
	return delays
}

// propose picks the largest alpha that keeps to so many alarms.
func (c *Curve) propose(alarms float64) {
	for _, row := range c.Rows {
		if row.Alarms > alarms {
			continue
		}
		p := &Proposal{Alpha: row.Alpha, Alarms: row.Alarms}
		for i, f := range row.Found {
			if f.Share >= 0.9 {
				p.Least = &c.Shifts[i]
				break
			}
		}
		c.Proposed = p
		return
	}
}
