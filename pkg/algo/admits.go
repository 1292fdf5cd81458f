package algo

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Admits says who may be in the critical section beside others. The zero value: nobody, which
// is mutual exclusion as most papers mean it.
type Admits struct {
	// Places is the Int parameter, the same for every process, that says how many may be
	// inside at once. "": one, or any number of one session.
	Places string
	// Sessions is the Int parameter that says which session a process always asks for; with 0
	// each of its requests names one, see Env.Session. Those of two sessions are never inside
	// together. "": there are no sessions.
	Sessions string
}

// A Session is what a request is for, where some may be inside together: 1 and up.
type Session uint32

// MostSessions is how many sessions there may be.
const MostSessions = 1_000_000

// Several says whether there may be more than one inside.
func (a Admits) Several() bool { return a != Admits{} }

// Text says in words who may be inside at once.
func (a Admits) Text() string {
	switch {
	case a.Sessions != "" && a.Places != "":
		return "at most " + a.Places + " processes in the critical section, all of one session"
	case a.Sessions != "":
		return "only processes of one session in the critical section"
	case a.Places != "":
		return "at most " + a.Places + " processes in the critical section"
	}
	return "at most one process in the critical section"
}

func (a Admits) defect(params []Param) error {
	whole := func(name string, least int64, most any) *Param {
		i := slices.IndexFunc(params, func(p Param) bool {
			return p.Name == name && p.Type == Int && p.Min == any(least) && p.Max == most
		})
		if i < 0 {
			return nil
		}
		return &params[i]
	}
	var errs []error
	if p := whole(a.Places, 1, nil); a.Places != "" && (p == nil || p.PerProcess) {
		errs = append(errs, fmt.Errorf("places %q is no whole number from 1 on among the parameters that "+
			"all processes share", a.Places))
	}
	if p := whole(a.Sessions, 0, int64(MostSessions)); a.Sessions != "" && (p == nil || !p.PerProcess) {
		errs = append(errs, fmt.Errorf("sessions %q is no whole number from 0 to %d among the parameters "+
			"that each process may have of its own", a.Sessions, MostSessions))
	}
	return errors.Join(errs...)
}

// SessionOf is the session that process id always asks for with the resolved parameters p; 0:
// each of its requests names one, or there are none.
func (s *Spec) SessionOf(p Params, id ID) Session {
	if s.Admits.Sessions == "" {
		return 0
	}
	if list, ok := p[s.Admits.Sessions].([]any); ok {
		return Session(list[id-1].(int64))
	}
	return Session(p.Int(s.Admits.Sessions))
}

// A Room is the critical section of a trial: whom it holds at once.
type Room struct {
	Places int // how many of one session
}

// Room is the critical section of processes that have the resolved parameters p.
func (s *Spec) Room(p Params) Room {
	switch a := s.Admits; {
	case a.Places != "":
		return Room{Places: int(min(p.Int(a.Places), math.MaxInt32))}
	case a.Sessions != "":
		return Room{Places: math.MaxInt32}
	}
	return Room{Places: 1}
}

// A Door is the entry of one more.
type Door struct {
	session Session
	places  int
}

// Door is the entry of one more of a session.
func (r Room) Door(s Session) Door { return Door{s, r.Places} }

// Bars says whether one of a session that is inside keeps the other out. It is to be asked about
// all that are inside, the first to enter first.
func (d *Door) Bars(s Session) bool {
	if s != d.session {
		return true
	}
	d.places--
	return d.places <= 0
}

// Reason is why one of a session keeps the other out, in words behind those two; "" where one
// is inside at a time.
func (r Room) Reason(inside, enters Session) string {
	switch {
	case inside != enters:
		return fmt.Sprintf(", in session %d and not %d", inside, enters)
	case r.Places > 1:
		return fmt.Sprintf(", and at most %d may be", r.Places)
	}
	return ""
}
