package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A Queued is a run that is in a queue, or has left something there.
type Queued struct {
	Run       string
	Announced time.Time // zero: it is no longer announced
	Build     string    // of its program
	Runner    bool      // whether its runner is there
	Blocks    int       // that no worker has finished
	Results   int       // blocks whose results wait for the runner
	Aside     []Aside
}

// List are the runs in the queue of a server, by name. Note receives what a user should know
// while there is no answer.
func List(ctx context.Context, s Server, note func(string)) (list []Queued, err error) {
	l, err := connect(ctx, s, "conclave queue", note)
	if err != nil {
		return nil, err
	}
	defer l.nc.Close()
	all, err := l.list(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, *all[name])
	}
	return list, nil
}

func (l *link) list(ctx context.Context) (map[string]*Queued, error) {
	all := map[string]*Queued{}
	of := func(rest string) *Queued {
		name, _, _ := strings.Cut(rest, ".")
		if all[name] == nil {
			all[name] = &Queued{Run: name}
		}
		return all[name]
	}
	names, err := l.subjects(ctx, l.names, namesPrefix)
	if err != nil {
		return nil, err
	}
	for name := range names {
		if err := l.describe(ctx, of(name)); err != nil {
			return nil, err
		}
	}
	for s, prefix := range l.streams() {
		there, err := l.subjects(ctx, s, prefix+".")
		if err != nil {
			return nil, err
		}
		for rest := range there {
			if s == l.trials {
				of(rest).Blocks++
			} else {
				of(rest).Results++
			}
		}
	}
	asides, err := l.asides(ctx)
	for _, a := range asides {
		if parts := strings.SplitN(a.Subject, ".", 3); len(parts) == 3 { // conclave.results.RUN...
			q := of(parts[2])
			q.Aside = append(q.Aside, a)
		}
	}
	return all, err
}

// describe says of a run in the queue what it is.
func (l *link) describe(ctx context.Context, q *Queued) error {
	entry, r, err := l.find(ctx, q.Run)
	if err != nil && entry == nil {
		return err
	}
	if entry != nil {
		q.Announced = entry.Created()
	}
	if err == nil && r != nil { // else it cannot be read
		q.Build = r.Program.Binary
	}
	// Its runner answers even what it cannot read.
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	_, err = l.nc.RequestWithContext(ctx, keySubject(q.Run), nil)
	q.Runner = err == nil
	return nil
}

// announced are the names of the runs in the queue, and the number of the last announcement of one, which
// stays when the run is over.
func (l *link) announced(ctx context.Context) (names []string, last uint64, err error) {
	all, info, err := l.state(ctx, l.names, namesPrefix)
	if err != nil {
		return nil, 0, err
	}
	return slices.Sorted(maps.Keys(all)), info.State.LastSeq, nil
}

// subjects are those of a stream that begin with prefix, without it.
func (l *link) subjects(ctx context.Context, s jetstream.Stream, prefix string) (map[string]uint64, error) {
	all, _, err := l.state(ctx, s, prefix)
	return all, err
}

func (l *link) state(ctx context.Context, s jetstream.Stream, prefix string) (map[string]uint64,
	*jetstream.StreamInfo, error) {
	var info *jetstream.StreamInfo
	err := l.patiently(ctx, func(ctx context.Context) (err error) {
		info, err = s.Info(ctx, jetstream.WithSubjectFilter(prefix+">"))
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	out := map[string]uint64{}
	for subject, n := range info.State.Subjects {
		out[strings.TrimPrefix(subject, prefix)] = n
	}
	return out, info, nil
}

// Remove takes runs out of the queue of a server with all that they have there. It refuses one
// whose runner is there, and one that is not in the queue.
func Remove(ctx context.Context, s Server, runs []string, note func(string)) error {
	l, err := connect(ctx, s, "conclave queue", note)
	if err != nil {
		return err
	}
	defer l.nc.Close()
	all, err := l.list(ctx)
	if err != nil {
		return err
	}
	for _, run := range runs {
		switch q := all[run]; {
		case q == nil:
			return fmt.Errorf("no run %q is in the queue; bench queue list names those that are", run)
		case q.Runner:
			return fmt.Errorf("the runner of %s is at work; end it first", run)
		}
	}
	for _, run := range runs {
		if err := l.remove(ctx, run); err != nil {
			return fmt.Errorf("remove run %s: %w", run, err)
		}
	}
	return nil
}

func (l *link) remove(ctx context.Context, run string) error {
	if err := errors.Join(l.forget(ctx, run), l.clear(ctx, run)); err != nil {
		return err
	}
	err := l.patiently(ctx, func(ctx context.Context) error {
		return l.set.Purge(ctx, jetstream.WithPurgeSubject(asidePrefix+".*."+run+".>"))
	})
	if err != nil {
		return err
	}
	var stored []*jetstream.ObjectInfo
	err = l.patiently(ctx, func(ctx context.Context) (err error) {
		stored, err = l.files.List(ctx)
		return err
	})
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		return err
	}
	for _, file := range stored {
		if strings.HasPrefix(file.Name, run+".") {
			l.drop(ctx, file.Name)
		}
	}
	return nil
}
