package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/base/text"
)

// The name that stands for the newest run of an experiment: a symbolic link,
// or a text file where the system has none.
const (
	latestName = "latest"
	latestText = "latest.txt"
)

// makeRun makes the folder of a new run in experiment. That Mkdir fails where
// something exists gives two runners two folders.
func makeRun(experiment string, at time.Time) (string, error) {
	if err := os.MkdirAll(experiment, 0o755); err != nil {
		return "", err
	}
	id := runID(at)
	for n := 2; ; n++ {
		dir := filepath.Join(experiment, id)
		err := os.Mkdir(dir, 0o755)
		if err == nil || !errors.Is(err, fs.ErrExist) || n > 10_000 {
			return dir, err
		}
		id = runID(at) + "-" + strconv.Itoa(n)
	}
}

// makeShard makes the folder of a shard, or takes one that was made and holds no run yet.
// It has a name of its own, so that a second start of the shard finds it.
func makeShard(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) && !isRun(dir) {
		return nil
	}
	return err
}

// runID is what a run is called that begins at that time.
func runID(at time.Time) string { return at.UTC().Format("20060102-150405") }

// runRule is what the ids of runs look like.
var runRule = text.Lazy(`^[0-9]{8}-[0-9]{6}(-[0-9]+)?$`)

// free says whether a run may be put into experiment: whatever stands in the place of
// latest is ours, and the folder is where its name says.
func free(experiment string) error {
	if info, err := os.Lstat(experiment); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a link, and runs are written only into the folder of --out; remove it, or "+
			"name its target with --out", experiment)
	}
	link, text := filepath.Join(experiment, latestName), filepath.Join(experiment, latestText)
	remedy := "but bench did not write it, and needs its place for the newest run; move it away, or choose " +
		"another folder with --out"
	if info, err := os.Lstat(link); err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return fmt.Errorf("%s exists, %s", link, remedy)
	}
	if _, err := os.Lstat(text); err != nil {
		return nil
	}
	b, err := files.Read(text, files.MiB)
	if err != nil || !runRule().MatchString(strings.TrimSpace(string(b))) {
		return fmt.Errorf("%s exists, %s", text, remedy)
	}
	return nil
}

// setLatest makes run the latest of experiment. A reader finds the old one or
// the new one at every instant.
func setLatest(experiment, run string) error {
	link, text := filepath.Join(experiment, latestName), filepath.Join(experiment, latestText)
	if err := replaceSymlink(run, link); err == nil {
		if err := os.Remove(text); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return syncDir(experiment)
	}
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(writeFile(text, []byte(run+"\n")), syncDir(experiment))
}

// Resolve returns the folder of the run that path means: a run's own folder, an
// experiment's folder (results/<name>), or the latest in it
// (results/<name>/latest, also where that is not a link).
func Resolve(path string) (string, error) {
	path = filepath.Clean(path)
	experiment := path
	if filepath.Base(path) == latestName {
		experiment = filepath.Dir(path)
	} else if isRun(path) {
		return path, nil
	}
	run, err := os.Readlink(filepath.Join(experiment, latestName))
	if err != nil {
		var b []byte
		b, err = files.Read(filepath.Join(experiment, latestText), files.MiB)
		run = strings.TrimSpace(string(b))
	}
	if err == nil && filepath.Base(run) == run && isRun(filepath.Join(experiment, run)) {
		return filepath.Join(experiment, run), nil
	}
	return "", noRun(fmt.Sprintf("results folder: %s: no run there, expected a folder with %s, "+
		"or that of an experiment with a latest run%s", path, JournalFile, runsIn(experiment)))
}

// A noRun says that there is no run in a place that somebody has named.
type noRun string

func (n noRun) Error() string { return string(n) }

// Exit is the code of a mistake on the command line.
func (noRun) Exit() int { return 2 }

// isRun says whether dir is the folder of a run, be it whole or not: one that has lost
// its journal is still none of tables that somebody has passed on.
func isRun(dir string) bool {
	for _, name := range []string{JournalFile, ManifestFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// runsIn names some runs in a folder whose latest is missing.
func runsIn(experiment string) string {
	found, _ := filepath.Glob(filepath.Join(experiment, "*", JournalFile))
	if len(found) == 0 {
		return experimentsIn(experiment)
	}
	if len(found) > 3 {
		found = found[len(found)-3:]
	}
	for i, path := range found {
		found[i] = filepath.Base(filepath.Dir(path))
	}
	return "; there are " + strings.Join(found, ", ")
}

// experimentsIn names an experiment in a folder of several, as bench run --out makes.
func experimentsIn(dir string) string {
	found, _ := filepath.Glob(filepath.Join(dir, "*", "*", JournalFile))
	if len(found) == 0 {
		return ""
	}
	return "; did you mean " + filepath.Dir(filepath.Dir(found[0])) + "?"
}

// writeFile puts a whole file in place, or leaves what was there.
func writeFile(path string, b []byte) error {
	p, err := newPending(path)
	if err != nil {
		return err
	}
	return put(p, b)
}
