package results

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// shard makes the folder of shard i of n, which has so many of 4 trials in 2 cells, from
// the first.
func shard(t *testing.T, root string, s Shard, config string, trials ...int) *Folder {
	t.Helper()
	h := testHeader(4)
	h.Shard = &s
	h.Argv = []string{"bench", "run", "test.yaml", "--shard", s.String(), "--out", "my results"}
	f, err := Create(root, h, []byte(config))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range trials {
		trial := testTrial(n)
		trial.Host = s.Host
		if err := f.Append(trial); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// ended finishes a shard, of which 2 trials are planned, and returns its folder.
func ended(t *testing.T, f *Folder, notes ...string) string {
	t.Helper()
	if _, err := f.Finish(End{Planned: 2, Notes: notes, Bus: map[string]any{"ping_ms": 1.5}}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Dir()
}

func TestMerge(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	second := ended(t, shard(t, root, Shard{2, 2, "lab7"}, testConfig, 2, 4), "slow disk", "all")
	f := shard(t, root, Shard{1, 2, "lab3"}, testConfig, 1)
	invalid := testTrial(3)
	invalid.Status, invalid.Host = trace.Invalid, "lab3"
	valid := testTrial(3)
	valid.Attempts, valid.Host = 2, "lab3"
	if err := errors.Join(f.Append(invalid), f.Append(valid)); err != nil {
		t.Fatal(err)
	}
	w, err := f.NewTrace(3, 2, []string{"ELECTION"})
	if err != nil {
		t.Fatal(err)
	}
	w.Record(&trace.Record{At: 5, Type: trace.Up, Process: 1})
	if err := w.Commit(0); err != nil {
		t.Fatal(err)
	}
	first := ended(t, f, "all")
	if filepath.Base(first) != "shard-1-of-2" {
		t.Errorf("the folder of shard 1/2 is %s", first)
	}

	dir, err := Merge([]string{second, first}, root, []string{"bench", "merge"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(dir); err != nil {
		t.Error(err)
	}
	if at, err := Resolve(filepath.Join(root, "test")); err != nil || at != dir {
		t.Errorf("the latest run is %s, %v, want %s", at, err, dir)
	}
	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !m.Complete || m.Planned != 4 || m.Finished != 4 || m.Attempts != 5 || m.Shard != nil || len(m.Parts) != 2 {
		t.Errorf("the manifest of the merged run: %+v", m)
	}
	if p := m.Parts[1]; p.Host != "lab7" || p.Index != 2 || p.Machine.OS == "" || p.Bus["ping_ms"] != 1.5 ||
		p.Started == "" || !slices.Contains(p.Argv, "2/2") {
		t.Errorf("the second part is %+v", p)
	}
	if want := []string{"all", "shard 2/2: slow disk"}; !slices.Equal(m.Notes, want) {
		t.Errorf("notes %q, want %q", m.Notes, want)
	}
	if trace, err := ReadTrace(dir, 3); err != nil || trace.Attempt != 2 || len(trace.Records) != 1 {
		t.Errorf("the trace of trial 3: %+v, %v", trace, err)
	}
	if all, err := ReadAttempts(dir, 3); err != nil || len(all) != 2 {
		t.Errorf("%d attempts at trial 3, %v, want 2", len(all), err)
	}
	// From the table, and from the journal.
	table, err := ReadTable(dir)
	if err != nil {
		t.Fatal(err)
	}
	trials, err := ReadTrials(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"lab3", "lab7", "lab3", "lab7"} {
		if table.Trials[i].Host != want || trials[i].Host != want {
			t.Errorf("trial %d ran on %q by the table and %q by the journal, want %q", i+1, table.Trials[i].Host,
				trials[i].Host, want)
		}
	}
	if head := readFile(t, dir, TrialsFile); !strings.HasPrefix(head, "trial,cell,repetition,round,run_order,seed,host,problem,") {
		t.Errorf("%s begins %.80q", TrialsFile, head)
	}
	// Once more, from the folder of the experiment: the merged run is not in the way.
	if _, err := Merge([]string{filepath.Join(root, "test")}, root, nil, nil); err != nil {
		t.Error(err)
	}
}

// TestMerge_Network: what the shards have measured of the network is in the merged run, part by part. Each calls
// its machine by its own name, also where its nodes were on that one alone.
func TestMerge_Network(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	between := func(from, to string, ms int) link.Route {
		delays := make([]time.Duration, 101)
		for i := range delays {
			delays[i] = time.Duration(ms) * time.Millisecond
		}
		return link.Route{Part: 1, Phase: link.During, From: from, To: to, Sent: 5, Delays: delays}
	}
	var folders []string
	for i, network := range []*link.Matrix{
		{Hosts: []link.Lodge{{Name: "a"}, {Name: "b"}}, Routes: []link.Route{between("a", "b", 3), between("b", "a", 4)}},
		nil,
		{Hosts: []link.Lodge{{Name: trace.Here}}, Routes: []link.Route{between(trace.Here, trace.Here, 1)}},
		{Hosts: []link.Lodge{{Name: "c"}}, Routes: []link.Route{between("c", "c", 2)}},
	} {
		f := shard(t, root, Shard{i + 1, 4, fmt.Sprintf("lab%d", i+1)}, testConfig, i+1)
		if _, err := f.Finish(End{Planned: 1, Network: network}); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, f.Dir())
	}
	dir, err := Merge(folders, root, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range m.Network.Routes {
		got = append(got, fmt.Sprintf("%d %s %s %v", r.Part, r.From, r.To, r.Delays[50]))
	}
	if want := []string{"1 a b 3ms", "1 b a 4ms", "2 lab3 lab3 1ms", "3 c c 2ms"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if rows := strings.Count(readFile(t, dir, RoutesFile), "\n"); rows != 5 || len(m.Network.Hosts) != 4 {
		t.Errorf("%d lines, hosts %v", rows, m.Network.Hosts)
	}
}

// Each reason for which folders are not one run has its own words and remedy, and
// leaves nothing behind.
func TestMerge_Refuses(t *testing.T) {
	t.Parallel()
	one := func(t *testing.T, root string) string {
		return ended(t, shard(t, root, Shard{1, 2, ""}, testConfig, 1, 3))
	}
	for name, c := range map[string]struct {
		other func(t *testing.T, root string) (dir string)
		want  string
		again string // the command that helps
	}{
		"another experiment": {func(t *testing.T, root string) string {
			return ended(t, shard(t, root, Shard{2, 2, ""}, "name: test\nrepetitions: 3\n", 2, 4))
		}, `different experiments: they differ first in line 2: was "repetitions: 2"`, ""},
		"another division": {func(t *testing.T, root string) string {
			return ended(t, shard(t, root, Shard{2, 3, ""}, testConfig, 2, 4))
		}, "shard 1/2, and", ""},
		"another program in another language": {func(t *testing.T, root string) string {
			f := shard(t, root, Shard{2, 2, ""}, testConfig)
			anotherProgram(t, f)
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			return f.Dir()
		}, "different programs: mutex/lock: lock.py differs", ""},
		"another program": {func(t *testing.T, root string) string {
			return ended(t, built(t, root, "other", 2, func(*Header) {}))
		}, "run by different programs", ""},
		"twice": {func(t *testing.T, root string) string {
			return ended(t, shard(t, filepath.Join(root, "b"), Shard{1, 2, ""}, testConfig, 1, 3))
		}, "are both shard 1/2; leave one of them out", ""},
		"missing": {func(*testing.T, string) string { return "" }, "shard 2/2 is missing",
			"bench|run|test.yaml|--shard|2/2|--out|my results"},
		"not at its end": {func(t *testing.T, root string) string {
			return ended(t, shard(t, root, Shard{2, 2, ""}, testConfig, 2))
		}, "shard 2/2 is not complete", "bench|run|--resume|DIR"},
		"killed": {func(t *testing.T, root string) string {
			f := shard(t, root, Shard{2, 2, ""}, testConfig, 2, 4)
			_ = f.Close()
			return f.Dir()
		}, "shard 2/2 is not complete", "bench|run|--resume|DIR"},
		"overlap": {func(t *testing.T, root string) string {
			return ended(t, shard(t, root, Shard{2, 2, ""}, testConfig, 2, 3))
		}, "have both run trial 3", ""},
		"gap": {func(t *testing.T, root string) string {
			f := shard(t, root, Shard{2, 2, ""}, testConfig, 2)
			if _, err := f.Finish(End{Planned: 1}); err != nil {
				t.Fatal(err)
			}
			_ = f.Close()
			return f.Dir()
		}, "the shards have 3 trials, and the experiment has 4", ""},
		"no shard": {func(t *testing.T, root string) string {
			f, err := Create(root, testHeader(4), []byte(testConfig))
			if err != nil {
				t.Fatal(err)
			}
			_ = f.Close()
			return f.Dir()
		}, "is a whole run, not a shard", ""},
		"nothing": {func(t *testing.T, root string) string { return root }, "no shard there", ""},
	} {
		root := t.TempDir()
		dirs := []string{one(t, root)}
		if dir := c.other(t, root); dir != "" {
			dirs = append(dirs, dir)
		}
		out := filepath.Join(root, "out")
		_, err := Merge(dirs, out, nil, nil)
		var refused *MergeError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want a MergeError with %q", name, err, c.want)
			continue
		}
		want := strings.ReplaceAll(c.again, "DIR", dirs[len(dirs)-1])
		if got := fmt.Sprint(refused.Again); c.again != "" && got != fmt.Sprint([][]string{strings.Split(want, "|")}) {
			t.Errorf("%s: remedy %s, want %q", name, got, want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: something was written", name)
		}
	}
}

// built makes the complete shard i of 2 of another program.
func built(t *testing.T, root, binary string, i int, change func(*Header)) *Folder {
	t.Helper()
	h := testHeader(4)
	h.Shard = &Shard{i, 2, ""}
	h.begin([]byte(testConfig))
	h.Binary, h.Simulated = binary, true
	change(&h)
	dir := ShardDir(root, h.Name, *h.Shard)
	h.Run = filepath.Base(dir)
	if err := makeShard(dir); err != nil {
		t.Fatal(err)
	}
	f, err := begin(dir, h, []byte(testConfig))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.AppendGroup([]Trial{testTrial(i), testTrial(i + 2)}); err != nil {
		t.Fatal(err)
	}
	return f
}

// Whoever merges is the program that ran: it derives the tables.
func TestMerge_AnotherBuild(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for i := 1; i <= 2; i++ {
		ended(t, built(t, root, "other", i, func(h *Header) { h.Source = "" }))
	}
	_, err := Merge([]string{filepath.Join(root, "test")}, root, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "merge them with that one") {
		t.Errorf("%v, want a refusal", err)
	}
}

// source is what the program of these tests was built from.
const source = "commit c1, go1.26"

func init() { thisSource = func() string { return source } }

// A shard of another platform is taken over once a sample of its trials was run again.
func TestMerge_AnotherPlatform(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		header  func(*Header)
		recheck Recheck
		want    string // of the error; "": none
	}{
		"the same": {func(*Header) {}, func(string) (int, string, error) { return 2, "", nil }, ""},
		"a difference": {func(*Header) {}, func(string) (int, string, error) { return 1, "trial 4: messages was 1 and is 2", nil },
			"finds other results: trial 4: messages was 1 and is 2"},
		"no sample":  {func(*Header) {}, nil, "merge them with that one"},
		"real nodes": {func(h *Header) { h.Simulated = false }, nil, "want the same file on every machine"},
		"another commit": {func(h *Header) {
			if h.Binary == "other" {
				h.Source = "commit c2, go1.26"
			}
		}, nil, "from the same commit"},
		"not from commit": {func(h *Header) { h.Source = "" }, nil, "uncommitted changes"},
	} {
		root := t.TempDir()
		ended(t, built(t, root, binaryDigest(), 1, test.header))
		foreign := ended(t, built(t, root, "other", 2, test.header))
		asked := ""
		recheck := test.recheck
		if recheck != nil {
			recheck = func(dir string) (int, string, error) { asked += dir; return test.recheck(dir) }
		}
		dir, err := Merge([]string{filepath.Join(root, "test")}, filepath.Join(root, "merged"), nil, recheck)
		if test.want != "" {
			var refused *MergeError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v, want %s", name, err, test.want)
			}
			if _, err := os.Stat(filepath.Join(root, "merged")); err == nil {
				t.Errorf("%s: something was written", name)
			}
			continue
		}
		if err != nil || asked != foreign {
			t.Fatalf("%s: %v, ran trials of %q again, want %q", name, err, asked, foreign)
		}
		m, err := ReadManifest(dir)
		if err != nil || len(m.Notes) != 1 || !strings.Contains(m.Notes[0], "shard 2/2 was run by another file") {
			t.Errorf("%s: %v, notes %q", name, err, m.Notes)
		}
	}
}

// A shard that is damaged, or of another version, is refused as whatever reads a folder does.
func TestMerge_Damaged(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(dir string) string{
		"was edited":     func(dir string) string { return filepath.Join(dir, TrialsFile) },
		"schema version": func(dir string) string { return filepath.Join(dir, ManifestFile) },
	} {
		root := t.TempDir()
		var dir string
		for i := 1; i <= 2; i++ {
			dir = ended(t, shard(t, root, Shard{i, 2, ""}, testConfig, i, i+2))
		}
		path := damage(dir)
		text := readFile(t, path)
		next := strings.Replace(text, fmt.Sprintf(`"schema_version": %d`, Schema), fmt.Sprintf(`"schema_version": %d`,
			Schema+1), 1)
		if next == text {
			next += "\n"
		}
		if err := os.WriteFile(path, []byte(next), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Merge([]string{filepath.Join(root, "test")}, root, nil, nil)
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%v, want that %s %s", err, path, name)
		}
	}
}

// A shard whose tables are there, and whose command has not ended, is waited for: its manifest
// is not the last.
func TestMerge_Ending(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	ended(t, shard(t, root, Shard{1, 2, ""}, testConfig, 1, 3))
	f := shard(t, root, Shard{2, 2, ""}, testConfig, 2, 4)
	defer f.Close()
	if _, err := f.Finish(End{Planned: 2}); err != nil {
		t.Fatal(err)
	}
	var refused *MergeError
	_, err := Merge([]string{filepath.Join(root, "test")}, root, nil, nil)
	if !errors.As(err, &refused) || !refused.Later {
		t.Errorf("%v, want a refusal for now", err)
	}
	if err := f.Conclude(0); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge([]string{filepath.Join(root, "test")}, root, nil, nil); err != nil {
		t.Error(err)
	}
}

// What a killed merge leaves is no run to go on with: its machines are elsewhere.
func TestMerge_Killed(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for i := 1; i <= 2; i++ {
		ended(t, shard(t, root, Shard{i, 2, ""}, testConfig, i, i+2))
	}
	pieces, err := gather([]string{filepath.Join(root, "test")})
	if err != nil {
		t.Fatal(err)
	}
	f, err := beginMerged(pieces, root, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(f.Dir(), Resume{}); err == nil || !strings.Contains(err.Error(), "merge the shards again") {
		t.Errorf("%v, want a refusal", err)
	}
}

// A shard that was begun is not begun again, unless nothing came of it.
func TestCreate_Shard(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	h := testHeader(4)
	h.Shard = &Shard{1, 2, ""}
	if err := os.MkdirAll(ShardDir(root, h.Name, *h.Shard), 0o755); err != nil {
		t.Fatal(err)
	}
	ended(t, shard(t, root, *h.Shard, testConfig, 1, 3))
	if _, err := Create(root, h, []byte(testConfig)); !errors.Is(err, os.ErrExist) {
		t.Errorf("%v, want that it is there", err)
	}
	if trials, err := ReadTrials(ShardDir(root, h.Name, *h.Shard)); err != nil || len(trials) != 2 {
		t.Errorf("%d trials are left, %v, want 2", len(trials), err)
	}
}
