package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
)

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
	pending int           // blocks that no worker has begun, as far as is known
	fresh   []work.Block  // that nobody has begun
	held    map[int]*held // by number: blocks that are not finished

	// How long blocks take this worker: it had some for busy before since, and finished so many.
	since time.Time
	busy  time.Duration
	done  int
	met   map[int]int // by cell, from 0: how many real trials of it this machine has had
}

// A held is a block that this worker has for the time being.
type held struct {
	jetstream.Msg
	stop context.CancelFunc // of saying that it is at work
}

var _ work.Feed = (*feed)(nil)

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

const (
	// batchTime is how long the simulated blocks that are taken at once should keep the worker at work.
	batchTime = time.Second
	// mostBlocks is how many those are at most.
	mostBlocks = 256
	// mostPasses is how often a real block is passed on, and passTime how long it is out of the way then.
	mostPasses, passTime = 4, time.Second
)

// share is how many blocks to take at once. Of simulated ones first a block for each core, and then as
// many as the worker finishes in batchTime, as far as it knows; towards the end of a run each worker takes
// few, so that all end together. Of real ones it takes one.
func (f *feed) share() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.run.Virtual {
		return 1
	}
	want := 0
	if f.done > 0 {
		each := max((f.busy+f.running())/time.Duration(f.done), time.Microsecond)
		want = int(min(batchTime/each, mostBlocks))
	}
	return max(f.worker.cores, min(want, f.pending/8))
}

// running is how long the worker has had blocks without a pause.
func (f *feed) running() time.Duration {
	if len(f.held) == 0 {
		return 0
	}
	return time.Since(f.since)
}

// hold says again and again that the worker is at work on a block.
func (f *feed) hold(ctx context.Context, m jetstream.Msg) error {
	var b work.Block
	err := f.key.verify(m)
	if err == nil {
		err = json.Unmarshal(m.Data(), &b)
	}
	if err == nil && len(b.Trials) == 0 {
		err = errors.New("it names no trials: it is of an older build")
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
	tries, errs := uint64(mostTries), uint64(mostErrors)
	if !f.run.Virtual { // it may have been passed on
		tries, errs = tries+mostPasses, errs+mostPasses
	}
	if meta.NumDelivered > tries || trouble != "" && meta.NumDelivered > errs {
		why := fmt.Sprintf("it was begun %d times and never finished: each worker died, stopped "+
			"responding, was ended or failed", meta.NumDelivered-1)
		if trouble != "" {
			why += "; this one said: " + trouble
		}
		return errors.Join(f.send(ctx, &parcel{Block: b, Of: b.Number, Failed: why}), m.Ack())
	}
	if f.passes(&b, meta) {
		return m.NakWithDelay(passTime)
	}
	if !f.run.Virtual && meta.NumDelivered > 1 {
		if b = f.leftOf(ctx, b); len(b.Trials) == 0 {
			return m.Ack()
		}
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
	f.worker.worked()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held == nil { // the worker has left the run meanwhile
		stop()
		return m.Nak()
	}
	f.pending = int(meta.NumPending)
	if old := f.held[b.Number]; old != nil { // it took us for dead
		old.stop()
	} else {
		f.fresh = append(f.fresh, b)
	}
	if len(f.held) == 0 {
		f.since = time.Now()
	}
	f.meets(&b)
	f.held[b.Number] = &held{m, stop}
	return nil
}

// passes says whether another machine should have a block of real trials: this one has had more trials of
// its cells than of all cells on average. So each cell meets each machine about equally often.
func (f *feed) passes(b *work.Block, meta *jetstream.MsgMetadata) bool {
	if f.run.Virtual || f.experiment == nil || meta.NumPending == 0 || meta.NumDelivered > mostPasses {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	here, all := 0, 0
	for _, trial := range b.Trials {
		here += f.met[(trial-1)/f.experiment.Repetitions]
	}
	for _, n := range f.met {
		all += n
	}
	return here*len(f.experiment.Cells) > all*len(b.Trials)
}

// meets counts the real trials that this machine has had.
func (f *feed) meets(b *work.Block) {
	if f.run.Virtual || f.experiment == nil {
		return
	}
	if f.met == nil {
		f.met = map[int]int{}
	}
	for _, trial := range b.Trials {
		f.met[(trial-1)/f.experiment.Repetitions]++
	}
}

// leftOf asks the runner what is left of a block that another worker has begun. Without an answer that is
// all of it: what is run twice counts once.
func (f *feed) leftOf(ctx context.Context, b work.Block) work.Block {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	data, err := json.Marshal(&b)
	if err != nil {
		return b
	}
	m, err := f.worker.link.nc.RequestWithContext(ctx, leftSubject(f.name), data)
	if err != nil || f.key.verifies(m.Subject, m.Data, m.Header.Get(signature)) != nil {
		return b
	}
	var left work.Block
	if json.Unmarshal(m.Data, &left) != nil || left.Number != b.Number {
		return b
	}
	return b.Only(func(trial int) bool { return slices.Contains(left.Trials, trial) })
}

// Next implements work.Feed.
func (f *feed) Next(ctx context.Context) ([]work.Block, error) {
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

// Yield implements work.Feed.
func (f *feed) Yield(y work.Yield) error {
	// What is done is not lost because the worker is to end.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer context.AfterFunc(f.ctx, func() { time.AfterFunc(closeTimeout, cancel) })()
	p := &parcel{Block: y.Block, Of: y.Of, Last: y.Last, Ran: y.Ran, Files: map[int]string{}}
	for trial, data := range y.Traces {
		digest, err := f.worker.link.put(ctx, fileOf(f.name, p.Block.Number, fmt.Sprint(trial)), data)
		if err != nil {
			return fmt.Errorf("send the trace of trial %d: %w", trial, err)
		}
		p.Files[trial] = digest
	}
	var err error
	if p.rows, err = results.EncodeTrials(y.Rows); err != nil {
		return err
	}
	if err := f.send(ctx, p); err != nil || !y.Last {
		return err
	}
	f.mu.Lock()
	h := f.held[y.Of]
	if f.done++; len(f.held) == 1 {
		f.busy += f.running()
	}
	delete(f.held, y.Of)
	f.mu.Unlock()
	h.stop()
	once, over := context.WithTimeout(ctx, ackWait)
	defer over()
	_ = f.worker.link.patiently(once, h.DoubleAck) // else the block is done once more, and counts once
	f.worker.mu.Lock()
	f.worker.blocks++
	f.worker.tally.active = time.Now()
	f.worker.mu.Unlock()
	return nil
}

// send publishes a parcel.
func (f *feed) send(ctx context.Context, p *parcel) (err error) {
	first := p.Block.Number
	defer func() {
		if err != nil {
			err = fmt.Errorf("send block %d: %w", p.Of, err)
		}
	}()
	p.Worker = f.worker.name
	data, err := p.data()
	if err != nil {
		return err
	}
	packed := fold(data)
	if len(packed) > inMessage {
		small := &parcel{Block: p.Block, Of: p.Of, Worker: p.Worker}
		if small.Stored, err = f.worker.link.put(ctx, fileOf(f.name, first, "rows"), data); err != nil {
			return err
		}
		if data, err = small.data(); err != nil {
			return err
		}
		packed = fold(data)
	}
	return f.worker.link.publish(ctx, f.key.message(subjectOf(resultsPrefix, f.name, first), packed))
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
