package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/worlds/guest"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// A WorkerConfig says how a worker works.
type WorkerConfig struct {
	Server
	Machine string         // its name, for results; "": the host's
	Options runner.Options // the programs; Workers is how many trials are simulated at a time
	Say     func(string)   // tells the user something
	Host    HostConfig     // its zero value: the machine is no host of runs over several
	Until   Until
}

// Work runs trials of whatever runs of this program are in the queue, until ctx ends.
//
// What comes over the network is an experiment and numbers of blocks: data, which this
// program checks as it checks a file. Nothing of it is a command, names a file or leads to
// another bus.
func Work(ctx context.Context, cfg WorkerConfig) error {
	w := &worker{cfg: cfg, name: nameOf(cfg.Machine), site: results.ThisSite(), told: map[string]bool{},
		grants: map[string]grant{}}
	w.cores = cfg.Options.Workers
	if w.cores <= 0 {
		w.cores = runtime.GOMAXPROCS(0)
	}
	agent.SweepDirs(os.TempDir()) // a run may be over before this worker makes a folder for it
	var err error
	if w.offer, err = cfg.Host.host(); err != nil {
		return err
	}
	if w.link, err = connect(ctx, cfg.Server, "conclave worker "+w.name, cfg.Say); err != nil {
		return err
	}
	defer w.link.nc.Close()
	w.lock, w.machine, w.spawner = lockOf(), lockOf(), proc.NewSpawner()
	defer func() { _ = w.spawner.Close() }() // nobody is left
	ctx, cancel := context.WithCancel(ctx)
	defer w.agents.Wait()
	defer func() { // no agent comes from now on
		w.mu.Lock()
		cancel()
		w.mu.Unlock()
	}()
	if err := w.serve(ctx); err != nil {
		return err
	}
	if err := w.begin(ctx, cancel); err != nil {
		return err
	}
	w.cfg.Say(fmt.Sprintf("worker %s: %d cores, build %.12s; waiting for runs", w.name, w.cores,
		w.site.Tool.Binary))
	for ctx.Err() == nil {
		if err := w.once(ctx); err != nil && ctx.Err() == nil {
			w.mu.Lock()
			said := w.trouble
			w.trouble = err.Error()
			w.mu.Unlock()
			if said != err.Error() { // not every second
				w.cfg.Say(err.Error())
			}
			pause(ctx, time.Second)
		}
		if err := w.link.closed(); err != nil {
			return err
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// A worker takes part in runs, one after the other.
type worker struct {
	cfg   WorkerConfig
	name  string
	site  results.Site
	cores int
	link  *link
	lock  *flock.Flock    // of the machine: real trials have it for themselves
	told  map[string]bool // runs of other programs
	// grants are the keys of runs, by name, that their runners have given us.
	grants map[string]grant

	offer   *Host          // the machine as a host; nil: it is none
	machine *flock.Flock   // likewise of the machine, which an agent's nodes have for themselves
	spawner *proc.Spawner  // of agents
	agents  sync.WaitGroup // that are there

	mu     sync.Mutex
	turn   turn
	wanted bool // an agent waits for its turn
	run    string
	feed   *feed // of that run
	blocks int
	tally  tally
	// trouble is what went wrong last; "": nothing.
	trouble string
}

func (w *worker) status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := Status{Machine: w.name, Cores: w.cores, Site: w.site, Load: results.LoadAverage(), Run: w.run,
		Blocks: w.blocks}
	if w.feed != nil {
		s.Held = w.feed.holds()
	}
	if w.offer != nil {
		h := *w.offer
		h.Busy = w.busy()
		s.Host = &h
	}
	return s
}

// idle is how long a worker waits before it looks for other runs.
const idle = 500 * time.Millisecond

// once takes part in every run that is there, as long as that has blocks.
func (w *worker) once(ctx context.Context) error {
	names, last, err := w.link.announced(ctx)
	if err != nil {
		return err
	}
	w.finished(names, last)
	for _, name := range names { // one that is wrong does not keep us from the others
		if one := w.join(ctx, name); one != nil && ctx.Err() == nil {
			err = errors.Join(err, fmt.Errorf("run %s: %w", name, one))
		}
	}
	pause(ctx, idle)
	return err
}

// runs are the names of those in the queue.
func (w *worker) runs(ctx context.Context) (names []string, err error) {
	names, _, err = w.link.announced(ctx)
	return names, err
}

// find is a run and what the queue holds of it; both nil if it is over.
func (l *link) find(ctx context.Context, name string) (entry jetstream.KeyValueEntry, r *Run, err error) {
	err = l.patiently(ctx, func(ctx context.Context) (err error) {
		entry, err = l.runs.Get(ctx, name)
		return err
	})
	if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrKeyDeleted) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	data, err := unpack(entry.Value(), mostRun)
	r = &Run{}
	if err == nil {
		err = json.Unmarshal(data, r)
	}
	return entry, r, err
}

// join takes part in a run as long as it has blocks.
func (w *worker) join(ctx context.Context, name string) error {
	entry, r, err := w.link.find(ctx, name)
	if err != nil || r == nil {
		return err
	}
	if !r.same(w.site.Tool) {
		if !w.told[name] {
			w.told[name] = true
			w.cfg.Say(fmt.Sprintf("run %s needs another program than this worker's: build %.12s, and this "+
				"is %.12s; it is skipped; start a worker of that build for it", name, r.Program.Binary,
				w.site.Tool.Binary))
		}
		return nil
	}
	// What came over the network starts no program.
	if err := guest.Same(r.Header.Programs); err != nil {
		if !w.told[name] {
			w.told[name] = true
			w.cfg.Say(fmt.Sprintf("run %s is skipped: %v", name, err))
		}
		return nil
	}
	key, err := w.keyOf(ctx, name, digest(entry.Value()))
	if errors.Is(err, errAway) { // nobody who has no key takes part
		if away := name + ": away"; !w.told[away] {
			w.told[away] = true
			w.cfg.Say(fmt.Sprintf("run %s: its runner does not answer with a key; its blocks wait "+
				"for it, or for workers that have a key", name))
		}
		return nil
	}
	if err != nil {
		return err
	}
	f := &feed{ctx: ctx, worker: w, name: name, run: r, key: key, held: map[int]*held{}}
	err = w.link.patiently(ctx, func(ctx context.Context) (err error) {
		f.from, err = w.link.trials.Consumer(ctx, name)
		return err
	})
	if errors.Is(err, jetstream.ErrConsumerNotFound) { // it is about to end
		return nil
	}
	if err != nil {
		return err
	}
	info := f.from.CachedInfo()
	if info.NumPending+uint64(info.NumAckPending) == 0 {
		return nil
	}
	f.pending = int(info.NumPending)
	if !w.take(ofQueue) {
		return nil
	}
	defer w.leave(ofQueue)
	if err := f.fetch(ctx); err != nil || f.holds() == 0 {
		return err
	}
	return w.work(ctx, f)
}

// work runs blocks of a run.
func (w *worker) work(ctx context.Context, f *feed) (err error) {
	defer f.giveBack()
	e, err := experiment.Parse(results.ConfigFile, f.run.Config, experiment.Overrides{})
	if err != nil {
		return err
	}
	if e.Bus.URL != "" {
		return errors.New("it names a bus of its own (bus.url), whose credentials are on another machine")
	}
	f.experiment = e
	dir, mine, err := agent.MakeDir(os.TempDir(), "work-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir), mine.Close()) }()
	f.run.Virtual = e.Virtual()
	header := runner.Header(e, nil) // what came over the network names no folder
	if !f.run.Virtual {
		header.Hosts = []string{w.name}
	}
	folder, err := results.Create(filepath.Join(dir, "results"), header, f.run.Config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	w.mu.Lock()
	w.run, w.feed = f.name, f
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.run, w.feed = "", nil
		w.mu.Unlock()
		_ = w.lock.Unlock()
	}()
	options := w.cfg.Options
	options.Workers = w.cores
	return runner.Work(ctx, e, folder, f, options)
}
