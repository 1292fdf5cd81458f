package explore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	_ "github.com/conclave-bench/conclave/plugins/all"
	"github.com/conclave-bench/conclave/plugins/mutex/central"
	"github.com/conclave-bench/conclave/plugins/mutex/naimitrehelft"
)

// weaknesses are known to break their algorithm, each within some thousand schedules.
var weaknesses = []struct {
	name, id string
	params   map[string]any
	latency  time.Duration
	rule     string
}{
	{"quorum without claims", "election/bully-quorum", map[string]any{"claim_phase": false}, 0, "leadership"},
	{"return to waiting", "mutex/naimi-trehel-ft", map[string]any{"rebuild": false}, 0, noEnd},
	{"answers come too late", "mutex/naimi-trehel-ft",
		map[string]any{"t_elec": 3 * time.Millisecond, "t_wait": 20 * time.Millisecond}, 2 * time.Millisecond,
		"mutual-exclusion"},
	{"no FAILED to the displaced", "mutex/maekawa", map[string]any{"failed_to_displaced_waiter": false}, 0,
		"deadlock"},
	{"an old token after recovery", "mutex/test-keeps-its-token", nil, 0, "mutual-exclusion"},
}

// TestWeaknesses: what is known to break an algorithm is found, and made so small
// that each event that is left is needed.
func TestWeaknesses(t *testing.T) {
	t.Parallel()
	for _, w := range weaknesses {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			r, err := Run(context.Background(), w.id, Options{
				Params: w.params, Latency: w.latency, Faults: Survived, Rule: w.rule, Schedules: 20_000,
				Seed: 1, Workers: 1,
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.Find == nil || r.Find.Rule != w.rule {
				t.Fatalf("found %+v in %d schedules, want a breach of %s", r.Find, r.Schedules, w.rule)
			}
			minimal(t, r.Find)
			repeatable(t, r.Find)
			if len(r.Find.Schedule.Events) > len(r.Find.First.Events) {
				t.Logf("%d events grew to %d, which name delays", len(r.Find.First.Events),
					len(r.Find.Schedule.Events))
			}
			t.Logf("schedule %d: %s: %d processes, %d events", r.Find.Number, r.Find.Text,
				r.Find.Schedule.Nodes, len(r.Find.Schedule.Events))
		})
	}
}

// minimal wants every event of what was found to be needed.
func minimal(t *testing.T, f *Find) {
	t.Helper()
	if b, err := f.Schedule.run(t.Context(), f.Rule, nil); err != nil || b == nil {
		t.Fatalf("the smallest schedule breaks %v, %v, want %s", b, err, f.Rule)
	}
	for i, e := range f.Schedule.Events {
		c := f.Schedule.clone()
		c.Events = slices.Delete(c.Events, i, i+1)
		c.tidy()
		if b, err := c.run(t.Context(), f.Rule, nil); err != nil || b != nil && c.asks() && (c.within() || !f.InModel) {
			t.Errorf("without event %d, %+v, it still breaks %v, %v", i, e, b, err)
		}
	}
}

// repeatable wants the file of a find to lead to the same trial.
func repeatable(t *testing.T, f *Find) {
	t.Helper()
	text, err := f.File()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "found.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Reproduces(path); err != nil {
		t.Errorf("%v:\n%s", err, text)
	}
}

// TestSameFind: a search finds the same with one worker and with several.
func TestSameFind(t *testing.T) {
	t.Parallel()
	var finds []*Find
	for _, workers := range []int{1, 2} {
		r, err := Run(context.Background(), "mutex/test-keeps-its-token", Options{
			Faults: Survived, Rule: "mutual-exclusion", Schedules: 20_000, Seed: 2, Workers: workers,
		})
		if err != nil || r.Find == nil {
			t.Fatalf("%d workers: found %v, %v", workers, r.Find, err)
		}
		finds = append(finds, r.Find)
	}
	for i, f := range finds[1:] {
		if f.Number != finds[0].Number || !reflect.DeepEqual(f.Schedule, finds[0].Schedule) {
			t.Errorf("%d workers: schedule %d, one worker: %d", i+2, f.Number, finds[0].Number)
		}
	}
}

// TestMoody: what breaks once and never again cannot be replayed, whether it is the
// first schedule of all or another.
func TestMoody(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"mutex/test-breaks-at-first", "mutex/test-breaks-later"} {
		_, err := Run(context.Background(), id, Options{
			Params: map[string]any{"moody": true}, Faults: None, Seed: 1, Schedules: 200, Workers: 1,
		})
		if err == nil || !strings.Contains(err.Error(), id+" is not deterministic") {
			t.Errorf("%s: %v, want that it is not deterministic", id, err)
		}
	}
}

// TestFile_SaysAllInTheComment: what is broken may take several lines to say, as the
// text of a panic does.
func TestFile_SaysAllInTheComment(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"one line", "panic: first\nseed: 9\n\nlast"} {
		s, _ := sample(mustLookup("mutex/central"), 1)
		f := &Find{Rule: broken, Text: text, Found: Found{Schedule: s}}
		written, err := f.File()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "found.yaml")
		if err := os.WriteFile(path, written, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := planOf(path)
		if err != nil || p.Seed != harness.Derive(s.Seed, "trial", 1) {
			t.Errorf("seed %d, %v:\n%s", p.Seed, err, written)
		}
	}
}

// TestFirstFind: of several finds the one of the first family counts, and the families
// before it are tried to their end.
func TestFirstFind(t *testing.T) {
	t.Parallel()
	s := &search{alg: mustLookup("mutex/central"), options: &Options{Faults: None, Seed: 1}, begun: time.Now()}
	s.first.Store(^uint64(0))
	for _, number := range []uint64{7, 5, 6} {
		s.keep(number, number, nil, &breach{})
	}
	if s.found.Number != 5 {
		t.Errorf("keeps what was found in family %d, want 5", s.found.Number)
	}
	s.next.Store(2)
	s.work(context.Background())
	if got := s.tried.Load(); got != 3*family || s.found.Number != 5 {
		t.Errorf("%d schedules were tried, want those of families 2 to 4", got)
	}
}

// TestBeyond: what is found beyond the model says so, and why.
func TestBeyond(t *testing.T) {
	t.Parallel()
	for faults, within := range map[Faults]bool{Survived: true, All: false} {
		id := "mutex/central"
		if within {
			id = "mutex/test-enters-at-once"
		}
		r, err := Run(context.Background(), id, Options{Faults: faults, Schedules: 1000, Seed: 1, Workers: 1})
		if err != nil || r.Find == nil || r.Find.InModel != within || within != (len(r.Find.OutOfModel) == 0) {
			t.Errorf("%s: %+v, %v, want one in the model: %t", id, r.Find, err, within)
		}
	}
}

// TestBeside: changes are made at the moments of a trial, or a tick beside them.
func TestBeside(t *testing.T) {
	t.Parallel()
	_, m := sample(mustLookup("mutex/central"), 1)
	at, seen := 7*time.Millisecond+300, map[time.Duration]bool{}
	for range 100 {
		seen[m.beside(at)-7*time.Millisecond] = true
	}
	if len(seen) != 4 || !seen[-tick] || !seen[0] || !seen[tick] || !seen[2*tick] {
		t.Errorf("beside 7.0003ms by %v", seen)
	}
	for range 100 {
		if got := m.beside(0); got < 0 {
			t.Fatalf("%v is before the start", got)
		}
	}
}

// TestSchedulesRepeat: whatever is drawn or varied, the file that says so leads to
// the same trial, event for event.
func TestSchedulesRepeat(t *testing.T) {
	t.Parallel()
	for _, a := range algo.All() {
		few := uint64(3)
		if a.Spec.Needs.Topology.Arbitrary() {
			few = 20 // for the graphs
		}
		for seed := range few {
			s, m := sample(a, seed)
			s = m.vary(s, nil)
			f := &Find{Found: Found{Schedule: s, First: s}}
			text, err := f.File()
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "schedule.yaml")
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			read, err := planOf(path)
			if err != nil {
				t.Fatalf("%s: %v\n%s", a.ID, err, text)
			}
			var here, there hash
			if _, err := s.run(t.Context(), "", &here); err != nil {
				t.Fatal(err)
			}
			if _, err := judge(t.Context(), &read, false, "", &there); err != nil {
				t.Fatal(err)
			}
			if here != there {
				t.Errorf("%s, seed %d: the file leads to another trial:\n%s", a.ID, seed, text)
			}
		}
	}
}

// TestSessions: requests name sessions where they may, and elsewhere none.
func TestSessions(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]int{"mutex/joung-group": 3, "mutex/raymond-k": 0, "mutex/central": 0} {
		seen := map[int]bool{}
		for seed := range uint64(50) {
			s, _ := sample(mustLookup(id), seed)
			for _, e := range s.Events {
				if request, named := e.Args.Own.(*fault.Requesting); named {
					seen[request.Session] = true
				}
			}
		}
		if len(seen) != want {
			t.Errorf("%s: sessions %v, want %d different ones", id, seen, want)
		}
	}
}

// TestWithin: what is drawn and varied where only what is survived may happen, is
// survived.
func TestWithin(t *testing.T) {
	t.Parallel()
	for _, a := range algo.All() {
		for seed := range uint64(50) {
			s, m := sample(a, seed)
			for changes := 0; ; changes++ {
				if !s.within() || !s.asks() {
					t.Fatalf("%s, seed %d, changed %d times: within %t, asks %t", a.ID, seed, changes,
						s.within(), s.asks())
				}
				if seed >= 2 || changes == 8 {
					break
				}
				var list moments
				if _, err := s.run(t.Context(), "", &list); err != nil {
					t.Fatal(err)
				}
				s = m.vary(s, list)
			}
		}
	}
}

// TestNothing: a few schedules break nothing that is built in, nor do many at night.
func TestNothing(t *testing.T) {
	t.Parallel()
	schedules := uint64(64)
	if slowtest.Night() {
		schedules = 100_000
	}
	for _, a := range algo.All() {
		if strings.HasPrefix(a.Spec.Name, "test-") {
			continue
		}
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			r, err := Run(context.Background(), a.ID, Options{
				Faults: Survived, Schedules: schedules, Seed: 3, Workers: 1,
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.Find != nil {
				text, _ := r.Find.File()
				t.Errorf("schedule %d:\n%s", r.Find.Number, text)
			}
			if r.Find == nil && r.Schedules != schedules {
				t.Errorf("%d schedules were tried, want %d", r.Schedules, schedules)
			}
		})
	}
}

// TestInterrupted: a search that is stopped says how far it came.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := Run(ctx, "mutex/central", Options{Faults: None, Seed: 1, Workers: 2})
	if err != nil || r.Find != nil || r.Schedules > 2*family {
		t.Errorf("%+v, %v, want almost no schedules and no find", r, err)
	}
}

// TestTime: a search does not wait for the end of the trial in which its time is over.
func TestTime(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	onTimer.Store(&cancel)
	s, _ := sample(mustLookup("mutex/test-has-no-rest"), 1)
	if _, err := s.run(ctx, "", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want a trial that ends before its end", err)
	}
}

// onTimer is what timers of the restless do besides.
var onTimer atomic.Pointer[context.CancelFunc]

// restless sets many timers, one after the other.
type restless struct {
	eager
	left int
}

func (*restless) Start(env algo.Env) { env.SetTimer("again", 1) }

func (r *restless) Timeout(env algo.Env, _ algo.Timer) {
	if f := onTimer.Load(); f != nil {
		(*f)() // the other tests with it have a context of their own
	}
	if r.left--; r.left > 0 {
		env.SetTimer("again", 1)
	}
}

// keeper is naimi-trehel-ft whose holder still has the token when it comes back
// from a crash.
type keeper struct{ algo.Mutex }

// Kept is what it saves.
type Kept struct{ Token bool }

// Kind is KEPT.
func (Kept) Kind() string { return "KEPT" }

func (k *keeper) token() bool { return reflect.ValueOf(k.Mutex).Elem().FieldByName("token").Bool() }

func (k *keeper) Start(env algo.Env) {
	k.Mutex.(algo.Starter).Start(keeping{env})
	env.Save(Kept{k.token()})
}

func (k *keeper) Receive(env algo.Env, from algo.ID, m algo.Message) {
	k.Mutex.Receive(keeping{env}, from, m)
	env.Save(Kept{k.token()})
}

func (k *keeper) Timeout(env algo.Env, timer algo.Timer) {
	k.Mutex.(algo.Timed).Timeout(keeping{env}, timer)
	env.Save(Kept{k.token()})
}

func (k *keeper) Release(env algo.Env) {
	k.Mutex.Release(keeping{env})
	env.Save(Kept{k.token()})
}

// keeping has only the keeper save.
type keeping struct{ algo.Env }

func (keeping) Save(algo.Message) {}

// moody is central, but for one request of all that were ever made to one that is
// so: the other tests leave them alone.
type moody struct {
	algo.Mutex
	is       bool
	patience *atomic.Int64
}

func (m *moody) Request(env algo.Env) {
	if m.is && m.patience.Add(-1) == 0 {
		panic("not now")
	}
	m.Mutex.Request(env)
}

func mustLookup(id string) *algo.Algorithm {
	a, err := algo.Lookup(id)
	if err != nil {
		panic(err)
	}
	return a
}

func init() {
	for name, requests := range map[string]int64{"test-breaks-at-first": 1, "test-breaks-later": 200} {
		patience := &atomic.Int64{}
		patience.Store(requests)
		spec := mustLookup("mutex/central").Spec
		spec.Name = name
		spec.Params = append(slices.Clone(spec.Params),
			algo.Param{Name: "moody", Type: algo.Bool, Default: algo.Const(false), Doc: "breaks once"})
		algo.RegisterMutex(spec, func(c algo.Config) algo.Mutex {
			return &moody{central.New(c), c.Params.Bool("moody"), patience}
		})
	}
	spec := mustLookup("mutex/naimi-trehel-ft").Spec
	spec.Name, spec.Saves = "test-keeps-its-token", []algo.Message{Kept{}}
	algo.RegisterMutex(spec, func(c algo.Config) algo.Mutex {
		if saved, ok := c.Saved.(Kept); ok && saved.Token {
			c.Incarnation, c.Holder = 0, c.ID
		}
		c.Saved = nil
		return &keeper{naimitrehelft.New(c)}
	})
}
