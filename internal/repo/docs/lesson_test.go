package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// TestBroken does what lesson 11 and its answer tell students to do to an algorithm. A search prints what the
// two pages say.
func TestBroken(t *testing.T) {
	slowtest.Skip(t, "it builds commands with Conclave in them")
	t.Parallel()
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(name)))
		must(t, err)
		return string(text)
	}
	const plugin = "plugins/mutex/naimitrehel/naimitrehel.go"
	without := func(text, from, to string) string {
		t.Helper()
		before, rest, found := strings.Cut(text, from)
		_, after, ends := strings.Cut(rest, to)
		if !found || !ends {
			t.Fatalf("%s has no %q with %q behind it", plugin, from, to)
		}
		return before + after
	}
	first := without(read(plugin), "\tn.father = k // path reversal", "\n")
	second := without(without(without(first, "func (n *node) Invariant", "\n}\n"), "var _ algo.Checked", "\n"),
		"\t\"fmt\"", "\n")
	for source, page := range map[string]string{
		first: "docs/tutorials/lessons/11-break-it.md", second: "docs/tutorials/answers.md",
	} {
		dir := t.TempDir()
		changed := filepath.Join(dir, "changed.go")
		must(t, os.WriteFile(changed, []byte(source), 0o644))
		overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
			filepath.Join(root(t), filepath.FromSlash(plugin)): changed}})
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o644))
		build := exec.CommandContext(t.Context(), "go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o",
			filepath.Join(dir, "broken"), "./cmd/bench")
		build.Dir = root(t)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		c := exec.CommandContext(t.Context(), filepath.Join(dir, "broken"), "explore", "naimi-trehel", "--schedules",
			"200")
		c.Dir = dir
		out, _ := c.Output()
		if code := c.ProcessState.ExitCode(); code != 3 {
			t.Errorf("exit code %d, want 3", code)
		}
		quoted := 0
		_, lesson, _ := strings.Cut(read(page), "11")
		if at := strings.LastIndex(lesson, "## Lesson 11"); at >= 0 {
			lesson = lesson[at:]
		}
		for _, f := range parse(page, lesson).fences {
			if f.language != "" {
				continue
			}
			quoted++
			words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
			if !strings.Contains(words(string(out)), words(f.text)) {
				t.Errorf("%s quotes\n%s\nand the search prints\n%s", page, f.text, out)
			}
		}
		if quoted == 0 {
			t.Errorf("%s quotes nothing", page)
		}
	}
}
