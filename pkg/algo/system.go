package algo

import (
	"fmt"
	"reflect"
	"slices"
	"time"
)

// A System is how people who run the system of a Set configure it.
type System struct {
	// Beat and Patience are the Duration parameters that people choose: the time between two
	// heartbeats, renewals or cycles, and how long their absence is tolerated. Beat is "" where the
	// system derives it from Patience.
	Beat, Patience string
	// Choose is p with this beat and this patience, and with all that follows from them. Clocks is
	// how far apart the clocks of two members may be. The system may take only values near to these:
	// see Set.Fit.
	Choose func(p Params, beat, patience, clocks time.Duration) Params
	// Write is p in the system's own words, ready to paste.
	Write func(p Params) []Line
	// Bears is for how long the store of a lease may be away, and how far apart clocks may be, until a
	// leader is given up for nothing. Negative: the system does not compare clocks. Nil: there is no
	// store.
	Bears func(p Params) (store, clocks time.Duration)
	// Rule is the rule of thumb in the system's own documentation for members whose longest round
	// trip is that, and whether p follows it. Nil: there is none.
	Rule func(p Params, roundTrip time.Duration) (text string, kept bool)
	// Computed is what users of the system work out from their settings by hand. Nil: nothing.
	Computed func(p Params) []Computed
	// Checked says how the times of the set were compared with the system, in a sentence. "": its source
	// was read, and nothing was measured.
	Checked string
	// Real is what bench-systems runs of the system, to check predictions.
	Real Real
}

// Real is a system, or its library, as an algorithm. The zero value: nothing runs it.
type Real struct {
	Algorithm string            // its ID, as "election/etcd"
	Takes     map[string]string // by the names of its parameters, those of the set whose values they have
}

// A Line is a setting in a system's own words.
type Line struct {
	Into string // where it is written, as "flags of etcd"
	Text string // it may have several lines
}

// A Computed is a figure that users work out by hand.
type Computed struct {
	Name, Formula string
	Value         time.Duration
	// Worst says that it is meant as the longest outage after a crash of the leader.
	Worst bool
}

// defects says what is wrong with the declaration of a system, by its set's own values.
func (y *System) defects(set *Set, p Params) (errs []error) {
	wrong := func(text string, args ...any) {
		errs = append(errs, fmt.Errorf("set %s: system: "+text, append([]any{set.Name}, args...)...))
	}
	if y.Choose == nil || y.Write == nil {
		wrong("Choose and Write belong to it")
		return errs
	}
	for _, name := range []string{y.Beat, y.Patience} {
		if _, is := p[name].(time.Duration); !is && name != "" || name == "" && name == y.Patience {
			wrong("%q is no duration among the parameters", name)
			return errs
		}
	}
	beat := time.Duration(0)
	if y.Beat != "" {
		beat = p.Duration(y.Beat)
	}
	clocks := time.Duration(0)
	if y.Bears != nil {
		_, clocks = y.Bears(p)
	}
	own, _ := set.Fitted(y.Choose(p, beat, p.Duration(y.Patience), max(clocks, 0)))
	if !reflect.DeepEqual(own, p) {
		wrong("of its own beat and patience it chooses %v, not %v", own, p)
	}
	for own, name := range y.Real.Takes {
		if _, is := p[name]; !is {
			wrong("%q, which %s takes as %s, is no parameter", name, y.Real.Algorithm, own)
		}
	}
	lines := y.Write(p)
	if len(lines) == 0 || slices.ContainsFunc(lines, func(l Line) bool {
		return l.Into == "" ||
			l.Text == ""
	}) {
		wrong("it writes nothing, or nowhere")
	}
	return errs
}
