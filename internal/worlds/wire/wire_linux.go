package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/pkg/fault"
)

// patience is how long the process that moves packets may take to answer.
const patience = 10 * time.Second

// A Wire is a network with some ends, numbered from 1 on. Its packets are moved until Close, or until
// this process or that which moves them ends. Its methods may be called by several goroutines.
type Wire struct {
	spaces []*space
	child  *proc.Child

	mu      sync.Mutex // for writing orders, and
	number  uint64
	waiting map[uint64]chan *Stats
	failed  error
	over    chan struct{} // closed with failed
	missed  []uint64      // of the devices, before the present plan
}

// Open makes a wire, whose links take no time until Begin. The error is an *Unavailable where this
// machine or this user cannot have one.
func Open(s *proc.Spawner, cfg Config) (*Wire, error) {
	if cfg.Ends < 1 || cfg.Ends > Most {
		return nil, fmt.Errorf("wire: %d ends, expected 1 to %d", cfg.Ends, Most)
	}
	return launch(s, cfg)
}

// Keep makes a wire without ends, which has nothing to do but to remove a folder when this process is killed,
// and with it whatever wrote there. Close leaves the folder as it is.
func Keep(s *proc.Spawner, cfg Config, folder string) (*Wire, error) {
	cfg.Ends = 0
	w, err := launch(s, cfg)
	if err != nil {
		return nil, err
	}
	if _, err := w.ask(order{Folder: folder}); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

func launch(s *proc.Spawner, cfg Config) (*Wire, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	w := &Wire{waiting: map[uint64]chan *Stats{}, over: make(chan struct{}), missed: make([]uint64, cfg.Ends)}
	if err := w.open(s, cfg); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

func (w *Wire) open(s *proc.Spawner, cfg Config) error {
	var devices []*os.File
	for i := range cfg.Ends {
		space, err := newSpace(uint32(i) + 1)
		if err != nil {
			return fmt.Errorf("wire: end %d: %w", i+1, err)
		}
		w.spaces = append(w.spaces, space)
		devices = append(devices, space.tun)
	}
	child, err := s.Start(proc.Command{
		Path: cfg.Exe, Args: append(cfg.Args[:len(cfg.Args):len(cfg.Args)], strconv.Itoa(cfg.Ends)),
		Env: cfg.Env, Files: devices, Outlives: true,
	})
	if err != nil {
		return fmt.Errorf("wire: %w", err)
	}
	w.child = child
	for _, space := range w.spaces { // a device lasts as long as the process that moves its packets
		_ = space.tun.Close()
		space.tun = nil
	}
	ready := make(chan struct{})
	go w.listen(ready)
	select {
	case <-ready:
		return nil
	case <-w.over:
		return w.Failed()
	case <-time.After(patience):
		return fmt.Errorf("wire: the process that moves packets is not ready after %v", patience)
	}
}

// listen reads replies to the last.
func (w *Wire) listen(ready chan<- struct{}) {
	lines := json.NewDecoder(w.child.Stdout)
	for {
		var r reply
		err := lines.Decode(&r)
		switch {
		case err != nil:
			w.child.Kill() // it has ended, or writes nonsense
			w.fail(errors.New("wire: the process that moves packets has ended: " + w.child.Epitaph()))
			return
		case r.Error != "":
			w.fail(errors.New(r.Error))
		case r.Number == 0:
			close(ready)
		default:
			w.mu.Lock()
			if c := w.waiting[r.Number]; c != nil {
				c <- r.Stats
				delete(w.waiting, r.Number)
			}
			w.mu.Unlock()
		}
	}
}

func (w *Wire) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil {
		w.failed = err
		close(w.over)
	}
}

// Failed is why packets are not moved any more; nil while they are.
func (w *Wire) Failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// Done is closed when Failed is an error.
func (w *Wire) Done() <-chan struct{} { return w.over }

// ask gives an order and waits for the reply.
func (w *Wire) ask(o order) (*Stats, error) {
	answer := make(chan *Stats, 1)
	w.mu.Lock()
	if w.failed != nil {
		w.mu.Unlock()
		return nil, w.failed
	}
	w.number++
	o.Number = w.number
	w.waiting[o.Number] = answer
	line, err := json.Marshal(&o)
	if err == nil {
		_ = w.child.Stdin.SetWriteDeadline(time.Now().Add(patience))
		_, err = w.child.Stdin.Write(append(line, '\n'))
	}
	w.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("wire: order: %w", err)
	}
	select {
	case s := <-answer:
		return s, nil
	case <-w.over:
		return nil, w.Failed()
	case <-time.After(patience):
		return nil, fmt.Errorf("wire: the process that moves packets does not answer for %v", patience)
	}
}

// Begin has the links be as p says from now on. When it returns, they are.
func (w *Wire) Begin(p Plan) error {
	if err := p.Network.Check(); err != nil {
		return fmt.Errorf("wire: %w", err)
	}
	if _, err := w.ask(order{Plan: &p}); err != nil {
		return err
	}
	return w.devices(func(end int, missed uint64) { w.missed[end] = missed })
}

// Start says when the trial starts, an instant of clock.Monotonic after 0, where the plan does not.
func (w *Wire) Start(at time.Duration) error {
	_, err := w.ask(order{Start: at})
	return err
}

// Apply cuts or heals links, or makes them flaky, at the instant that e names. When it returns, that is
// known to the process that moves packets.
func (w *Wire) Apply(e fault.Effect) error {
	_, err := w.ask(order{Effect: &e})
	return err
}

// Stats is what has happened since Begin. It holds packets up, by about 3 µs for each link that had
// one.
func (w *Wire) Stats() (*Stats, error) {
	s, err := w.ask(order{Stats: true})
	if err != nil {
		return nil, err
	}
	return s, w.devices(func(end int, missed uint64) { s.Devices[end].Missed = missed - w.missed[end] })
}

func (w *Wire) devices(each func(end int, missed uint64)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, s := range w.spaces {
		missed, err := s.missed()
		if err != nil {
			return fmt.Errorf("wire: end %d: %w", i+1, err)
		}
		each(i, missed)
	}
	return nil
}

// Net is the network namespace of an end, for a proc.Command. It is the wire's to close.
func (w *Wire) Net(end uint32) *os.File { return w.spaces[end-1].ns }

// Do runs f on a thread in the namespace of an end. Sockets that f makes belong to the end.
func (w *Wire) Do(end uint32, f func() error) error { return w.spaces[end-1].do(f) }

// Pid is the id of the process that moves packets.
func (w *Wire) Pid() int { return w.child.Pid() }

// Close ends the wire. A process that still runs at an end has a namespace without a device then.
func (w *Wire) Close() {
	if w.child != nil {
		w.child.Close()
	}
	for _, s := range w.spaces {
		s.close()
	}
}
