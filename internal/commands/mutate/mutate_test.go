package mutate

import (
	"slices"
	"strings"
	"testing"
)

// TestOf is every change of a sample, by name.
func TestOf(t *testing.T) {
	const want = `
New: delete return &node{phase: calm, busy: done == busy}
New: delete phase: calm
New: delete busy: done == busy
New: phase: busy
New: busy: done != busy
New: busy: calm == busy
New: busy: done == done
Receive: delete n.count++
Receive: delete n.handle(v)
Receive: delete return -v
Receive: n.count--
Receive: if !(v < 0 || n.busy && v != 7)
Receive: if (true || v < 0 || n.busy && v != 7)
Receive: if (false && (v < 0 || n.busy && v != 7))
Receive: if v < 0 && n.busy && v != 7
Receive: if !(v < 0) || n.busy && v != 7
Receive: if (false && (v < 0)) || n.busy && v != 7
Receive: if v <= 0 || n.busy && v != 7
Receive: if v < 1 || n.busy && v != 7
Receive: if v < 0 || !(n.busy && v != 7)
Receive: if v < 0 || (false && (n.busy && v != 7))
Receive: if v < 0 || n.busy || v != 7
Receive: if v < 0 || !(n.busy) && v != 7
Receive: if v < 0 || (true || n.busy) && v != 7
Receive: if v < 0 || n.busy && (true || v != 7)
Receive: if v < 0 || n.busy && v == 7
Receive: if v < 0 || n.busy && v != 6
Receive: delete return 0
Receive: return 1
Receive: return v
handle: delete _ = slices.ContainsFunc(n.names, func(s string) bool { return s == "x" })
handle: delete n.phase = done
handle: case !(v >= 3)
handle: case (true || v >= 3)
handle: case (false && (v >= 3))
handle: case v > 3
handle: case v >= 2
handle: n.phase = calm
handle: delete n.names = append(n.names, "x")
handle: case (true || !n.busy)
handle: case (false && (!n.busy))
handle: case n.busy
handle: delete n.count += max(i+1, 4)
handle: n.count -= max(i+1, 4)
handle: n.count += min(i+1, 4)
handle: n.count += max(i-1, 4)
handle: n.count += max(i+0, 4)
handle: n.count += max(i+1, 3)
handle: delete return s == "x"
handle: return s != "x"
`
	mutants, err := Of("testdata/sample", Handlers)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range mutants {
		got = append(got, m.Name)
	}
	for _, name := range got {
		if !strings.Contains(want, "\n"+name+"\n") {
			t.Errorf("unexpected: %s", name)
		}
	}
	for name := range strings.Lines(strings.TrimSpace(want)) {
		if !slices.Contains(got, strings.TrimSpace(name)) {
			t.Errorf("missing: %s", name)
		}
	}
}

// TestSource: a mutant differs from its file in the change alone.
func TestSource(t *testing.T) {
	p, err := parse("testdata/sample")
	if err != nil {
		t.Fatal(err)
	}
	mutants, err := Of("testdata/sample", Handlers)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"New: delete phase: calm":        {"{phase: calm, busy", "{busy"},
		"New: delete busy: done == busy": {"calm, busy: done == busy}", "calm, }"},
		"Receive: delete n.handle(v)":    {"n.handle(v)", "if false { n.handle(v) }"},
		"Receive: return v":              {"return -v", "return v"},
		"handle: case (true || v >= 3)":  {"case v >= 3", "case (true || v >= 3)"},
		"handle: n.phase = calm":         {"n.phase = done", "n.phase = calm"},
		"handle: n.count += max(i+0, 4)": {"max(i+1, 4)", "max(i+0, 4)"},
	} {
		i := slices.IndexFunc(mutants, func(m Mutant) bool { return m.Name == name })
		if i < 0 {
			t.Errorf("missing: %s", name)
			continue
		}
		m := mutants[i]
		was := string(p.sources[m.File])
		if got := was[:m.from] + m.body + was[m.to:]; got != strings.Replace(was, change[0], change[1], 1) {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// TestUnique: a list of survivors can name each mutant of a real package.
func TestUnique(t *testing.T) {
	for _, dir := range all() {
		seen := map[string]bool{}
		for _, m := range mutantsOf(t, dir) {
			if seen[m.Name] || strings.ContainsAny(m.Name, "\n\t") {
				t.Errorf("%s: %q", dir, m.Name)
			}
			seen[m.Name] = true
		}
	}
}

// TestNothing: a folder without functions is an error, not a clean bill of health.
func TestNothing(t *testing.T) {
	if _, err := Of(t.TempDir(), Handlers); err == nil {
		t.Error("no error for an empty folder")
	}
}

func TestSurvivors(t *testing.T) {
	got, err := Survivors("# a comment\n\n[a/b]\nf: x\n\tBecause\n\tof that.\ng: y\n\tToo.\n[c]\nf: x\n\tHere.\n")
	want := []Survivor{{"a/b", "f: x", "Because of that."}, {"a/b", "g: y", "Too."}, {"c", "f: x", "Here."}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for name, text := range map[string]string{
		"no reason":      "[a]\nf: x\n",
		"no package":     "f: x\n\tWhy.\n",
		"reason of none": "[a]\n\tWhy.\n",
		"another's":      "[a]\nf: x\n\tWhy.\n[b]\n\tWhy.\n",
	} {
		if got, err := Survivors(text); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}
