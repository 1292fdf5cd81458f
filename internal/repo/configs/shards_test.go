package configs

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// What docs/how-to/shards.md promises: a simulated run in shards is the run in one
// piece, byte for byte, but for the keys of the manifest and the lines of the journal
// that are named here.
func TestShards_SameBytes(t *testing.T) {
	t.Parallel()
	traces := 0
	for _, name := range []string{"quickstart.yaml", "quickstart-mutex.yaml", "loss.yaml", "faults/lost-token.yaml"} {
		e := load(t, name, "transport=sim", "repetitions=5", "trace=failures")
		root := t.TempDir()
		want := contents(t, ran(t, e, filepath.Join(root, "one")))
		var shards []string
		for _, i := range []int{2, 3, 1} {
			part := must(e.Only(experiment.Shard{Index: i, Of: 3}))
			shards = append(shards, ran(t, part, filepath.Join(root, "parts")))
		}
		dir := must(results.Merge(shards, filepath.Join(root, "merged"), nil, nil))
		if err := results.Verify(dir); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := contents(t, dir)
		if a, b := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(a, b) {
			t.Errorf("%s: merged: files %q, want %q", name, a, b)
		}
		for file := range want {
			if strings.HasPrefix(file, results.TracesDir) {
				traces++
			}
			if got[file] != want[file] {
				t.Errorf("%s: merged: %s: got\n%.1000s\nwant\n%.1000s", name, file, got[file], want[file])
			}
		}
	}
	if traces == 0 {
		t.Error("no trial has failed: there are no traces to compare")
	}
}

// ran runs e, and returns the folder.
func ran(t *testing.T, e *experiment.Experiment, root string) string {
	t.Helper()
	f := must(results.Create(root, runner.Header(e, nil), must(e.Resolved())))
	_ = must(runner.Run(context.Background(), e, f, runner.Options{Workers: 2}))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Dir()
}

// contents are the files of a run by name, without what tells of its machine and hour.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := must(filepath.Rel(dir, path))
		out[name] = string(must(os.ReadFile(path)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(out[results.ManifestFile]), &m); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"run", "started", "finished_at", "argv", "machine", "load_at_start",
		"load_at_end", "shards", "notes", "handlers", "manifest_sha256"} {
		delete(m, key)
	}
	delete(m["sha256"].(map[string]any), results.JournalFile)
	out[results.ManifestFile] = string(must(json.Marshal(m)))
	// The trials of the journal are those of the tables, in the order in which they ended.
	lines := strings.Split(strings.TrimSpace(out[results.JournalFile]), "\n")[1:]
	for i, line := range lines {
		_, line, _ = strings.Cut(line, `"trial":`)
		lines[i] = line
	}
	slices.Sort(lines)
	out[results.JournalFile] = strings.Join(lines, "\n")
	delete(out, ".lock")
	return out
}
