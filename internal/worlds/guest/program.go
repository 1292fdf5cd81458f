// Package guest runs algorithms that are not in this program: programs in any language, which speak the step
// protocol over their standard input and output, and modules of WebAssembly. Each is an algorithm like those
// in Go: it is handed one event at a time, and what it answers are the effects. So whatever simulates,
// explores, replays or deploys algorithms does so with these.
package guest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/conclave-bench/conclave/internal/worlds/guest/wire"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// A channel carries requests to one running copy of a program, and its answers back.
type channel interface {
	// call sends a request and returns its answer, which is valid until the next call. An error says that
	// no more can be had of it, and why.
	// Watched: a guard watches the caller.
	call(request []byte, limit time.Duration, watched bool) (answer []byte, err error)
	// end sends the request to end, and waits for the end. What is wrong with it is an error.
	end(request []byte) error
	// kill ends it at once.
	kill()
	// said is what it wrote last to its standard error.
	said() string
}

// A Program is an algorithm that is not in this program.
type Program struct {
	Plugin Plugin

	start  func() (channel, error)
	said   string // the answer to describe of the first copy, hashed
	first  string // and as it is, of the first in this process
	kinds  map[string]known
	raws   []algo.Raw // by index
	names  []string
	wants  map[algo.EventType]bool
	timers []string // nil: any
	params []algo.Param
	draws  bool
	states bool
	saves  map[string]bool // kinds that are no messages
	packed bool            // events are in the compact layout

	next atomic.Uint64 // numbers of processes

	mu      sync.Mutex
	copies  map[algo.ID]*running // by process if each has one of its own, else by 0
	request request
	answer  answer
	tap     func(Answered)
	last    []byte // what was answered last
	line    string // and without its number, for tap
}

// known is a kind that the program has declared.
type known struct {
	algo.Raw
	index uint8
}

// running is one copy of a program that runs.
type running struct {
	channel channel
	read    *reader
	n       uint64 // of the last request
	dead    error  // why it does not run any more
	dropped []uint64
}

// Limits on the time that an answer takes.
const (
	simulated = 10 * time.Second
	RealTime  = time.Second
)

// settings are those of this process.
var settings struct {
	limit    atomic.Int64  // 0: simulated
	starting atomic.Int64  // limits the answer to describe; 0: simulated
	memory   atomic.Uint64 // limits that of a program, in bytes; 0: maxMemory
	separate atomic.Bool
	joins    atomic.Bool
	env      []string // of programs; nil: that of this process
}

// SetLimit bounds the time that the answer to an event takes.
func SetLimit(d time.Duration) { settings.limit.Store(int64(d)) }

// Separate has each process of an algorithm run in a copy of the program of its own, or all in one.
func Separate(each bool) { settings.separate.Store(each) }

// Join has programs be in the process group of this process, so that what stops the one stops the other.
func Join() { settings.joins.Store(true) }

func limit() time.Duration { return cmp.Or(time.Duration(settings.limit.Load()), simulated) }

func starting() time.Duration { return cmp.Or(time.Duration(settings.starting.Load()), simulated) }

// maxMemory bounds the memory that a program takes, in bytes.
const maxMemory = 2 << 30

func memory() uint64 { return cmp.Or(settings.memory.Load(), maxMemory) }

// declare takes the spec from a first copy of the program.
func (p *Program) declare() (algo.Spec, error) {
	p.copies = map[algo.ID]*running{}
	p.mu.Lock()
	defer p.mu.Unlock()
	r, d, err := p.launch()
	if err != nil {
		return algo.Spec{}, err
	}
	p.copies[algo.None] = r
	problem, name, _ := strings.Cut(p.Plugin.ID, "/")
	if d.Problem != problem {
		return algo.Spec{}, fmt.Errorf("its spec says problem %q, and it is called %s", d.Problem,
			p.Plugin.ID)
	}
	p.draws, p.states, p.timers = d.Draws, d.States, d.Timers
	if p.packed = d.compact; p.packed && !p.Plugin.module() {
		return algo.Spec{}, errors.New("only modules of WebAssembly take the compact layout")
	}
	if p.wants, err = d.handles(); err != nil {
		return algo.Spec{}, err
	}
	s, errs := d.spec(name, p)
	p.params, p.kinds = s.Params, map[string]known{}
	for _, m := range slices.Concat(s.Messages, s.Auxiliary, s.Saves) {
		raw := m.(algo.Raw)
		p.kinds[raw.Name] = known{raw, uint8(len(p.raws))}
		p.raws, p.names = append(p.raws, raw), append(p.names, raw.Name)
	}
	p.saves = map[string]bool{}
	for _, m := range s.Saves {
		p.saves[m.Kind()] = true
	}
	if p.Plugin.Said == "" {
		p.Plugin.Made.add(p.Plugin.Dir, d.Files)
		p.Plugin.Said = p.said
	}
	return s, errors.Join(errs...)
}

// launch starts a copy, which must describe itself as the first one did.
func (p *Program) launch() (*running, *description, error) {
	c, err := p.start()
	if err != nil {
		return nil, nil, err
	}
	r := &running{channel: c, read: newReader(p)}
	p.request.begin(r.count(), "describe")
	p.request.value("protocols", []int{wire.Version})
	line, err := c.call(p.request.end(), starting(), false)
	var d *description
	if err == nil {
		if d, err = describe(line, r.n); err != nil {
			err = quoted(err, line)
		}
	}
	text := string(line)
	sum := sha256.Sum256(line)
	said := hex.EncodeToString(sum[:])
	switch {
	case err != nil, p.said == "", said == p.said:
	case p.first != "":
		err = fmt.Errorf("it describes itself in another way than before: %s", difference(p.first, text))
	default:
		err = errors.New("it describes itself in another way than when the run began")
	}
	if err != nil {
		c.kill() // so that all is there that it has said
		return nil, nil, withLast(fmt.Errorf("event %d (describe): %w", r.n, err), c)
	}
	p.first, p.said = text, said
	return r, d, nil
}

// difference is where two texts begin to differ.
func difference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := max(0, i-20)
	return fmt.Sprintf("%s, and before %s", short([]byte(b[from:])), short([]byte(a[from:])))
}

func (r *running) count() uint64 {
	r.n++
	return r.n
}

// home is the copy in which a process lives that begins now; under the lock.
func (p *Program) home(id algo.ID) (*running, error) {
	if !settings.separate.Load() {
		id = algo.None
	}
	if r := p.copies[id]; r != nil && r.dead == nil {
		return r, nil
	}
	r, _, err := p.launch()
	if err == nil {
		p.copies[id] = r
	}
	return r, err
}

// A question is what a request is: its name, for errors, and the key that its answer may have; value and
// state it must have.
type question struct {
	name func() string
	key  string
}

// ask sends the request that has been written, and reads the answer; under the lock.
func (p *Program) ask(r *running, q question) error {
	if r.dead != nil {
		return fmt.Errorf("the program has ended: %w", r.dead)
	}
	compact := p.packed && q.key == "effects"
	line, err := r.channel.call(p.request.b, limit(), q.key != "value" && q.key != "state")
	p.last = line
	if p.tap != nil && err == nil {
		p.line = unnumbered(string(line), r.n)
	}
	if err == nil {
		if compact {
			err = p.answer.unpack(line, p.raws)
		} else if err = r.read.read(line, &p.answer); err == nil {
			err = p.answer.unfit(r.n, q.key)
		}
		if err == nil {
			err = p.check(&p.answer)
		}
		if err != nil {
			err = quoted(err, line)
		}
	}
	if err == nil {
		return nil
	}
	r.channel.kill() // so that all is there that it has said
	r.dead = withLast(fmt.Errorf("event %d (%s): %w", r.n, q.name(), err), r.channel)
	return r.dead
}

// unnumbered is an answer without its number.
func unnumbered(line string, n uint64) string {
	rest := strings.TrimSpace(line)
	if cut, begins := strings.CutPrefix(rest, fmt.Sprintf(`{"n":%d`, n)); begins {
		rest = "{" + strings.TrimPrefix(cut, ",")
	}
	return rest
}

// check says what is wrong with the effects as such.
func (p *Program) check(a *answer) error {
	for i := range a.effects {
		e := &a.effects[i]
		if (e.Op == algo.OpSetTimer || e.Op == algo.OpCancelTimer) && p.timers != nil &&
			!slices.ContainsFunc(p.timers, func(t string) bool {
				prefix, open := strings.CutSuffix(t, "*")
				return t == string(e.Timer) || open && strings.HasPrefix(string(e.Timer), prefix)
			}) {
			return fmt.Errorf("unknown timer %s%s (has: %s)", brief(string(e.Timer)),
				algo.Hint(string(e.Timer), p.timers), strings.Join(p.timers, ", "))
		}
		switch {
		case e.Op == algo.OpGranted && p.Plugin.problem() != algo.MutualExclusion:
			return errors.New("granted is for mutual exclusion")
		case e.Op == algo.OpElected && p.Plugin.problem() != algo.Election:
			return errors.New("elected is for leader election")
		case e.Op == algo.OpSetTimer && !p.wants[algo.Timeout]:
			return fmt.Errorf("it sets the timer %s, but its handles lack timeout", brief(string(e.Timer)))
		case e.Op == algo.OpSend && p.saves[e.Msg.Kind()]:
			return fmt.Errorf("%s is among saves, and so is no message", e.Msg.Kind())
		}
	}
	return nil
}

// quoted is an error about a line, with its beginning. One that is no JSON is in general one that was printed
// by mistake.
func quoted(err error, line []byte) error {
	switch {
	case !errors.Is(err, errNoJSON) || bytes.HasPrefix(line, []byte{'{'}) && utf8.Valid(line):
		return fmt.Errorf("%w, in %s", err, short(line))
	case bytes.HasPrefix(line, []byte{'{'}):
		return fmt.Errorf("it is not UTF-8: %s", short(line))
	}
	return fmt.Errorf("%s is not JSON: did you print to standard output?", short(line))
}

// withLast is an error with what the program wrote to its standard error.
func withLast(err error, c channel) error {
	if said := strings.TrimSpace(c.said()); said != "" {
		return fmt.Errorf("%w; its standard error ends with: %s", err, said)
	}
	return err
}

// preset asks for the default of a parameter.
func (p *Program) preset(name string, t algo.ParamType, net algo.Network) any {
	v, err := p.inquire("default", func(r *request) {
		r.text("parameter", name)
		r.about(net, net.Params, p.params)
	})
	if err == nil {
		var value any
		if value, err = valueOf(t, v); err == nil {
			return value
		}
	}
	panic(algo.BreachOf(fmt.Errorf("%v: the default of %s: %w", p.Plugin, name, err)))
}

// doubt asks whether the promises hold.
func (p *Program) doubt(net algo.Network, params algo.Params) error {
	v, err := p.inquire("doubt", func(r *request) { r.about(net, params, p.params) })
	var why *string
	if err == nil {
		why, err = as[*string](v)
	}
	switch {
	case err != nil:
		panic(algo.BreachOf(fmt.Errorf("%v: doubt: %w", p.Plugin, err)))
	case why != nil:
		return errors.New(*why)
	}
	return nil
}

// about adds what is known of the links, and parameters.
func (r *request) about(net algo.Network, p algo.Params, params []algo.Param) {
	r.value("network", wire.NetworkOf(net))
	own, all := valuesOf(p, params)
	if own == nil {
		own = map[string]any{}
	}
	r.value("params", own)
	if all != nil {
		r.value("all", all)
	}
}

// inquire asks for a value.
func (p *Program) inquire(what string, write func(*request)) (json.RawMessage, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, err := p.home(algo.None)
	if err != nil {
		return nil, err
	}
	p.request.begin(r.count(), what)
	write(&p.request)
	p.request.end()
	if err := p.ask(r, question{func() string { return what }, "value"}); err != nil {
		return nil, err
	}
	if failed := p.answer.failed; failed != "" {
		return nil, errors.New(failed)
	}
	return p.answer.value, nil
}

// An Answered is an event of a process, and the answer of the program without its number.
type Answered struct {
	Process algo.ID
	Event   string
	Answer  string
}

// Tap has f called with each event that the program has answered from now on; nil: no more.
func (p *Program) Tap(f func(Answered)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tap = f
}

// kill ends all copies at once.
func (p *Program) kill() {
	for _, r := range p.copies {
		if r.dead == nil {
			r.channel.kill()
		}
	}
}

// Close ends all copies. What is wrong with their ends is an error.
func (p *Program) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(p.copies)) {
		if r := p.copies[id]; r.dead == nil {
			p.request.begin(r.count(), "end")
			r.dead = errors.New("the run is over")
			if err := r.channel.end(p.request.end()); err != nil {
				err = fmt.Errorf("%v: event %d (end): %w", p.Plugin, r.n, err)
				errs = append(errs, withLast(err, r.channel))
			}
		}
	}
	clear(p.copies)
	return errors.Join(errs...)
}
