package results

import (
	"os"
	"path/filepath"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// EachOperation hands the operations of the run at path to visit, trial by
// trial. Path is what ReadTable takes; a file like trials.csv has none.
func EachOperation(path string, visit func(trial int, op trace.Operation) error) error {
	return eachIn(path, OperationsFile, func(path string) error {
		return eachOf(path, operations, func(o *operation) error { return visit(int(o.trial), o.Operation) })
	}, func(t *Trial) error {
		for _, o := range t.Ops {
			if err := visit(t.Trial, o); err != nil {
				return err
			}
		}
		return nil
	})
}

// EachOutage hands the outages of the run at path to visit, as EachOperation does with
// operations. A run of a version before there was OutagesFile has none, as has one of mutual
// exclusion.
func EachOutage(path string, visit func(trial int, o trace.Outage) error) error {
	return eachIn(path, OutagesFile, func(path string) error {
		return eachOf(path, outages, func(o *outage) error { return visit(int(o.trial), o.Outage) })
	}, func(t *Trial) error {
		for _, o := range t.Outages {
			if err := visit(t.Trial, o); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachIn reads what trials have several of: with read from the table of that name, or with each
// from the trials of the journal.
func eachIn(path, name string, read func(path string) error, each func(*Trial) error) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return nil
	}
	if _, err := Resolve(path); err != nil {
		return unlessMissing(read(filepath.Join(path, name)))
	}
	w, err := inspect(path)
	if err != nil {
		return err
	}
	if w.current { // the table is many times as fast to read as the journal
		return unlessMissing(read(filepath.Join(w.dir, name)))
	}
	return w.reading(func(j *journal) error { return j.each(each) })
}
