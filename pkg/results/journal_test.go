package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// settled replaces what is unequal to itself.
func settled(t Trial) Trial {
	fix := func(v *float64) {
		if math.IsNaN(*v) {
			*v = -12345
		}
	}
	values := t.own
	t.own, t.held, t.row = nil, nil, 0
	for _, m := range metric.All() { // in one order, and the fixed ones whether or not they are set
		i := slices.IndexFunc(values, func(v metric.Value) bool { return v.Name == m.Name })
		if i < 0 && !m.Always {
			continue
		}
		v := m.Of(0)
		if i >= 0 {
			v = values[i]
		}
		fix(&v.Value)
		t.own = append(t.own, v)
	}
	return t
}

func equalTrials(a, b Trial) bool { return reflect.DeepEqual(settled(a), settled(b)) }

func TestTrialSurvivesTheJournal(t *testing.T) {
	t.Parallel()
	full := testTrial(1)
	full.Set(metric.MessageDelays.Of(nan))
	full.Ops = append(full.Ops, trace.Operation{Process: 9, Cause: 1, Begin: 1<<52 - 1, End: -1, Status: "lost", Origin: "none known", Phase: 0.25})
	full.Status, full.Reason = trace.Violated, `p3 "granted", p7 inside`
	bare := testTrial(2)
	bare.Ops, bare.Outages, bare.Kinds = nil, nil, nil
	only(&bare)
	f := create(t, testHeader(2))
	if err := f.AppendGroup([]Trial{full, bare}); err != nil {
		t.Fatal(err)
	}
	got, err := ReadTrials(f.Dir())
	if err != nil || len(got) != 2 || !equalTrials(got[0], full) || !equalTrials(got[1], bare) {
		t.Errorf("read %+v, %v, want %+v", got, err, []Trial{full, bare})
	}
	for _, line := range lines(t, f, JournalFile) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
}

func TestNumbersSurvive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOf(rapid.Float64()).Draw(t, "numbers")
		b := []byte{'['}
		for i, v := range in {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendNumber(b, v)
		}
		out, err := parseNumbers(append(b, ']'))
		if err != nil || len(out) != len(in) {
			t.Fatalf("%s: %v, %v", b, out, err)
		}
		for i, v := range in {
			lost := math.IsNaN(out[i]) && (math.IsNaN(v) || math.IsInf(v, 0))
			if out[i] != v && !lost {
				t.Fatalf("%v became %v", v, out[i])
			}
		}
	})
}

// A crash may cut the last write anywhere; behind the cut the file system may
// have left nothing, or zeros.
func TestTornAtEveryByte(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(4))
	last := testTrial(3)
	last.Set(metric.Duration.Of(3.45)) // which a cut could turn into 3.4
	if err := f.AppendGroup([]Trial{testTrial(1), testTrial(2)}); err != nil {
		t.Fatal(err)
	}
	start := f.log.tail.end
	if err := f.Append(last); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(f.Dir(), JournalFile)
	whole := []byte(readFile(t, path))
	for cut := int64(len(whole)) - 1; cut >= start; cut-- {
		for _, behind := range []int64{7, 0} {
			if err := errors.Join(os.Truncate(path, cut), os.Truncate(path, cut+behind)); err != nil {
				t.Fatal(err)
			}
			got, err := ReadTrials(f.Dir())
			if err != nil || len(got) != 2 || !equalTrials(got[1], testTrial(2)) {
				t.Fatalf("cut at %d, %d zeros: read %d trials, %v, want 2", cut, behind, len(got), err)
			}
		}
	}
	// To open waits for the disk; every byte of it would take long.
	for cut := start; cut < int64(len(whole)); cut += 50 {
		write(t, path, string(whole[:cut]))
		reopened(t, f.Dir(), cut > start, last)
	}
}

// reopened checks that a torn journal in dir, of trials 1 and 2, takes a third.
func reopened(t *testing.T, dir string, torn bool, third Trial) {
	t.Helper()
	f, err := Open(dir, Resume{})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Done()) != 2 || f.Attempts(3) != 0 || len(f.notes) > 0 != torn {
		t.Errorf("done %v, notes %q, want two trials, torn %v", f.Done(), f.notes, torn)
	}
	if info, err := os.Stat(f.path(JournalFile)); err != nil || info.Size() != f.log.tail.end {
		t.Errorf("journal has %d bytes, %v, want %d", info.Size(), err, f.log.tail.end)
	}
	if err := f.Append(third); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	got, err := ReadTrials(dir)
	if err != nil || len(got) != 3 || !equalTrials(got[2], third) {
		t.Errorf("after reopening: %d trials, %v, want 3", len(got), err)
	}
}

func TestDamage(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(9))
	for _, group := range [][]Trial{{testTrial(1)}, {testTrial(2)}, {testTrial(3), testTrial(4)}} {
		if err := f.AppendGroup(group); err != nil {
			t.Fatal(err)
		}
	}
	whole := strings.SplitAfter(readFile(t, f.Dir(), JournalFile), "\n")
	flip := func(line int) []string {
		out := append([]string{}, whole...)
		at := len(out[line]) / 2
		out[line] = out[line][:at] + "~" + out[line][at+1:]
		return out
	}
	tests := []struct {
		name   string
		lines  []string
		trials int
		want   string
	}{
		{"whole", whole, 4, ""},
		{"last line", flip(4), 3, ""},
		// The pages of one write reach the disk in any order.
		{"first line of an unsynced group", flip(3), 2, ""},
		{"a line that was synced", flip(2), 0, "line 3: damaged in the middle"},
		{"header", flip(0), 0, "line 1: damaged in the middle"},
		{"a line removed", slices.Concat(whole[:1], whole[2:]), 0, "line 2: numbered 3"},
		{"a line twice", slices.Concat(whole[:2], whole[1:]), 0, "line 3: numbered 2"},
		{"empty", nil, 0, "no header"},
		{"half a header", []string{whole[0][:40]}, 0, "no header"},
	}
	for _, test := range tests {
		dir := t.TempDir()
		path := filepath.Join(dir, JournalFile)
		write(t, filepath.Join(dir, ConfigFile), testConfig)
		if err := os.WriteFile(path, []byte(strings.Join(test.lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := ReadTrials(dir)
		if test.want != "" {
			wantError(t, err, "journal: "+path, test.want)
		} else if err != nil || len(got) != test.trials {
			t.Errorf("%s: %d trials, %v, want %d", test.name, len(got), err, test.trials)
		}
	}
}

func TestOtherSchemaIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	line := appendLine(nil, []byte(`{"seq":1,"synced":0,"header":{"schema_version":99}}`))
	if err := os.WriteFile(filepath.Join(dir, JournalFile), line, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := ReadTrials(dir)
	wantError(t, err, "schema version 99, expected 3", "release")
}

func TestEveryAttemptStays(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(2))
	spoiled, again := testTrial(1), testTrial(1)
	spoiled.Status, spoiled.Reason, again.Attempts = trace.Invalid, "bus was stalled", 2
	if err := f.AppendGroup([]Trial{spoiled, testTrial(2), again}); err != nil {
		t.Fatal(err)
	}
	all, err := ReadAttempts(f.Dir(), 1)
	if err != nil || len(all) != 2 || !equalTrials(all[0], spoiled) || !equalTrials(all[1], again) {
		t.Errorf("attempts %+v, %v, want two", all, err)
	}
	last, err := ReadTrials(f.Dir())
	if err != nil || len(last) != 2 || last[0].Status != trace.OK {
		t.Errorf("trials %+v, %v, want the last attempts", last, err)
	}
	if m := finish(t, f); m.Attempts != 3 || m.Statuses[trace.OK] != 2 || m.Statuses[trace.Invalid] != 0 {
		t.Errorf("manifest: %d attempts, %v, want 3 and two ok", m.Attempts, m.Statuses)
	}
}

func FuzzJournal(f *testing.F) {
	header := appendLine(nil, []byte(`{"seq":1,"synced":0,"header":{"schema_version":1}}`))
	f.Add(header)
	f.Add(appendLine(header, []byte(`{"seq":2,"synced":1,"trial":{"trial":1}}`)))
	f.Add([]byte(`{"crc":"00000000","len":0,"entry":}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var kept []byte
		end, err := scan(bytes.NewReader(b), func(e *entry, at position) error {
			kept = append(kept, b[at.at:at.at+at.size]...)
			return nil
		})
		if err != nil {
			return
		}
		if end.end+end.torn != int64(len(b)) || !bytes.Equal(kept, b[:end.end]) {
			t.Errorf("kept %d bytes, torn %d of %d", end.end, end.torn, len(b))
		}
	})
}
