package algo

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Problem is what an algorithm solves; the first half of its ID.
type Problem string

// The two problems.
const (
	Election        Problem = "election"
	MutualExclusion Problem = "mutex"
)

// An Algorithm is a registered plugin.
type Algorithm struct {
	ID      string // "mutex/naimi-trehel"
	Problem Problem
	Spec    Spec
	Codec   *Codec // of its messages, auxiliary messages and saves, in that order
	// Observed: it runs elsewhere, and only its outside is seen: which processes ask,
	// enter, leave and are elected. Its messages are not seen, and it has no process to
	// make.
	Observed bool
	// Subject: it is a library of others, which runs as it is, in transport bubble. Its
	// messages are seen; it has no process to make.
	Subject bool
	// Service: it is a system that people run, with clients of ours. Real nodes alone run it, and its
	// messages are not seen.
	Service bool
	// Hosting is what runs it if it is not in this program, a word for the results; "": it is in this
	// program.
	Hosting string
	// Apart: its code is in another process, which is given a limited time for each answer.
	Apart   bool
	mutex   func(Config) Mutex
	elector func(Config) Elector
	guest   func(Config) Guest
	live    func(Config) Live
}

// New makes one process. It panics with a Breach if the algorithm is only observed, or a
// subject.
func (a *Algorithm) New(c Config) Process {
	switch {
	case a.Observed:
		breach("%s is only observed: what it does is judged, and it cannot be run", a.ID)
	case a.Subject:
		breach("%s is a library, which only transport bubble runs", a.ID)
	case a.guest != nil:
		return a.guest(c)
	case a.live != nil:
		return a.live(c)
	case a.mutex != nil:
		return a.mutex(c)
	}
	return a.elector(c)
}

// Auxiliary says whether messages of this kind are counted apart.
func (a *Algorithm) Auxiliary(kind uint8) bool { return int(kind) >= len(a.Spec.Messages) }

// The registry; to be read and changed under its lock.
var (
	registryLock sync.RWMutex
	registry     = map[string]*Algorithm{}
)

// words says whether s is lower-case words and numbers joined by sep. By hand: it
// runs in every node process for every plugin, and patterns are slow to compile.
func words(s string, sep byte) bool {
	last := sep
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !letter && (c != sep || last == sep) {
			return false
		}
		last = c
	}
	return last != sep
}

// RegisterMutex adds a mutual-exclusion algorithm. It is called from init and
// panics on a defect of the Spec, naming it.
func RegisterMutex(s Spec, newProcess func(Config) Mutex) { must(AddMutex(s, newProcess)) }

// RegisterElector adds a leader-election algorithm, likewise.
func RegisterElector(s Spec, newProcess func(Config) Elector) { must(AddElector(s, newProcess)) }

func must(err error) {
	if err != nil {
		panic("algo: " + err.Error())
	}
}

// AddMutex adds a mutual-exclusion algorithm that is known at run time only, such as one
// that a file names. The error is of a defect of the Spec, or of an ID that is taken.
//
// An algorithm is found by its ID alone, in every process that runs a part of it: so the
// programs that simulate, and those that are nodes, have to add it as well. AddMutex may
// be called at any time, from any goroutine; what is listed then has it or has it not.
func AddMutex(s Spec, newProcess func(Config) Mutex) error {
	return add(MutualExclusion, s, &Algorithm{mutex: newProcess}, newProcess == nil)
}

// AddElector adds a leader-election algorithm, likewise.
func AddElector(s Spec, newProcess func(Config) Elector) error {
	return add(Election, s, &Algorithm{elector: newProcess}, newProcess == nil)
}

// AddGuest adds an algorithm whose code is not in this program, and that solves problem p, likewise. Hosting
// and apart say what runs it and where (see Algorithm). Its processes are Mutexes or Electors as well.
func AddGuest(p Problem, s Spec, hosting string, apart bool, newProcess func(Config) Guest) error {
	return add(p, s, &Algorithm{Hosting: hosting, Apart: apart, guest: newProcess}, newProcess == nil)
}

// AddObserved adds a subject that solves problem p and is only observed, such as the locks
// of a service: records of what is seen of it are judged like those of an algorithm,
// without messages. Its Spec declares none.
func AddObserved(p Problem, s Spec) error {
	return add(p, s, &Algorithm{Observed: true}, false)
}

// AddSubject adds a library that solves problem p and runs as it is, in transport bubble. Of
// its messages, the Spec declares a value of a type of its own for each kind: the bubble
// carries what the library sends, and records its kind and size.
func AddSubject(p Problem, s Spec) error { return add(p, s, &Algorithm{Subject: true}, false) }

func add(p Problem, s Spec, a *Algorithm, noConstructor bool) error {
	a.ID, a.Problem, a.Spec = string(p)+"/"+s.Name, p, s
	err := s.defects()
	if messages := len(s.Messages) + len(s.Auxiliary); a.Unseen() && messages > 0 {
		err = errors.Join(err, errors.New("its messages are not seen, but it declares some"))
	} else if !a.Unseen() && len(s.Messages) == 0 {
		err = errors.Join(err, errors.New("no messages"))
	}
	if p != Election && p != MutualExclusion {
		err = errors.Join(err, fmt.Errorf("problem %q", p))
	}
	if p == Election && s.Admits.Several() {
		err = errors.Join(err, errors.New("Admits is for mutual exclusion: an election has no critical "+
			"section"))
	}
	if noConstructor {
		err = errors.Join(err, errors.New("no constructor"))
	}
	if p == Election && s.Perpetual && !a.Observed && !a.Foreign() && len(s.Periods) == 0 {
		err = errors.Join(err, errors.New("perpetual, but Periods does not say what a leader repeats"))
	}
	if err == nil {
		a.Codec, err = NewCodec(slices.Concat(s.Messages, s.Auxiliary, s.Saves)...)
	}
	registryLock.Lock()
	defer registryLock.Unlock()
	if registry[a.ID] != nil {
		err = errors.Join(err, errors.New("registered twice"))
	}
	if err != nil {
		return fmt.Errorf("register %s: %w", a.ID, err)
	}
	registry[a.ID] = a
	return nil
}

// Remove takes an algorithm out again and says whether there was one. What holds it
// already keeps it.
func Remove(id string) bool {
	registryLock.Lock()
	defer registryLock.Unlock()
	_, ok := registry[id]
	delete(registry, id)
	return ok
}

func (s *Spec) defects() error {
	var errs []error
	check := func(ok bool, text string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(text, args...))
		}
	}
	check(words(s.Name, '-'), "bad name %q, want lower-case words joined by '-'", s.Name)
	check(s.Summary != "" && !strings.Contains(s.Summary, "\n"), "no one-line summary")
	check(s.Paper.Title != "" && s.Paper.Authors != "" && (s.Paper.Year > 0 || s.Paper.Venue == Unpublished),
		"no paper")
	token := func(m Message) bool { return m != nil && m.Kind() == s.Token }
	check(s.Token == "" || slices.ContainsFunc(s.Messages, token),
		"token %q is none of the messages", s.Token)
	for _, c := range s.Claims {
		check(slices.Contains(Sources, c.Source), "claim %q: source %q (has: %v)", c.Text, c.Source,
			Sources)
	}
	if err := s.checkServers(); err != nil {
		errs = append(errs, err)
	}
	if err := s.Admits.defect(s.Params); err != nil {
		errs = append(errs, err)
	}
	if s.Needs.Anonymous {
		s.checkAnonymous(check)
	}
	seen := map[string]bool{}
	for _, p := range s.Params {
		check(paramName(p.Name), "bad parameter name %q", p.Name)
		check(!seen[p.Name], "parameter %s declared twice", p.Name)
		_, preset := p.Default.(func(Network) any)
		check(p.Doc != "" && preset, "parameter %s: no doc or no default", p.Name)
		check((p.Type == Enum) == (len(p.Choices) > 0), "parameter %s: choices go with Enum", p.Name)
		if err := checkBounds(&p); err != nil {
			errs = append(errs, err)
		}
		seen[p.Name] = true
	}
	errs = append(errs, s.setDefects()...)
	check(s.Perpetual || len(s.Periods) == 0, "periods, but it is not perpetual: once there is a "+
		"leader it falls quiet")
	tunes := map[Tuning]int{}
	for _, p := range s.Params {
		tunes[p.Tunes]++
		check(p.Tunes == Fixed || p.Type == Duration && !p.PerProcess,
			"parameter %s: tuned, but no duration that all processes share", p.Name)
		check(p.Tunes != Spread || tunes[Patience] > 0,
			"parameter %s: a spread, and no patience before it", p.Name)
	}
	check(tunes[Spread] <= 1 && (tunes[Patience] <= 1 || tunes[Spread] == 0),
		"several spreads, or a spread to one of several patiences")
	s.checkPeriods(check)
	if len(errs) == 0 {
		for _, n := range []int{1, 2, 3, 10, 100} {
			values := s.Defaults(Network{Nodes: n, Latency: time.Millisecond, Bounded: true})
			for _, p := range s.Params {
				if err := p.Check(values[p.Name]); err != nil {
					errs = append(errs, fmt.Errorf("default with %d processes: %w", n, err))
				}
			}
		}
		for i := range s.Sets {
			errs = append(errs, s.unfit(&s.Sets[i])...)
		}
	}
	return errors.Join(errs...)
}

// checkPeriods wants each period to be a duration that all processes share.
func (s *Spec) checkPeriods(check func(ok bool, text string, args ...any)) {
	for _, d := range s.Periods {
		names := []string{d.Param}
		if d.Spread != "" {
			names = append(names, d.Spread)
		}
		for _, name := range names {
			i := slices.IndexFunc(s.Params, func(p Param) bool { return p.Name == name })
			check(i >= 0 && s.Params[i].Type == Duration && !s.Params[i].PerProcess,
				"period %q is no duration among the parameters that all processes share", name)
		}
		check(d.Timer != "", "period %q: no timer", d.Param)
	}
}

// checkAnonymous wants nothing by which processes that have no IDs could be told apart.
func (s *Spec) checkAnonymous(check func(ok bool, text string, args ...any)) {
	check(s.Needs.Topology == Ring || s.Needs.Topology == BidirectionalRing,
		"anonymous, but not on a ring: processes need a way to address the others")
	check(s.Needs.Detector == NoDetector, "anonymous, but a detector names processes")
	for _, p := range s.Params {
		check(!p.PerProcess && !p.Process, "parameter %s: anonymous, but it distinguishes processes", p.Name)
	}
	for _, m := range slices.Concat(s.Messages, s.Auxiliary, s.Saves) {
		check(m == nil || !holdsID(reflect.TypeOf(m)), "message %T: anonymous, but it holds an ID", m)
	}
}

// holdsID says whether values of type t hold IDs.
func holdsID(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if holdsID(t.Field(i).Type) {
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		return holdsID(t.Elem())
	}
	return t == reflect.TypeFor[ID]()
}

// paramName says whether s can be a parameter's name.
func paramName(s string) bool { return words(s, '_') && (s[0] < '0' || s[0] > '9') }

// All is every registered algorithm, sorted by ID.
func All() []*Algorithm {
	registryLock.RLock()
	defer registryLock.RUnlock()
	out := make([]*Algorithm, 0, len(registry))
	for _, a := range registry {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b *Algorithm) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// finder is what OnUnknown was given.
var finder atomic.Pointer[func(id string) error]

// OnUnknown has Lookup call f with an ID that it does not know, before it says so: f may add the algorithm.
func OnUnknown(f func(id string) error) { finder.Store(&f) }

func registered(id string) *Algorithm {
	registryLock.RLock()
	defer registryLock.RUnlock()
	return registry[id]
}

// Lookup finds an algorithm by its ID.
func Lookup(id string) (*Algorithm, error) {
	if a := registered(id); a != nil {
		return a, nil
	}
	if f := finder.Load(); f != nil {
		if err := (*f)(id); err != nil {
			return nil, err
		}
		if a := registered(id); a != nil {
			return a, nil
		}
	}
	var ids []string
	for _, a := range All() {
		ids = append(ids, a.ID)
	}
	return nil, fmt.Errorf("unknown algorithm %q%s (\"bench list\" shows all: %s)",
		id, Hint(id, ids), strings.Join(ids, ", "))
}

// Hint suggests the nearest of the names in the words of an error; "" if none is near.
func Hint(word string, names []string) string {
	if near := Nearest(word, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// Nearest is the name among names that word most probably meant, or "" if none
// is near: one slip, and one more for every three letters if the first one is right.
func Nearest(word string, names []string) string {
	best, at := "", len(word)/3+2
	for _, name := range names {
		if d := distance(word, name); d < at && (d < 2 || name != "" && name[0] == word[0]) {
			best, at = name, d
		}
	}
	return best
}

// distance counts the letters to insert, delete, replace or swap with their
// neighbor to make b of a (optimal string alignment).
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
