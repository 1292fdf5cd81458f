package prove

import (
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Removable are the events, by place in the schedule, without which the others still break a promise: each is
// left out once. A search by levels finds none, since the schedule would not be the shortest. Of a schedule
// from whose end nothing completes, none is tried: only the whole search knows that.
func (f *Find) Removable() (out []int) {
	if f.Endless {
		return nil
	}
	for i := range f.Schedule {
		rest := slices.Delete(slices.Clone(f.Schedule), i, i+1)
		if f.narrator.breaksBy(rest) {
			out = append(out, i)
		}
	}
	return out
}

// breaksBy says whether the steps are a schedule that breaks a promise.
func (n *narrator) breaksBy(steps []Step) bool {
	w := n.worker
	w.begin()
	for i := range steps {
		v := slices.Clone(w.next)
		if w.wrong != "" {
			return true
		}
		choices, _ := w.choices(v)
		at := slices.IndexFunc(choices, func(c choice) bool { return w.like(c, &steps[i]) })
		if at < 0 {
			return false
		}
		w.apply(v, sum(v), choices[at])
	}
	if w.wrong != "" {
		return true
	}
	choices, held := w.choices(slices.Clone(w.next))
	return !held && len(choices) == 0 && w.stuck() != ""
}

// like says whether a choice in the present state is what happened in a step: the same message, timer, or
// peer.
func (w *worker) like(c choice, s *Step) bool {
	if c.do() != s.Do {
		return false
	}
	switch {
	case c.do() == cut:
		return severed(c.more()).change(w.n).String() == s.Change.String()
	case c.do() == heal:
		return true
	case c.who() != int(s.Process)-1:
		return false
	}
	switch c.do() {
	case notice, suspicion:
		return algo.ID(c.more()+1) == s.Peer
	case expiry:
		return w.at(c.who()).timers[c.more()].Name == s.Event.Timer
	case delivery, repeated, loss:
		m := w.msgs.all[w.on(c.more() >> 8).msgs[c.more()&255]]
		kind, _ := w.setup.Alg.Codec.KindOf(s.Event.Msg)
		body := w.setup.Alg.Codec.Append(nil, kind, s.Event.Msg)
		return algo.ID(m.from+1) == s.Event.Peer && m.kind == kind && m.body == string(body)
	}
	return true
}
