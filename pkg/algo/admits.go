package algo

import (
	"fmt"
	"math"
	"slices"
)

// Admits says who may be in the critical section beside others. The zero value: nobody, which
// is mutual exclusion as most papers mean it.
type Admits struct {
	// Places is the Int parameter, the same for every process, that says how many may be
	// inside at once. "": one.
	Places string
}

// Several says whether there may be more than one inside.
func (a Admits) Several() bool { return a.Places != "" }

// Text says in words who may be inside at once.
func (a Admits) Text() string {
	if a.Places != "" {
		return "at most " + a.Places + " processes in the critical section"
	}
	return "at most one process in the critical section"
}

func (a Admits) defect(params []Param) error {
	i := slices.IndexFunc(params, func(p Param) bool { return p.Name == a.Places })
	if a.Places == "" || i >= 0 && params[i].Type == Int && !params[i].PerProcess &&
		params[i].Min != nil && !less(params[i].Min, int64(1)) {
		return nil
	}
	return fmt.Errorf("places %q is no whole number from 1 on among the parameters that all processes "+
		"share", a.Places)
}

// A Room is the critical section of a trial: whom it holds at once.
type Room struct {
	Places int
}

// Room is the critical section of processes that have the resolved parameters p.
func (s *Spec) Room(p Params) Room {
	if s.Admits.Places == "" {
		return Room{Places: 1}
	}
	return Room{Places: int(min(p.Int(s.Admits.Places), math.MaxInt32))}
}

// Text says how many it holds, behind somebody who is inside; "" if it is one.
func (r Room) Text() string {
	if r.Places == 1 {
		return ""
	}
	return fmt.Sprintf(", and at most %d may be", r.Places)
}

// Bars says whether one of those inside, of whom before have entered before it, keeps
// others out.
func (r Room) Bars(before int) bool { return before+1 >= r.Places }
