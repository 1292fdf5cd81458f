package algo

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// emptyRegistry puts what is registered aside for the length of the test,
// which therefore cannot be parallel.
func emptyRegistry(t *testing.T) {
	t.Helper()
	saved := maps.Clone(registry)
	clear(registry)
	t.Cleanup(func() { registry = saved })
}

func goodSpec() Spec {
	return Spec{
		Name: "good-one", Summary: "a plugin without a defect",
		Paper:     Paper{Authors: "A. Author", Title: "On good ones", Year: 1981},
		Messages:  []Message{stamp{}, signal{}},
		Auxiliary: []Message{texts{}},
		Saves:     []Message{numbers{}},
		Params: []Param{{
			Name: "time_out", Doc: "how long to wait", Type: Duration,
			Default: func(n Network) any { return 3 * n.Latency },
			Min:     time.Duration(0),
		}},
	}
}

// anonymous is a mistake in the Spec of an algorithm for an anonymous ring.
func anonymous(spoil func(*Spec)) func(*Spec) {
	return func(s *Spec) {
		s.Needs.Anonymous, s.Needs.Topology = true, Ring
		spoil(s)
	}
}

// listed has IDs in a list.
type listed struct{ All [2][]struct{ Who ID } }

func (listed) Kind() string { return "LISTED" }

func newPuppetMutex(Config) Mutex     { return &puppetMutex{} }
func newPuppetElector(Config) Elector { return &puppetElector{} }

func TestRegister(t *testing.T) {
	emptyRegistry(t)
	RegisterMutex(goodSpec(), newPuppetMutex)
	RegisterElector(goodSpec(), newPuppetElector) // another problem, another ID
	a, err := Lookup("mutex/good-one")
	if err != nil {
		t.Fatal(err)
	}
	if a.ID != "mutex/good-one" || a.Problem != MutualExclusion || a.Spec.Name != "good-one" {
		t.Errorf("registered as %q, %q, %q", a.ID, a.Problem, a.Spec.Name)
	}
	if _, ok := a.New(at()).(*puppetMutex); !ok {
		t.Error("the constructor makes something else")
	}
	want := []string{"STAMP", "SIGNAL", "TEXTS", "NUMBERS"}
	if got := a.Codec.Kinds(); !slices.Equal(got, want) {
		t.Errorf("kinds %v, want %v", got, want)
	}
	for kind, auxiliary := range []bool{false, false, true, true} {
		if a.Auxiliary(uint8(kind)) != auxiliary {
			t.Errorf("kind %d: auxiliary is %v", kind, !auxiliary)
		}
	}
	e, err := Lookup("election/good-one")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := e.New(at()).(*puppetElector); !ok || e.Problem != Election {
		t.Errorf("the elector of %q is something else", e.Problem)
	}
}

// fitting gives a Spec a set whose system takes nothing but fit.
func fitting(fit map[string]any) func(*Spec) {
	return func(s *Spec) {
		s.Sets = []Set{{Name: "etcd", Doc: "x", Params: map[string]any{"time_out": time.Second}, Demands: "x",
			Fit: func(Params) map[string]any { return fit }}}
	}
}

// TestSpec_Tuned: of several, the one is tuned that is in use.
func TestSpec_Tuned(t *testing.T) {
	s := Spec{Params: []Param{{Name: "other"}, {Name: "lease", Tunes: Patience}, {Name: "ttl", Tunes: Patience}}}
	for want, p := range map[string]Params{
		"lease": {"lease": time.Second, "ttl": time.Duration(0)},
		"ttl":   {"lease": time.Duration(0), "ttl": time.Second},
	} {
		if got := s.Tuned(Patience, p); got == nil || got.Name != want {
			t.Errorf("%v: %+v, want %s", p, got, want)
		}
	}
	if got := s.Tuned(Patience, nil); got.Name != "lease" || s.Tuned(Spread, nil) != nil {
		t.Errorf("without parameters: %+v", got)
	}
}

func TestRegister_PanicsNamingTheDefect(t *testing.T) {
	param := func(change func(*Param)) func(*Spec) {
		return func(s *Spec) { change(&s.Params[0]) }
	}
	repeats := func(p Period) func(*Spec) {
		return func(s *Spec) { s.Perpetual, s.Periods = true, []Period{p} }
	}
	for name, test := range map[string]struct {
		spoil func(*Spec)
		want  string
	}{
		"no name":         {func(s *Spec) { s.Name = "" }, `bad name ""`},
		"upper case":      {func(s *Spec) { s.Name = "Good" }, `bad name "Good"`},
		"space":           {func(s *Spec) { s.Name = "good one" }, `bad name "good one"`},
		"double hyphen":   {func(s *Spec) { s.Name = "a--b" }, `bad name "a--b"`},
		"hyphen at last":  {func(s *Spec) { s.Name = "a-" }, `bad name "a-"`},
		"path":            {func(s *Spec) { s.Name = "../a" }, `bad name "../a"`},
		"line":            {func(s *Spec) { s.Name = "a\n" }, `bad name "a\n"`},
		"no summary":      {func(s *Spec) { s.Summary = "" }, "no one-line summary"},
		"two lines":       {func(s *Spec) { s.Summary = "a\nb" }, "no one-line summary"},
		"no title":        {func(s *Spec) { s.Paper.Title = "" }, "no paper"},
		"no authors":      {func(s *Spec) { s.Paper.Authors = "" }, "no paper"},
		"no year":         {func(s *Spec) { s.Paper.Year = 0 }, "no paper"},
		"no messages":     {func(s *Spec) { s.Messages = nil }, "no messages"},
		"a map":           {func(s *Spec) { s.Messages = []Message{withMap{}} }, "cannot travel"},
		"kind twice":      {func(s *Spec) { s.Saves = []Message{stamp{}} }, `"STAMP" is taken`},
		"parameter name":  {param(func(p *Param) { p.Name = "time-out" }), `bad parameter name "time-`},
		"no doc":          {param(func(p *Param) { p.Doc = "" }), "time_out: no doc or no default"},
		"no default":      {param(func(p *Param) { p.Default = nil }), "time_out: no doc or no default"},
		"choices":         {param(func(p *Param) { p.Choices = []string{"a"} }), "choices go with Enum"},
		"no choices":      {param(func(p *Param) { p.Type = Enum }), "choices go with Enum"},
		"default's type":  {param(func(p *Param) { p.Default = Const(3) }), "3 is not a duration"},
		"default too low": {param(func(p *Param) { p.Min = time.Hour }), "below its minimum 1h"},
		"default of ten": {param(func(p *Param) {
			p.Default = func(n Network) any { return time.Duration(20 - n.Nodes) }
		}), "default with 100 processes: parameter time_out: -80ns is below"},
		"minimum's type":    {param(func(p *Param) { p.Min = 3 }), "bound of parameter time_out: 3 is"},
		"maximum's type":    {param(func(p *Param) { p.Max = 3.5 }), "bound of parameter time_out: 3.5"},
		"maximum below":     {param(func(p *Param) { p.Max = time.Duration(-1) }), "maximum -1ns is"},
		"bound of a switch": {param(func(p *Param) { p.Type, p.Default = Bool, Const(true) }), "no bound"},
		"parameter twice": {func(s *Spec) { s.Params = append(s.Params, s.Params[0]) },
			"parameter time_out declared twice"},
		"a process that lasts": {param(func(p *Param) { p.Process = true }),
			"time_out: a process is a whole number"},
		"nobody's claim": {func(s *Spec) { s.Claims = []Claim{{Text: "3N"}} },
			`claim "3N": source "" (has: [paper notes derived])`},
		"a set's name":      {func(s *Spec) { s.Sets = []Set{{Name: "Etcd", Doc: "x"}} }, `name of a set: "Etcd"`},
		"a set of nobody's": {func(s *Spec) { s.Sets = []Set{{Name: "etcd"}} }, "set etcd: no one-line doc"},
		"a set twice": {func(s *Spec) { s.Sets = []Set{{Name: "etcd", Doc: "x"}, {Name: "etcd", Doc: "x"}} },
			"set etcd declared twice"},
		"a set of no parameter": {func(s *Spec) {
			s.Sets = []Set{{Name: "etcd", Doc: "x", Params: map[string]any{"tick": 1}}}
		}, "set etcd: no parameter tick"},
		"a set of another type": {func(s *Spec) {
			s.Sets = []Set{{Name: "etcd", Doc: "x", Params: map[string]any{"time_out": 1}}}
		}, "set etcd: parameter time_out: 1 is not a duration"},
		"no such token":       {func(s *Spec) { s.Token = "NUMBERS" }, `token "NUMBERS" is none of the messages`},
		"a period of nothing": {repeats(Period{Param: "beat", Timer: "beat"}), `period "beat" is no duration`},
		"a period that differs": {func(s *Spec) {
			s.Params[0].PerProcess = true
			repeats(Period{Param: "time_out", Timer: "beat"})(s)
		}, `period "time_out" is no duration`},
		"a period that is drawn from nothing": {
			repeats(Period{Param: "time_out", Spread: "jitter", Timer: "beat"}), `period "jitter" is no duration`},
		"a period without a timer": {repeats(Period{Param: "time_out"}), `period "time_out": no timer`},
		"a period of one that falls quiet": {func(s *Spec) {
			repeats(Period{Param: "time_out", Timer: "beat"})(s)
			s.Perpetual = false
		}, "periods, but it is not perpetual"},
		"a patience that differs": {param(func(p *Param) { p.Tunes, p.PerProcess = Patience, true }),
			"time_out: tuned, but no duration that all"},
		"a spread of nothing": {param(func(p *Param) { p.Tunes = Spread }), "a spread, and no patience before it"},
		"two patiences and a spread": {func(s *Spec) {
			s.Params = append(s.Params, s.Params[0], s.Params[0])
			s.Params[1].Name, s.Params[0].Tunes, s.Params[1].Tunes = "other", Patience, Patience
			s.Params[2].Name, s.Params[2].Tunes = "spread", Spread
		}, "a spread to one of several patiences"},
		"demands that nothing fits": {func(s *Spec) {
			s.Sets = []Set{{Name: "etcd", Doc: "x", Demands: "whole seconds"}}
		}, "set etcd: Demands and Fit go together"},
		"a set that breaks its demands": {fitting(map[string]any{"time_out": time.Hour}),
			"set etcd: its own time_out break what it demands"},
		"demands of nothing": {fitting(map[string]any{"tick": time.Second}),
			"set etcd: it demands something of no parameter tick"},
		"places of nothing": {func(s *Spec) { s.Admits.Places = "k" }, `places "k" is no whole number from 1 on`},
		"places that may be none": {func(s *Spec) {
			s.Params = []Param{{Name: "k", Doc: "places", Type: Int, Default: Const(int64(1)), Min: int64(0)}}
			s.Admits.Places = "k"
		}, `places "k" is no whole number from 1 on`},
		"anonymous on no ring":      {func(s *Spec) { s.Needs.Anonymous = true }, "anonymous, but not on a ring"},
		"anonymous with a detector": {anonymous(func(s *Spec) { s.Needs.Detector = Perfect }), "but a detector"},
		"anonymous, with a list":    {anonymous(func(s *Spec) { s.Params[0].PerProcess = true }), "distinguishes processes"},
		"anonymous, of a process": {anonymous(func(s *Spec) {
			s.Params = []Param{{Name: "p", Doc: "who", Type: Int, Default: Const(int64(0)), Min: int64(0), Process: true}}
		}), "parameter p: anonymous, but it distinguishes"},
		"anonymous, with an ID":        {anonymous(func(*Spec) {}), "message algo.stamp: anonymous, but"},
		"anonymous, with an ID inside": {anonymous(func(s *Spec) { s.Messages = []Message{listed{}} }), "algo.listed"},
		"sessions of nothing": {func(s *Spec) { s.Admits.Sessions = "session" },
			`sessions "session" is no whole number from 0 to 1000000`},
		"sessions that all share": {func(s *Spec) {
			s.Params = []Param{{Name: "session", Doc: "always", Type: Int, Default: Const(int64(0)), Min: int64(0),
				Max: int64(MostSessions)}}
			s.Admits.Sessions = "session"
		}, `sessions "session" is no whole number from 0`},
		"several defects": {func(s *Spec) { s.Name, s.Summary = "-", "" }, "no one-line summary"},
	} {
		t.Run(name, func(t *testing.T) {
			emptyRegistry(t)
			s := goodSpec()
			test.spoil(&s)
			wantPanic(t, test.want, func() { RegisterMutex(s, newPuppetMutex) })
			wantPanic(t, "algo: register election/"+s.Name+": ",
				func() { RegisterElector(s, newPuppetElector) })
			if len(registry) != 0 {
				t.Errorf("registered all the same: %v", registry)
			}
		})
	}
	t.Run("perpetual without a period", func(t *testing.T) { // of mutexes nobody asks for one
		emptyRegistry(t)
		s := goodSpec()
		s.Perpetual = true
		RegisterMutex(s, newPuppetMutex)
		wantPanic(t, "algo: register election/good-one: perpetual, but Periods does not say what",
			func() { RegisterElector(s, newPuppetElector) })
		s.Periods = []Period{{Param: "time_out", Timer: "beat"}}
		RegisterElector(s, newPuppetElector)
	})
	t.Run("an election that admits several", func(t *testing.T) {
		emptyRegistry(t)
		s := goodSpec()
		s.Params = []Param{{Name: "k", Doc: "places", Type: Int, Default: Const(int64(1)), Min: int64(1)}}
		s.Admits.Places = "k"
		RegisterMutex(s, newPuppetMutex)
		wantPanic(t, "algo: register election/good-one: Admits is for mutual exclusion",
			func() { RegisterElector(s, newPuppetElector) })
	})
	t.Run("no constructor", func(t *testing.T) {
		emptyRegistry(t)
		wantPanic(t, "algo: register mutex/good-one: no constructor",
			func() { RegisterMutex(goodSpec(), nil) })
		wantPanic(t, "algo: register election/good-one: no constructor",
			func() { RegisterElector(goodSpec(), nil) })
	})
	t.Run("twice", func(t *testing.T) {
		emptyRegistry(t)
		RegisterMutex(goodSpec(), newPuppetMutex)
		wantPanic(t, "algo: register mutex/good-one: registered twice",
			func() { RegisterMutex(goodSpec(), newPuppetMutex) })
	})
}

// At run time a defect is an error, and what was added can be removed.
func TestAdd(t *testing.T) {
	emptyRegistry(t)
	if err := AddMutex(Spec{Messages: []Message{nil}, Token: "T"}, nil); err == nil ||
		!strings.Contains(err.Error(), "register mutex/: ") || !strings.Contains(err.Error(), "no paper") {
		t.Errorf("got %v", err)
	}
	if err := AddElector(goodSpec(), newPuppetElector); err != nil {
		t.Fatal(err)
	}
	if err := AddElector(goodSpec(), newPuppetElector); err == nil || !strings.HasSuffix(err.Error(), "registered twice") {
		t.Errorf("added twice: %v", err)
	}
	if !Remove("election/good-one") || Remove("election/good-one") || len(All()) != 0 {
		t.Errorf("after the removal there is %v", All())
	}
}

// What is only observed has neither messages nor processes.
func TestAddObserved(t *testing.T) {
	emptyRegistry(t)
	s := goodSpec()
	if err := AddObserved(MutualExclusion, s); err == nil ||
		!strings.Contains(err.Error(), "its messages are not seen, but it declares some") {
		t.Errorf("got %v", err)
	}
	s.Messages, s.Auxiliary, s.Saves = nil, nil, nil
	if err := AddObserved("consensus", s); err == nil || !strings.Contains(err.Error(), `"consensus"`) {
		t.Errorf("got %v", err)
	}
	if err := AddObserved(MutualExclusion, s); err != nil {
		t.Fatal(err)
	}
	a, err := Lookup("mutex/good-one")
	if err != nil || !a.Observed || len(a.Codec.Kinds()) > 0 {
		t.Fatalf("%+v, %v", a, err)
	}
	defer func() {
		if b, ok := recover().(*Breach); !ok || !strings.Contains(b.Error(), "mutex/good-one is only observed") {
			t.Errorf("got %v", b)
		}
	}()
	a.New(at())
}

// Everybody may add, list and look up at once: the race detector watches.
func TestAdd_Concurrently(t *testing.T) {
	emptyRegistry(t)
	var wait sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		wait.Go(func() {
			s := goodSpec()
			s.Name = name
			for range 100 {
				if err := AddMutex(s, newPuppetMutex); err != nil {
					t.Error(err)
				}
				if a, err := Lookup("mutex/" + name); err != nil || a.Spec.Name != name {
					t.Errorf("%s is not there: %v", name, err)
				}
				if len(All()) == 0 || !Remove("mutex/"+name) {
					t.Errorf("%s has gone", name)
				}
			}
		})
	}
	wait.Wait()
}

func registerNamed(names ...string) {
	for _, name := range names {
		s := goodSpec()
		s.Name = name
		RegisterMutex(s, newPuppetMutex)
	}
}

func TestAll_IsSorted(t *testing.T) {
	emptyRegistry(t)
	if all := All(); len(all) != 0 {
		t.Errorf("nothing is registered, but %v", all)
	}
	registerNamed("suzuki-kasami", "central", "ricart-agrawala", "maekawa", "lamport")
	RegisterElector(goodSpec(), newPuppetElector)
	var got []string
	for _, a := range All() {
		got = append(got, a.ID)
	}
	want := []string{
		"election/good-one", "mutex/central", "mutex/lamport", "mutex/maekawa",
		"mutex/ricart-agrawala", "mutex/suzuki-kasami",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLookup_Suggests(t *testing.T) {
	emptyRegistry(t)
	registerNamed("naimi-trehel", "central")
	const all = ` ("bench list" shows all: mutex/central, mutex/naimi-trehel)`
	for id, want := range map[string]string{
		"mutex/naimi-trehal": `; did you mean "mutex/naimi-trehel"?`,
		"mutex/cnetral":      `; did you mean "mutex/central"?`,
		"election/bully":     "",
	} {
		a, err := Lookup(id)
		want = `unknown algorithm "` + id + `"` + want + all
		if a != nil || err == nil || err.Error() != want {
			t.Errorf("%s: got %v\nwant %s", id, err, want)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"timeout", "ping", "latency", "loss", "lost_and_found"}
	for _, test := range []struct{ word, want string }{
		{"timeout", "timeout"},
		{"timeuot", "timeout"}, // swapped
		{"timout", "timeout"},  // left out
		{"tiimeout", "timeout"},
		{"timeour", "timeout"},
		{"tmieuot", "timeout"},
		{"los", "loss"},
		{"lsos", "loss"},
		{"pong", "ping"},
		{"latenyc", "latency"},
		{"lost_found", "lost_and_found"},
		{"tetency", ""}, // as near as latenyc, but not a slip
		{"bandwidth", ""},
		{"xyz", ""},
		{"", ""},
	} {
		if got := Nearest(test.word, names); got != test.want {
			t.Errorf("%q: got %q, want %q", test.word, got, test.want)
		}
	}
	if got := Nearest("ab", []string{"ac", "ab", "ad"}); got != "ab" {
		t.Errorf("the very word stands there, but got %q", got)
	}
	if got := Nearest("a", nil); got != "" {
		t.Errorf("no names, but got %q", got)
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "ab", 1},
		{"abc", "acb", 1}, {"kitten", "sitting", 3}, {"abcd", "badc", 2},
		{"ca", "abc", 3}, // 2 if a swapped pair could be edited again
	} {
		for _, s := range [][2]string{{test.a, test.b}, {test.b, test.a}} {
			if got := distance(s[0], s[1]); got != test.want {
				t.Errorf("%q to %q: %d, want %d", s[0], s[1], got, test.want)
			}
		}
	}
}

func TestLookup_KeepsTheListInOrder(t *testing.T) {
	emptyRegistry(t)
	registerNamed("c", "a", "b")
	_, err := Lookup("nowhere-near-any-of-these")
	if err == nil || !strings.Contains(err.Error(), "mutex/a, mutex/b, mutex/c") {
		t.Errorf("got %v", err)
	}
}
