//go:build unix

package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// full returns a device whose every write fails as a full disk does.
func full(t *testing.T) *os.File {
	t.Helper()
	file, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no full device: %v", err)
	}
	return file
}

func TestFullDiskUnderTheJournal(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(3))
	if err := f.Append(testTrial(1)); err != nil {
		t.Fatal(err)
	}
	// The journal's name and file become the device, as present compares them.
	real := f.log.file
	if err := os.Rename(f.path(JournalFile), f.path("aside")); err != nil {
		t.Fatal(err)
	}
	f.log.file = full(t)
	if err := os.Symlink("/dev/full", f.path(JournalFile)); err != nil {
		t.Fatal(err)
	}
	err := f.Append(testTrial(2))
	wantError(t, err, "journal: /dev/full: no space left on device", "free some space",
		"the 1 trials before are safe")
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v is not ENOSPC", err)
	}
	if f.Append(testTrial(3)) == nil || len(f.Done()) != 1 {
		t.Errorf("done %v after a failed write, want trial 1 and no further append", f.Done())
	}
	if err := f.log.file.Close(); err != nil {
		t.Error(err)
	}
	f.log.file = real
	if err := os.Rename(f.path("aside"), f.path(JournalFile)); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadTrials(f.Dir()); err != nil || len(got) != 1 {
		t.Errorf("%d trials, %v, want the first", len(got), err)
	}
}

func TestFullDiskUnderATable(t *testing.T) {
	t.Parallel()
	s, err := newSheet(&disk{t.TempDir()}, TrialsFile, names(identity))
	if err != nil {
		t.Fatal(err)
	}
	defer s.file.discard()
	device := full(t)
	defer device.Close()
	s.buf.Reset(device)
	if err := s.csv.Write([]string{"1"}); err != nil {
		t.Fatal(err)
	}
	if err := s.settle(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("settle: %v, want ENOSPC", err)
	}
}

func init() { parts["small-files"] = smallFiles }

// smallFiles runs where no file may exceed 16 KiB.
func smallFiles(root string) error {
	signal.Ignore(syscall.SIGXFSZ)
	f, err := Create(root, testHeader(1000), []byte(testConfig))
	if err != nil {
		return err
	}
	if err := f.Append(testTrial(1)); err != nil {
		return err
	}
	if _, err := f.Finish(End{}); err != nil {
		return err
	}
	limit := syscall.Rlimit{Cur: 16 << 10, Max: 16 << 10}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	for n := 2; n <= 1000; n++ {
		if err := f.Append(testTrial(n)); err != nil {
			fmt.Println(n-1, "accepted")
			return err
		}
	}
	return nil
}

func TestLimitOnFileSize(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	out, err := process(t, "small-files", root).CombinedOutput()
	text := string(out)
	if err == nil || !strings.Contains(text, "file too large; raise the limit") {
		t.Fatalf("%v: %s, want the reason and the remedy", err, text)
	}
	var accepted int
	if _, err := fmt.Sscan(text, &accepted); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	f, err := Open(root+"/test", Resume{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if len(f.Done()) != accepted || accepted < 2 {
		t.Errorf("%d trials done, want the %d accepted", len(f.Done()), accepted)
	}
	if m := finish(t, f); m.Finished != accepted {
		t.Errorf("finished %d, want %d", m.Finished, accepted)
	}
}

// A failure must leave the older tables, and no rubbish beside them.
func TestFailedFinishChangesNothing(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(2))
	if err := f.Append(testTrial(1)); err != nil {
		t.Fatal(err)
	}
	finish(t, f)
	before := readFile(t, f.Dir(), TrialsFile)
	if err := f.Append(testTrial(2)); err != nil {
		t.Fatal(err)
	}
	f.log.last[2] = slot{position{at: 1, size: 50}, 0, Outcome{trace.OK, 1}} // reads back damaged
	_, err := f.Finish(End{})
	wantError(t, err, "trial 2", "checksum")
	delete(f.log.last, 2)
	_, err = f.Finish(End{Bus: map[string]any{"ping_us": nan}})
	wantError(t, err, "manifest: "+f.Dir(), "NaN")
	if readFile(t, f.Dir(), TrialsFile) != before {
		t.Error("the table changed")
	}
	if err := Verify(f.Dir()); err == nil {
		t.Error("the journal has grown since the manifest, want Verify to say so")
	}
	if stale, _ := filepath.Glob(f.path(".trials*")); len(stale) > 0 {
		t.Errorf("%q were left behind", stale)
	}
}

func TestVanishedFolder(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(2))
	if err := os.RemoveAll(f.Dir()); err != nil {
		t.Fatal(err)
	}
	wantError(t, f.Append(testTrial(1)),
		"journal: "+f.path(JournalFile), "removed or replaced", "new run")
	_, err := f.Finish(End{})
	wantError(t, err, "removed or replaced")
	if _, err := NewTrace(f.Dir(), trace.KeepAll, 1, 1, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("trace: %v, want that the folder does not exist", err)
	}
	if _, err := os.Stat(f.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder came back: %v", err)
	}
}

func TestUnwritableRoot(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	_, err := Create(file, testHeader(1), nil)
	wantError(t, err, "results folder: "+file, "not a directory", "--out")
	_, err = Create("/proc/self", testHeader(1), nil)
	if err == nil {
		t.Error("created a folder in /proc")
	}
}
