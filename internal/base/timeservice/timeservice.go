// Package timeservice reads what the time services of this machine promise of its wall clock: by how much
// it can differ from a reference at most. Two machines that know this of the same reference know it of
// each other.
package timeservice

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
)

// UTC is the reference of services that do not name another one.
const UTC = "UTC"

// A source is a time service, and how its promise is read.
type source struct {
	name string
	read func(context.Context) (promise, error)
}

// sources are all of them. Whatever a machine does not have is absent there.
var sources = []source{
	{"clockbound", readClockBound},
	{"chrony", readChrony},
	{"ptp", readPTP},
}

// Names are those of all services, in a fixed order.
func Names() (list []string) {
	for _, s := range sources {
		list = append(list, s.name)
	}
	return list
}

// A promise is that the wall clock differs from a reference by no more than within, at an instant of the
// monotonic clock. That grows by drift, in ns a ns.
type promise struct {
	reference string
	at        time.Duration
	within    time.Duration
	drift     float64
}

// grown is what the promise says at a later instant.
func (p *promise) grown(now time.Duration) time.Duration {
	return p.within + time.Duration(p.drift*float64(max(0, now-p.at))) + 1
}

const (
	// unsteered is by how much a wall clock drifts, in ns a ns, whose service does not say it: what
	// ClockBound assumes unless it is configured.
	unsteered = 50e-6
	// readAgain is how long after a reading the next one is due.
	readAgain = time.Second
	// readTimeout is how long a program may take.
	readTimeout = 3 * time.Second
	// mostWithin is what a promise is worth nothing above: it says no more than a slow network.
	mostWithin = time.Second
)

// A Service is a time service that this machine has.
type Service struct {
	Name      string
	Reference string // UTC, or the identity of a PTP grandmaster

	source source
	mu     sync.Mutex
	last   promise
	read   time.Duration // when it was read
}

// Find asks all services at once, and returns those that promise something.
func Find(ctx context.Context) (list []*Service) {
	found := make([]*Service, len(sources))
	var all sync.WaitGroup
	for i, s := range sources {
		all.Go(func() { found[i] = find(ctx, s) })
	}
	all.Wait()
	for _, s := range found {
		if s != nil {
			list = append(list, s)
		}
	}
	return list
}

func find(ctx context.Context, from source) *Service {
	p, err := from.promised(ctx)
	if err != nil {
		return nil // it is not there, or has not found a reference: the clock goes without it
	}
	return &Service{Name: from.name, Reference: p.reference, source: from, last: p, read: clock.Monotonic()}
}

func (s source) promised(ctx context.Context) (promise, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	p, err := s.read(ctx)
	if err == nil && (p.within < 0 || p.within > mostWithin || p.drift < 0 || p.drift > 1) {
		err = fmt.Errorf("%s promises %v and a drift of %g, which is worth nothing", s.name, p.within,
			p.drift)
	}
	return p, err
}

// Ask returns what the reference shows, as an answer of another clock: it is between Answered and Heard.
func (s *Service) Ask(ctx context.Context) ([]clock.Sample, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if clock.Monotonic()-s.read >= readAgain {
		p, err := s.source.promised(ctx)
		if err != nil {
			return nil, err
		}
		if p.reference != s.Reference {
			return nil, errors.New(s.Name + " goes by another reference than before")
		}
		s.last, s.read = p, clock.Monotonic()
	}
	return []clock.Sample{s.last.sample(clock.Wall)}, nil
}

// sample reads the wall clock.
func (p *promise) sample(wall func() time.Duration) clock.Sample {
	q := clock.Sample{Ours: clock.Steered(), Theirs: clock.Steering{Known: true}}
	q.Asked = clock.Monotonic()
	shown := wall()
	q.Got = clock.Monotonic()
	within := p.grown(q.Got)
	q.Heard, q.Answered = shown+within, shown-within
	return q
}

// output is what a program writes.
func output(ctx context.Context, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.WaitDelay = readTimeout
	out, err := c.Output()
	return string(out), err
}
