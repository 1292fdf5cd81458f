package check

import "time"

// recovery is how long nobody got in after something went wrong: from a crash, or
// from the loss of a token, to the next grant. If nobody waits at that instant it
// counts from the next request: nothing is amiss while nobody wants to enter.
type recovery struct {
	faults  int           // in all
	idle    int           // faults since which nobody has waited
	open    int           // faults since which somebody has
	begins  time.Duration // of the open ones, added up
	over    int
	lasting time.Duration // of those that are over, added up
}

// fault is something that went wrong, while somebody waits or not.
func (r *recovery) fault(at time.Duration, waiting bool) {
	r.faults++
	r.idle++
	if waiting {
		r.request(at)
	}
}

func (r *recovery) request(at time.Duration) {
	if r.idle == 0 {
		return
	}
	r.begins += time.Duration(r.idle) * at
	r.open += r.idle
	r.idle = 0
}

func (r *recovery) grant(at time.Duration) {
	if r.open == 0 {
		return
	}
	r.lasting += time.Duration(r.open)*at - r.begins
	r.over += r.open
	r.open, r.begins = 0, 0
}

// deserted says that nobody waits any more.
func (r *recovery) deserted() {
	r.idle += r.open
	r.open, r.begins = 0, 0
}

// metrics is none if nothing went wrong.
func (r *recovery) metrics() []Metric {
	if r.faults == 0 {
		return nil
	}
	return []Metric{{"recovery_ms", mean(ms(r.lasting), r.over)}}
}
