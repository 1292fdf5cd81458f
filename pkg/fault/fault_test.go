package fault_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/param"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestDocumented: docs/explanation/faults.md has a row for each fault, each choice and each shape,
// and none for another.
func TestDocumented(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../docs/explanation/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(b), "\n## Faults\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var faults []string
	for _, f := range fault.All() {
		if f.Script {
			continue
		}
		faults = append(faults, f.Name)
		if f.Also != "" {
			faults = append(faults, f.Also)
		}
	}
	same(t, "faults", first(table(t, text, "| fault |")), faults)
	same(t, "shapes", first(table(t, text, "| shape |")), append(fault.Shapes.Names(), "groups", "links"))
	for _, name := range slices.Concat(fault.Choices.Names(), fault.Triggers.Names()) {
		if !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, ": "+name+"`") {
			t.Errorf("docs/explanation/faults.md does not say who or what %s is", name)
		}
	}
}

// table is the rows of the one that begins with head.
func table(t *testing.T, text, head string) []string {
	t.Helper()
	_, rest, found := strings.Cut(text, head)
	if !found {
		t.Fatalf("docs/explanation/faults.md has no table that begins with %s", head)
	}
	lines := strings.Split(rest, "\n")[2:]
	return lines[:slices.IndexFunc(lines, func(s string) bool { return !strings.HasPrefix(s, "|") })]
}

// first is the words in backticks in the first column.
func first(rows []string) (words []string) {
	for _, row := range rows {
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(strings.Split(row, "|")[1], -1) {
			words = append(words, m[1])
		}
	}
	return words
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s in docs/explanation/faults.md: %q, declared: %q", what, got, want)
	}
}

// TestDeclarations: each says all that others read, and says how it acts in one way.
func TestDeclarations(t *testing.T) {
	t.Parallel()
	for _, f := range fault.All() {
		acts := 0
		for _, is := range []bool{f.Outside != nil, f.Inside != nil, f.Network != nil, f.Rule != nil} {
			if is {
				acts++
			}
		}
		switch {
		case acts != 1:
			t.Errorf("%s acts in %d ways, want one", f.Name, acts)
		case f.Doc == "" || len(f.Takes) == 0:
			t.Errorf("%s: no doc or no arguments", f.Name)
		case f.Network != nil && f.Aim == nil:
			t.Errorf("%s: which links is it about?", f.Name)
		case f.Undo != "" && fault.Named(f.Undo) == nil:
			t.Errorf("%s is undone by %s, which is nothing", f.Name, f.Undo)
		case f.Inside != nil && !f.Script && f.Words == nil:
			t.Errorf("%s: no words for its record", f.Name)
		}
	}
	if fault.Renamed("lose").Name != fault.Drop || fault.Named("partition").Name != fault.Cut {
		t.Error("words that have another name are not found")
	}
}

// drawn are events of every fault that is drawn.
func drawn(seed uint64) (out []fault.Event) {
	rng := rand.New(rand.NewPCG(seed, 1))
	d := &fault.Draw{
		Rand: rng, Nodes: 5, Latency: 10 * time.Millisecond, Unit: time.Second, Allowed: ^fault.Assumption(0),
		At:      func() time.Duration { return time.Duration(rng.IntN(1000)) * time.Millisecond },
		Span:    func() time.Duration { return time.Second },
		Process: func() algo.ID { return algo.ID(1 + rng.IntN(5)) },
	}
	for range 20 {
		out = append(out, d.Swarm()...)
		out = append(out, d.Of(fault.Named(fault.Crash)))
	}
	return out
}

// TestDraw: every fault that is drawn comes at some time, within its bounds; and none that
// breaks what it must not.
func TestDraw(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, e := range drawn(1) {
		f := fault.Named(e.Do)
		seen[e.Do] = true
		if f.Args != nil && e.Args.IsZero() && f.Any == nil {
			t.Errorf("%s: without what it alone says", e.Do)
		}
		for _, p := range e.Args.Of() {
			v := p.Value()
			if at, is := v.(*float64); is {
				v = *at
			}
			if param.Less(v, p.Min) || param.Less(p.Max, v) {
				t.Errorf("%s: %s %v, want from %v to %v", e.Do, p.Name, v, p.Min, p.Max)
			}
		}
	}
	for _, f := range fault.All() {
		if f.Draw != nil && !seen[f.Name] {
			t.Errorf("%s was never drawn", f.Name)
		}
	}
	d := &fault.Draw{Rand: rand.New(rand.NewPCG(1, 1)), Nodes: 2, Allowed: fault.Loss,
		At: func() time.Duration { return 0 }, Span: func() time.Duration { return 1 },
		Process: func() algo.ID { return 1 }}
	for range 100 {
		if e, ok := d.Any(); !ok || e.Broken(0) != fault.Loss {
			t.Fatalf("%+v was drawn, want what loses messages alone", e)
		}
	}
}

// TestEventsAsJSON: an event comes back as it was.
func TestEventsAsJSON(t *testing.T) {
	t.Parallel()
	for _, e := range drawn(2) {
		b, err := json.Marshal(e)
		var back fault.Event
		if err == nil {
			err = json.Unmarshal(b, &back)
		}
		if err != nil || !reflect.DeepEqual(back, e) {
			t.Errorf("%s: %+v, %v; want %+v", b, back, err, e)
		}
	}
}

// TestText: what stands in a record is read back.
func TestText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"drift factor 1.1": "the clock of p2 runs 1.1 times as fast",
		"drift":            "the clock of p2 runs as all others again",
		"skew by -20ms":    "the clock of p2 is 20ms behind",
		"skew by 20ms":     "the clock of p2 is 20ms ahead",
		"skew":             "the clock of p2 is right again",
	} {
		f, i := fault.Parse(text)
		if f == nil || i.Text() != text {
			t.Errorf("%q is read as %+v", text, i)
		}
		r := trace.Record{Type: trace.Fault, Process: 2, Text: text}
		if got := fault.Sentence(&r); got != want {
			t.Errorf("%q in words: %q, want %q", text, got, want)
		}
		if state, over := fault.StateOf(&r); state == nil || over != !strings.Contains(text, " ") {
			t.Errorf("%q: state %v, over %t", text, state, over)
		}
	}
	for _, text := range []string{"", "rain", "drift factor", "drift factor x", "drift by 1ms", "skew by 5"} {
		if f, i := fault.Parse(text); f != nil {
			t.Errorf("%q is read as %+v", text, i)
		}
	}
}
