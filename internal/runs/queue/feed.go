package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/pkg/experiment"
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
	held    map[int]*held // by repetition: blocks that are not finished
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
	var b work.Block
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
		why := fmt.Sprintf("it was begun %d times and never finished: each worker died, stopped "+
			"responding, was ended or failed", meta.NumDelivered-1)
		if trouble != "" {
			why += "; this one said: " + trouble
		}
		return errors.Join(f.send(ctx, &parcel{Yield: work.Yield{Block: b, Failed: why}}), m.Ack())
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
	if old := f.held[b.Repetition]; old != nil { // it took us for dead
		old.stop()
	} else {
		f.fresh = append(f.fresh, b)
	}
	f.held[b.Repetition] = &held{m, stop}
	return nil
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
	p, block := &parcel{Yield: y, Files: map[int]string{}}, y.Block.Repetition
	for trial, data := range y.Traces {
		digest, err := f.worker.link.put(ctx, fileOf(f.name, block, fmt.Sprint(trial)), data)
		if err != nil {
			return fmt.Errorf("send the trace of trial %d: %w", trial, err)
		}
		p.Files[trial] = digest
	}
	if err := f.send(ctx, p); err != nil {
		return err
	}
	f.mu.Lock()
	h := f.held[block]
	delete(f.held, block)
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
	block := p.Block.Repetition
	defer func() {
		if err != nil {
			err = fmt.Errorf("send block %d: %w", block, err)
		}
	}()
	p.Worker = f.worker.name
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	packed := pack(data)
	if len(packed) > inMessage {
		p = &parcel{Yield: work.Yield{Block: work.Block{Repetition: block}, Worker: p.Worker}}
		if p.Stored, err = f.worker.link.put(ctx, fileOf(f.name, block, "rows"), data); err != nil {
			return err
		}
		if data, err = json.Marshal(p); err != nil {
			return err
		}
		packed = pack(data)
	}
	return f.worker.link.publish(ctx, f.key.message(subjectOf(resultsPrefix, f.name, block), packed))
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
