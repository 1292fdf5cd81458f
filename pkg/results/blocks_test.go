package results

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// large is the header of a run whose journal has blocks.
func large() Header { return testHeader(textRows + 1) }

// varied are trials of many kinds, some with several attempts, in the order in which they ended.
func varied(n int) (out []Trial) {
	for i := range n {
		t := testTrial((i*7)%n + 1)
		t.Seed -= uint64(i)
		switch i % 6 {
		case 1:
			t.Status, t.Reason, t.Unseen = trace.TimedOut, "time limit\nof 10 s", true
			only(&t)
			t.Set(metric.SplitBrain.Of(math.NaN()), metric.Election.Of(math.NaN()))
		case 2:
			t.Ops, t.Outages, t.Kinds, t.InModel = nil, nil, nil, false
			t.Design[4].Value = "2"
		case 3:
			t.Host, t.Round = "lab7", 3
			t.Set(metric.Election.Of(math.Copysign(0, -1)), metric.Detection.Of(-0.1), metric.Messages.Of(1<<40))
		case 4:
			first := t
			first.Status, first.Reason, t.Attempts = trace.Invalid, "the bus was stalled", 2
			out = append(out, first)
		}
		out = append(out, t)
	}
	return out
}

// appended appends trials in groups of several sizes.
func appended(t *testing.T, f *Folder, trials []Trial) {
	t.Helper()
	for size := 1; len(trials) > 0; size = size%40 + 13 {
		n := min(size, len(trials))
		if err := f.AppendGroup(trials[:n]); err != nil {
			t.Fatal(err)
		}
		trials = trials[n:]
	}
}

// tableTexts are the tables of a folder as text.
func tableTexts(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range tableFiles() {
		if name != RoutesFile { // of real networks alone
			out[name] = readFile(t, dir, name)
		}
	}
	return out
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	trials := varied(150)
	small, big := testHeader(150), large()
	small.Named, big.Named = true, true
	text, blocks := create(t, small), create(t, big)
	appended(t, text, trials)
	appended(t, blocks, trials)
	if journal := readFile(t, blocks.Dir(), JournalFile); !strings.Contains(journal, `"block":"`) ||
		len(journal) > len(readFile(t, text.Dir(), JournalFile))/4 {
		t.Errorf("the journal in blocks has %d bytes", len(journal))
	}
	if strings.Contains(readFile(t, text.Dir(), JournalFile), `"block"`) {
		t.Errorf("a run of %d trials has blocks", 150)
	}
	a, b := finish(t, text), finish(t, blocks)
	if a.Attempts != len(trials) || b.Attempts != len(trials) || a.Lines != 0 || b.Lines != blocks.log.tail.lines {
		t.Errorf("attempts %d and %d of %d, lines %d and %d", a.Attempts, b.Attempts, len(trials), a.Lines, b.Lines)
	}
	want := tableTexts(t, text.Dir())
	for name, got := range tableTexts(t, blocks.Dir()) {
		if got != want[name] {
			t.Errorf("%s differs where the journal has blocks:\n%s\nwant:\n%s", name, got, want[name])
		}
	}
	rows, err := ReadTrials(text.Dir())
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadTrials(blocks.Dir())
	if err != nil || len(again) != len(rows) {
		t.Fatalf("%d trials, %v, want %d", len(again), err, len(rows))
	}
	for i := range rows {
		if !equalTrials(again[i], rows[i]) || again[i].Unseen != rows[i].Unseen {
			t.Errorf("trial %d reads back as %+v, want %+v", rows[i].Trial, again[i], rows[i])
		}
	}
	attempts, err := ReadAttempts(blocks.Dir(), trials[4].Trial)
	if err != nil || len(attempts) != 2 || attempts[0].Status != trace.Invalid || attempts[1].Attempts != 2 {
		t.Errorf("attempts at trial %d: %+v, %v", trials[4].Trial, attempts, err)
	}
	followed := 0
	if err := Follow(blocks.Dir()).Next(func(*Trial, bool) { followed++ }); err != nil || followed != len(trials) {
		t.Errorf("followed %d of %d attempts, %v", followed, len(trials), err)
	}
	if err := Verify(blocks.Dir()); err != nil {
		t.Error(err)
	}
}

// Windows are sorted one by one, as in a run that is larger than the memory.
func TestEachSorted_Windows(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(3*windowRows))
	var group []Trial
	for i := range 2*windowRows + 100 {
		group = append(group, testTrial(i*5%(2*windowRows+100)+1)) // 5 is no divisor
		group[len(group)-1].Ops, group[len(group)-1].Outages = nil, nil
	}
	if err := f.AppendGroup(group[:20_000]); err != nil {
		t.Fatal(err)
	}
	if err := f.AppendGroup(group[20_000:]); err != nil {
		t.Fatal(err)
	}
	next := 1
	err := f.EachTrial(func(trial *Trial) error {
		want := testTrial(next)
		if v, _ := trial.Figure("election_ms"); trial.Trial != next || v != want.Value(metric.Election) {
			return fmt.Errorf("trial %d with election_ms %v, want trial %d", trial.Trial, v, next)
		}
		next++
		return nil
	})
	if err != nil || next != len(group)+1 {
		t.Errorf("%d trials in order, %v, want %d", next-1, err, len(group))
	}
}

// A crash may cut the journal at any byte: what was appended before stays, and the rest is run again.
func TestBlocks_Crash(t *testing.T) {
	t.Parallel()
	trials := varied(60)
	undisturbed := create(t, large())
	appended(t, undisturbed, trials)
	finish(t, undisturbed)
	want := tableTexts(t, undisturbed.Dir())
	journal := readFile(t, undisturbed.Dir(), JournalFile)
	lineOf := strings.SplitAfter(journal, "\n")
	at := len(lineOf[0])
	for i, line := range lineOf[1 : len(lineOf)-1] {
		for _, cut := range []int{at, at + 1, at + len(line)/2, at + len(line) - 1} {
			dir := filepath.Join(t.TempDir(), "run")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, ConfigFile), testConfig)
			write(t, filepath.Join(dir, JournalFile), journal[:cut])
			f, err := Open(dir, Resume{})
			if err != nil {
				t.Fatal(err)
			}
			if f.log.tail.lines != i+1 {
				t.Errorf("cut at byte %d: %d lines are left, want %d", cut, f.log.tail.lines, i+1)
			}
			done := f.Done()
			appended(t, f, slices.DeleteFunc(slices.Clone(trials), func(trial Trial) bool {
				_, is := done[trial.Trial]
				return is || trial.Attempts <= f.Attempts(trial.Trial)
			}))
			finish(t, f)
			for name, got := range tableTexts(t, dir) {
				if got != want[name] {
					t.Errorf("cut at byte %d: %s differs from that of the undisturbed run", cut, name)
				}
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		at += len(line)
	}
}

func TestBlocks_Damage(t *testing.T) {
	t.Parallel()
	f := create(t, large())
	appended(t, f, varied(60))
	path := filepath.Join(f.Dir(), JournalFile)
	whole := readFile(t, f.Dir(), JournalFile)
	at := strings.Index(whole, `"block":"`) + 40
	write(t, path, whole[:at]+"~"+whole[at+1:])
	_, err := ReadTrials(f.Dir())
	wantError(t, err, "journal: "+path, "damaged in the middle")
	write(t, path, whole)

	block, err := encodeBlock(varied(20))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decodeBlock(block, large().Design[1:]); err == nil {
		t.Error("a block of another design was read")
	}
	for i := range block {
		bad := slices.Clone(block)
		bad[i] ^= 0x10
		_, _ = decodeBlock(bad, large().Design) // must not panic; the checksum of the line finds the damage
		_, _ = headsOf(bad)
	}
}

func TestMerge_Blocks(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var dirs []string
	for i := 1; i <= 2; i++ {
		h := large()
		h.Shard = &Shard{Index: i, Of: 2}
		f, err := Create(root, h, []byte(testConfig))
		if err != nil {
			t.Fatal(err)
		}
		var mine []Trial
		for n := i; n <= h.Planned; n += 2 {
			mine = append(mine, testTrial(n))
		}
		if err := f.AppendGroup(mine); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Finish(End{Planned: len(mine)}); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, f.Dir())
	}
	dir, err := Merge(dirs, root, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ReadManifest(dir)
	if err != nil || !m.Complete || m.Attempts != textRows+1 || m.Lines != 3 {
		t.Errorf("manifest %+v, %v", m, err)
	}
	if err := Verify(dir); err != nil {
		t.Error(err)
	}
}
