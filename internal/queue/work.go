package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/conclave-bench/conclave/internal/host/agent"
	"github.com/conclave-bench/conclave/internal/proc"
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
		if w.link.nc.IsClosed() {
			return fmt.Errorf("NATS has closed the connection: %w", w.link.nc.LastError())
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
	names, err := w.runs(ctx)
	if err != nil {
		return err
	}
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
	all, err := w.link.subjects(ctx, w.link.names, namesPrefix)
	return slices.Sorted(maps.Keys(all)), err
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
			w.cfg.Say(fmt.Sprintf("run %s is of another program than this worker's: build %.12s, and this "+
				"is %.12s; it is left alone; start a worker of that build for it", name, r.Program.Binary,
				w.site.Tool.Binary))
		}
		return nil
	}
	key, err := w.keyOf(ctx, name, digest(entry.Value()))
	if errors.Is(err, errAway) { // nobody who has no key takes part
		if away := name + ": away"; !w.told[away] {
			w.told[away] = true
			w.cfg.Say(fmt.Sprintf("run %s: its runner is not there, and gives no key; its blocks wait "+
				"for it, or for workers that have one", name))
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
	header.Named = !f.run.Virtual
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

// A feed is the blocks of one run that a worker has taken.
type feed struct {
	ctx        context.Context // of the worker
	worker     *worker
	name       string
	run        *Run
	key        key
	from       jetstream.Consumer
	experiment *experiment.Experiment

	mu      sync.Mutex
	pending int            // blocks that no worker has begun, as far as is known
	fresh   []runner.Block // that nobody has begun
	held    map[int]*held  // by repetition: blocks that are not finished
}

// A held is a block that this worker has for the time being.
type held struct {
	jetstream.Msg
	stop context.CancelFunc // of saying that it is at work
}

var _ runner.Feed = (*feed)(nil)

// together is how long blocks that come at once may take to arrive one after the other.
const together = 20 * time.Millisecond

// fetch takes some blocks, if there are any. What comes after the first ones is taken as it
// comes.
func (f *feed) fetch(ctx context.Context) error {
	// Not FetchNoWait: with it, a cluster of NATS 2.15.2 counted deliveries of a block whose
	// worker had died, every six seconds, and no worker got one.
	msgs, err := f.from.Fetch(f.share(), jetstream.FetchMaxWait(idle))
	if err != nil {
		pause(ctx, idle)
		return nil
	}
	some, end := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		for m := range msgs.Messages() {
			if err := f.hold(ctx, m); err != nil {
				end <- err
				return
			}
			select {
			case some <- struct{}{}:
			default:
			}
		}
		if msgs.Error() != nil {
			pause(ctx, idle) // a server has died, or the run is over
		}
		end <- nil
	}()
	select {
	case err := <-end:
		return err
	case <-some:
		pause(ctx, together)
		return nil
	}
}

func (f *feed) holds() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.held)
}

// share is how many blocks to take at once. Simulated trials are short, and asking for them
// takes time; towards the end of a run each worker takes few, so that all end together.
func (f *feed) share() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.run.Virtual {
		return 1
	}
	cores, least := f.worker.cores, 1
	if f.experiment != nil {
		least += (cores - 1) / len(f.experiment.Cells) // a trial for each core
	}
	return max(least, min(4*cores, f.pending/8))
}

// hold says again and again that the worker is at work on a block.
func (f *feed) hold(ctx context.Context, m jetstream.Msg) error {
	var b runner.Block
	err := f.key.verify(m)
	if err == nil {
		err = json.Unmarshal(m.Data(), &b)
	}
	if err != nil {
		f.worker.cfg.Say(fmt.Sprintf("a block on %s is set aside: %v", Printable(m.Subject()), err))
		f.worker.link.aside(ctx, m, err)
		return nil
	}
	meta, err := m.Metadata()
	if err != nil {
		return err
	}
	f.worker.mu.Lock()
	trouble := f.worker.trouble
	f.worker.mu.Unlock()
	if meta.NumDelivered > mostTries || trouble != "" && meta.NumDelivered > mostErrors {
		why := fmt.Sprintf("it was begun %d times, and no worker finished it: each died, fell silent, was "+
			"ended or failed", meta.NumDelivered-1)
		if trouble != "" {
			why += "; this one said: " + trouble
		}
		return errors.Join(f.send(ctx, &parcel{Block: b, Worker: f.worker.name, Failed: why}), m.Ack())
	}
	alive, stop := context.WithCancel(ctx)
	go func() {
		for tick := time.NewTicker(ackWait / 3); ; {
			select {
			case <-tick.C:
				_ = m.InProgress() // if it does not arrive, another worker does the block as well
			case <-alive.Done():
				tick.Stop()
				return
			}
		}
	}()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held == nil { // the worker has left the run meanwhile
		stop()
		return m.Nak()
	}
	f.pending = int(meta.NumPending)
	if old := f.held[b.Repetition]; old != nil { // it took us for dead
		old.stop()
	} else {
		f.fresh = append(f.fresh, b)
	}
	f.held[b.Repetition] = &held{m, stop}
	return nil
}

// Next implements runner.Feed.
func (f *feed) Next(ctx context.Context) ([]runner.Block, error) {
	for empty := 0; ; empty++ {
		if f.holds() == 0 {
			_ = f.worker.lock.Unlock()
			f.worker.leave(ofQueue)
		}
		if !f.worker.take(ofQueue) { // nodes of a run over several hosts are here
			return nil, nil
		}
		f.mu.Lock()
		blocks, under := f.fresh, len(f.held)
		f.fresh = nil
		f.mu.Unlock()
		if len(blocks) > 0 {
			return blocks, f.claim(ctx)
		}
		if ctx.Err() != nil {
			return nil, nil
		}
		if empty > 0 && under == 0 {
			if over, err := f.over(ctx); over || err != nil {
				return nil, err
			}
		}
		if err := f.fetch(ctx); err != nil {
			return nil, err
		}
	}
}

// claim waits for the machine: a real trial has it for itself, simulated ones share it.
func (f *feed) claim(ctx context.Context) error {
	try := f.worker.lock.TryLockContext
	if f.run.Virtual {
		try = f.worker.lock.TryRLockContext
	}
	_, err := try(ctx, 20*time.Millisecond)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// over says whether the worker should look elsewhere: the run has ended, or another one of
// its program waits.
func (f *feed) over(ctx context.Context) (bool, error) {
	names, err := f.worker.runs(ctx)
	if err != nil {
		return false, err
	}
	return len(names) != 1 || names[0] != f.name, nil
}

// Yield implements runner.Feed.
func (f *feed) Yield(b runner.Block, y runner.Yield) error {
	// What is done is not lost because the worker is to end.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer context.AfterFunc(f.ctx, func() { time.AfterFunc(closeTimeout, cancel) })()
	p := &parcel{Block: b, Worker: f.worker.name, Ran: y.Worker, Traces: map[int]string{}}
	if p.Ran != nil {
		p.Ran.Host, p.Ran.Machine = f.worker.name, f.worker.site.Machine
	}
	for i := range y.Rows {
		row := &y.Rows[i]
		if !f.run.Virtual {
			row.Host = f.worker.name
		}
		data, err := results.EncodeTrial(row)
		if err != nil {
			return err
		}
		p.Rows = append(p.Rows, data)
	}
	for trial, data := range y.Traces {
		digest, err := f.worker.link.put(ctx, fileOf(f.name, b.Repetition, fmt.Sprint(trial)), data)
		if err != nil {
			return fmt.Errorf("send the trace of trial %d: %w", trial, err)
		}
		p.Traces[trial] = digest
	}
	if err := f.send(ctx, p); err != nil {
		return err
	}
	f.mu.Lock()
	h := f.held[b.Repetition]
	delete(f.held, b.Repetition)
	f.mu.Unlock()
	h.stop()
	once, over := context.WithTimeout(ctx, ackWait)
	defer over()
	_ = f.worker.link.patiently(once, h.DoubleAck) // else the block is done once more, and counts once
	f.worker.mu.Lock()
	f.worker.blocks++
	f.worker.mu.Unlock()
	return nil
}

// send publishes a parcel.
func (f *feed) send(ctx context.Context, p *parcel) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	packed := pack(data)
	if len(packed) > inMessage {
		digest, err := f.worker.link.put(ctx, fileOf(f.name, p.Block.Repetition, "rows"), data)
		if err != nil {
			return fmt.Errorf("send block %d: %w", p.Block.Repetition, err)
		}
		data, err = json.Marshal(&parcel{Block: runner.Block{Repetition: p.Block.Repetition},
			Worker: p.Worker, Stored: digest})
		if err != nil {
			return err
		}
		packed = pack(data)
	}
	subject := subjectOf(resultsPrefix, f.name, p.Block.Repetition)
	if err := f.worker.link.publish(ctx, f.key.message(subject, packed)); err != nil {
		return fmt.Errorf("send block %d: %w", p.Block.Repetition, err)
	}
	return nil
}

// giveBack lets other workers have at once what this one has not finished.
func (f *feed) giveBack() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range f.held {
		h.stop()
		_ = h.Nak()
	}
	f.held = nil
}
