package algo

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/param"
)

// A Spec is what an algorithm says about itself. Zero values are the papers'
// usual model: complete graph, asynchronous, reliable channels, no crash.
type Spec struct {
	Name      string // lower-case words joined by '-'; the registry adds the kind
	Summary   string // one line, shown by "bench list"
	Paper     Paper
	Messages  []Message // a zero value of each, for decoding
	Auxiliary []Message // acknowledgements and the like: counted with the detector's, apart
	Saves     []Message // a zero value of each type handed to Env.Save that is not a message
	// Diskless: of a library, it writes nothing to the disk of the trial, which faults of disks are about.
	Diskless bool
	// Writes: of a library, clients can have its leader make their writes durable.
	Writes    bool
	Params    []Param
	Sets      []Set    // values of parameters by one name, such as those of a system that people run
	Perpetual bool     // never falls quiet: heartbeats, a circulating token
	Periods   []Period // of an election that is Perpetual: what a leader repeats meanwhile
	// Settles is how long a leader has to lead, with parameters p as process 1 sees them, until
	// what its followers repeat, whatever they hear of it, is at a random phase. Nil: at once.
	Settles  func(p Params) time.Duration
	Told     bool     // of an election: a script's suspicion starts one, though no detector's does
	Token    string   // the kind of message that hands the token on; "": there is none
	Admits   Admits   // of mutual exclusion: which requests may be inside at once
	Needs    Needs    // what its surroundings must provide
	Survives Faults   // what may happen to it
	Promises Promises // what the checkers then hold it to
	Servers  string   // of a system: the parameter that says how many servers stand behind the processes
	// Ails says, of a system, why its servers cannot have a fault of disk, clock or processor of that name;
	// nil: they can. Without the function they have none.
	Ails func(fault string) error
	// Facts is, of a system, what a reader of its figures has to know: by the columns of package metric,
	// ServiceColumns. An error says that it is not installed, and what to install.
	Facts   func(p Params) (map[string]string, error)
	Service Service // of an election: when a service that rests on its leader is up
	Claims  []Claim // complexity, and its source; checked by the conformance kit
	Breaks  string  // what happens beyond Needs and Survives, in sentences
	// Predicted names the algorithm by which the times of a library are predicted; nil: none is.
	Predicted *Prediction
}

// A Prediction is an algorithm and its parameters, which behaves as a library does.
type Prediction struct {
	By      string         // the name of the algorithm
	Set     string         // one of its sets; "": none
	Params  map[string]any // others than those of the set
	Differs string         // what the two do otherwise, in sentences
}

// String is the algorithm with its parameters.
func (p *Prediction) String() string {
	out := p.By
	if p.Set != "" {
		out += ", set " + p.Set
	}
	for i, name := range slices.Sorted(maps.Keys(p.Params)) {
		out += [...]string{", with ", ", "}[min(i, 1)] + fmt.Sprintf("%s %v", name, p.Params[name])
	}
	return out
}

// A Period is what a leader does again and again for as long as nothing happens, such as
// sending heartbeats. How long an outage lasts depends on how much of it had passed when
// the leader crashed, so scenarios let that happen at any phase of it. What is repeated
// only until there is a leader is none.
type Period struct {
	Param string // how often: a Duration parameter, the same for every process
	// Spread is another such parameter: each time is drawn from Param to Param and Spread, so
	// that there is no phase of it to tell unless Spread is 0. "": none is drawn.
	Spread string
	Timer  Timer // the timer that is set to it
	Reply  bool  // it is set when what was asked for has been answered, a round trip later
}

// A Paper is where the rules come from.
type Paper struct {
	Authors, Title, Venue string
	Year                  int
	DOI                   string
	Deviations            string // where this code departs from the paper, and why
}

// Unpublished is the Venue of a Paper without a year: the rules are those of a program that is not published.
const Unpublished = "unpublished"

// Needs is what an algorithm requires of its surroundings.
type Needs struct {
	Topology Topology
	FIFO     bool // messages of one link are delivered in the order they were sent
	// Anonymous: the processes of the ring have no IDs. In its Config and its events, and
	// to its Env, each is process 1 itself, its successor is 2, and so on round the ring.
	// So processes differ only in what they draw and hear.
	Anonymous bool
	Synchrony Synchrony
	Detector  Detector
	Nodes     func(n int) error // nil: any n >= 1
	// Params says with which parameters of a process the promises do not hold, and
	// why: time-outs below what the proof assumes of the latency, a quorum that is
	// none, a rule switched off. With those the algorithm is beyond its model,
	// however well everything else behaves. Nil: the promises hold with all that
	// Spec.Params allows.
	Params func(Network, Params) error
}

// Synchrony is what an algorithm assumes about delays.
type Synchrony uint8

// The classes of synchrony, weakest assumption first.
const (
	Asynchronous Synchrony = iota
	PartiallySynchronous
	Synchronous
)

func (s Synchrony) String() string {
	return [...]string{"asynchronous", "partially synchronous", "synchronous"}[s]
}

// Detector is the class of failure detector that an algorithm needs.
type Detector uint8

// The classes of detectors, weakest first.
const (
	NoDetector Detector = iota
	EventuallyPerfect
	Perfect
)

func (d Detector) String() string {
	return [...]string{"none", "eventually perfect", "perfect"}[d]
}

// Faults is what an algorithm survives.
type Faults struct {
	Loss, Duplication, Partition bool
	// Crashes is how many crash-stops are survived among n processes with parameters
	// p, as process 1 sees them: Params.IntOf has those of the others. Nil: none.
	Crashes  func(n int, p Params) int
	Recovery bool // a crashed process may come back with what it saved
	// Anchor is a process, by parameters p, that the others need, such as a store: it may crash
	// if it comes back. Nil: there is none.
	Anchor func(p Params) ID
}

// CrashesOf is how many crash-stops the algorithm survives among n processes that
// have the resolved parameters p.
func (f Faults) CrashesOf(n int, p Params) int {
	if f.Crashes == nil {
		return 0
	}
	return f.Crashes(n, p.Of(1))
}

// AnchorOf is the process that the others need; None if there is none.
func (f Faults) AnchorOf(p Params) ID {
	if f.Anchor == nil {
		return None
	}
	return f.Anchor(p.Of(1))
}

// Promises is what an algorithm guarantees as long as Needs and Survives hold.
type Promises struct {
	StarvationFree bool // every request is granted, once faults stop
	RequestOrder   bool // grants follow happened-before order of requests
	Announced      bool // every process, not the leader alone, learns the leader
	Leadership     Leadership
	Highest        bool // in the end the highest live process leads, unless parameters rank them
	// Live says while which links are whole n processes with parameters p, as process 1 sees
	// them, come to a leader, and how soon. Nil: nothing is promised but by Leadership, once
	// the system is quiescent.
	Live func(n int, p Params) Liveness
}

// Leadership is the kind of agreement that an election algorithm promises.
type Leadership uint8

// The kinds of leadership.
const (
	// Eventual: once faults stop, every live process names the same live
	// leader, and keeps it.
	Eventual Leadership = iota
	// AtMostOne: no two live processes consider themselves leader at once.
	AtMostOne
	// PerTerm: at most one leader in each term.
	PerTerm
	// PerGroup: at most one leader in each group of processes.
	PerGroup
)

func (l Leadership) String() string {
	return [...]string{"eventual", "at most one", "one per term", "one per group"}[l]
}

// A Service says when one that rests on the elected leader is up: which outages the
// problem of an algorithm means.
type Service uint8

// The definitions, from the one that asks every process to the one that asks the clients.
const (
	// Agreed: every live process that is connected with the others names one live leader.
	Agreed Service = iota
	// Led: a process considers itself leader, and a majority of all processes that it
	// reaches in both directions names it, itself among them.
	Led
	// Served: a request would be answered. A client beside a live process sends it to the leader that this
	// process names, which answers if it considers itself leader and reaches a majority of all.
	Served
)

// Services lists them.
func Services() []Service { return []Service{Agreed, Led, Served} }

func (s Service) String() string { return [...]string{"agreed", "led", "served"}[s] }

// A Network is what an algorithm may know of the links, and of the load, when the
// defaults of its parameters are worked out.
type Network struct {
	Nodes   int
	Latency time.Duration // d: the largest one-way latency; its 99.9th percentile if unbounded
	Bounded bool          // no latency exceeds Latency
	// Mean is the largest mean one-way latency of a link, Latency at most; 0: as Latency.
	Mean   time.Duration
	Hold   time.Duration // the longest stay in the critical section; its 99.9th percentile if unbounded
	Params Params        // the parameters that stand before this one in the Spec
}

// Slack is what default time-outs leave on top of the latency, for the schedulers of
// real machines.
const Slack = 20 * time.Millisecond

// A Param is one tunable of an algorithm. Its default is a func(Network) any, which may look at the
// network, so that a time-out follows from the latency.
type (
	Param     = param.Param
	ParamType = param.Type
	Tuning    = param.Tuning
)

// The types of parameters, and what they are to the detection of crashes: see package param.
const (
	Bool     = param.Bool
	Int      = param.Int
	Float    = param.Float
	Duration = param.Duration
	Enum     = param.Enum

	Fixed    = param.Fixed
	Patience = param.Patience
	Spread   = param.Spread
)

// Tuned is the parameter that tunes in that way, of several the first that p has a use for; nil if
// there is none.
func (s *Spec) Tuned(as Tuning, p Params) *Param {
	var found *Param
	for i := range s.Params {
		if s.Params[i].Tunes != as {
			continue
		}
		if d, _ := p[s.Params[i].Name].(time.Duration); d > 0 {
			return &s.Params[i]
		}
		if found == nil {
			found = &s.Params[i]
		}
	}
	return found
}

// Const is the default of a parameter that does not depend on the network.
func Const(v any) func(Network) any { return func(Network) any { return v } }

// checkBounds says what is wrong with the bounds themselves.
func checkBounds(p *Param) error {
	bare := *p
	bare.Min, bare.Max = nil, nil
	for _, bound := range []any{p.Min, p.Max} {
		if bound == nil {
			continue
		}
		if p.Type == Bool || p.Type == Enum {
			return fmt.Errorf("parameter %s: a %s has no bounds", p.Name, p.Type)
		}
		if err := bare.Check(bound); err != nil {
			return fmt.Errorf("bound of %w (Go type %T)", err, bound)
		}
	}
	if p.Process && (p.Type != Int || p.Min == nil || param.Less(p.Min, int64(0))) {
		return fmt.Errorf("parameter %s: a process is a whole number from 1 on, or 0 for none", p.Name)
	}
	if p.Min != nil && p.Max != nil && param.Less(p.Max, p.Min) {
		return fmt.Errorf("parameter %s: maximum %v is below minimum %v", p.Name, p.Max, p.Min)
	}
	return nil
}

// Params are the resolved parameters of one process, by name. The accessors
// panic on a name or type that the Spec does not declare: that is a mistake in
// the plugin, not in the experiment.
type Params map[string]any

// Bool is the value of a Bool parameter.
func (p Params) Bool(name string) bool { return value[bool](p, name) }

// Int is the value of an Int parameter.
func (p Params) Int(name string) int64 { return value[int64](p, name) }

// Float is the value of a Float parameter.
func (p Params) Float(name string) float64 { return value[float64](p, name) }

// Duration is the value of a Duration parameter.
func (p Params) Duration(name string) time.Duration { return value[time.Duration](p, name) }

// Enum is the value of an Enum parameter.
func (p Params) Enum(name string) string { return value[string](p, name) }

// Timeout is the longest that any process waits before it does something about it:
// the longest Duration among p. 0: there is none.
func (p Params) Timeout() (longest time.Duration) {
	for _, v := range p {
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		for _, v := range list {
			if d, ok := v.(time.Duration); ok {
				longest = max(longest, d)
			}
		}
	}
	return longest
}

func value[T any](p Params, name string) T {
	v, ok := p[name].(T)
	if !ok {
		panic(fmt.Sprintf("algo: parameter %q is %T, want %T: not as declared in the Spec",
			name, p[name], v))
	}
	return v
}

// Resolve completes given, the values that an experiment sets, with the
// defaults that follow from the network. Values may be lists where the
// parameter is PerProcess; Resolve checks them as such and keeps them.
// All mistakes are reported, not the first alone; the default stands in for a
// mistaken value, since later defaults may look at it.
func (s *Spec) Resolve(given map[string]any, net Network) (Params, []error) {
	var errs []error
	out := make(Params, len(s.Params))
	net.Params = out
	differ := false // a parameter does so far, between processes
	for i := range s.Params {
		var mistakes []error
		p := &s.Params[i] // a copy would be made for each of a search's schedules
		v, set := given[p.Name]
		if set {
			mistakes = checkGiven(p, v, net.Nodes)
		}
		if !set || mistakes != nil {
			var err error
			if v, err = preset(p, net, differ); err != nil && !set {
				mistakes = []error{err}
			}
		}
		if _, list := v.([]any); list {
			differ = true
		}
		out[p.Name] = v
		errs = append(errs, mistakes...)
	}
	return out, errs
}

// Defaults are the parameters of an experiment that sets none. The registry has
// checked them.
func (s *Spec) Defaults(net Network) Params {
	values, _ := s.Resolve(nil, net)
	return values
}

// preset is the default of p. It may differ between processes, where it follows
// from a parameter that does, if p is PerProcess.
func preset(p *Param, net Network, differ bool) (any, error) {
	workOut := p.Default.(func(Network) any)
	if !differ {
		return workOut(net), nil
	}
	all := net.Params
	of := func(id ID) any {
		net.Params = all.Of(id)
		return workOut(net)
	}
	first := of(1)
	list, same := make([]any, net.Nodes), true
	for i := range list {
		list[i] = of(ID(i + 1))
		same = same && list[i] == first
	}
	switch {
	case same:
		return first, nil
	case p.PerProcess:
		return list, nil
	}
	return first, fmt.Errorf("parameter %s: its default would differ between processes: set it",
		p.Name)
}

func checkGiven(p *Param, v any, n int) (errs []error) {
	list, ok := v.([]any)
	switch {
	case !ok:
		if err := checkAmong(p, v, n); err != nil {
			errs = append(errs, err)
		}
		return errs
	case !p.PerProcess:
		return []error{fmt.Errorf("parameter %s: a list, but it is the same for every process", p.Name)}
	case len(list) != n || n == 0:
		return []error{fmt.Errorf("parameter %s: %d values for %d processes", p.Name, len(list), n)}
	}
	for i, v := range list {
		if err := checkAmong(p, v, n); err != nil {
			errs = append(errs, fmt.Errorf("process %d: %w", i+1, err))
		}
	}
	return errs
}

// checkAmong is Check where there are n processes.
func checkAmong(p *Param, v any, n int) error {
	if err := p.Check(v); err != nil {
		return err
	}
	if id, ok := v.(int64); ok && p.Process && id > int64(n) {
		return fmt.Errorf("parameter %s: %d is no process (has: 1 to %d)", p.Name, id, n)
	}
	return nil
}

// everybody marks the entry that keeps the whole list of a parameter.
const everybody = "[]"

// IntOf is the value of an Int parameter at process id, for what each process
// knows of all, like ranks.
func (p Params) IntOf(name string, id ID) int64 {
	if list, ok := p[name+everybody].([]any); ok {
		return list[id-1].(int64)
	}
	return p.Int(name)
}

// All is the values of a parameter at all processes, in the order of their IDs, where they may differ; nil:
// they do not.
func (p Params) All(name string) []any {
	if list, ok := p[name].([]any); ok {
		return list
	}
	list, _ := p[name+everybody].([]any)
	return list
}

// Of is p as process id sees it: of a list, its own entry.
func (p Params) Of(id ID) Params {
	for name, v := range p {
		list, ok := v.([]any)
		if !ok {
			continue
		}
		own := make(Params, len(p))
		for k, w := range p {
			own[k] = w
		}
		own[name] = list[id-1]
		own[name+everybody] = list
		p = own
	}
	return p
}

// A Claim is a stated complexity of the algorithm. Readers who compare it with a
// measurement must know its source: a claim of the paper can be refuted, one
// derived for this code can only be wrong.
type Claim struct {
	Metric string // "messages/entry", "messages/election"
	// Load is of what it is claimed: of entries "light", "heavy" or "burst"; of elections that "one begins"
	// or "all begin", of one order of events; the "best" case, the "mean" over all draws; the "worst" over
	// all orders of IDs and events, which Source proves.
	Load   string
	Text   string // as its source puts it: "H(n-1) on average (Theorem 5)"
	Source Source
	Bound  func(n int) (lo, hi float64)
}

// Source says where a claim comes from.
type Source string

// The sources of claims.
const (
	FromPaper Source = "paper"
	FromNotes Source = "notes"
	Derived   Source = "derived" // the paper gives no figure, or that of other rules
)

// Sources are all there are.
var Sources = []Source{FromPaper, FromNotes, Derived}

// Meaning is the source in words, for readers of a claim.
func (s Source) Meaning() string {
	return map[Source]string{
		FromPaper: "the paper states it",
		FromNotes: "lecture notes state it",
		Derived:   "worked out for Conclave from the rules as they are here, or counted in simulation",
	}[s]
}

// Exactly is the bound of a claim that leaves no room.
func Exactly(f func(n int) float64) func(int) (float64, float64) {
	return func(n int) (float64, float64) { return f(n), f(n) }
}

// Within is the bound of a claim about an average: f(n), give or take a share.
func Within(share float64, f func(n int) float64) func(int) (float64, float64) {
	return func(n int) (float64, float64) { return f(n) * (1 - share), f(n) * (1 + share) }
}

// Harmonic is H(n) = 1 + 1/2 + ... + 1/n.
func Harmonic(n int) float64 {
	h := 0.0
	for i := n; i >= 1; i-- {
		h += 1 / float64(i)
	}
	return h
}
