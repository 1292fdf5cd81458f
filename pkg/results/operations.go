package results

import (
	"os"
	"path/filepath"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// EachOperation hands the operations of the run at path to visit, trial by
// trial. Path is what ReadTable takes; a file like trials.csv has none.
func EachOperation(path string, visit func(trial int, op trace.Operation) error) error {
	return eachIn(path, OperationsFile, operations,
		func(o *operation) error { return visit(int(o.trial), o.Operation) },
		func(t *Trial) []trace.Operation { return t.Ops }, visit)
}

// EachOutage hands the outages of the run at path to visit, as EachOperation does with
// operations. A run of a version before there was OutagesFile has none, as has one of mutual
// exclusion.
func EachOutage(path string, visit func(trial int, o trace.Outage) error) error {
	return eachIn(path, OutagesFile, outages,
		func(o *outage) error { return visit(int(o.trial), o.Outage) },
		func(t *Trial) []trace.Outage { return t.Outages }, visit)
}

// eachIn reads what trials have several of: the rows of the table of that name, or the lists of the
// trials of the journal. People may not have passed the table on.
func eachIn[R, T any](path, name string, fields []field[R], row func(*R) error, list func(*Trial) []T,
	visit func(int, T) error) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return nil
	}
	if _, err := Resolve(path); err == nil {
		w, err := inspect(path)
		if err != nil {
			return err
		}
		if w.header.folds() {
			return &Folded{w.dir}
		}
		if !w.current {
			return w.reading(func(j *journal) error {
				return j.each(func(t *Trial) error {
					for _, one := range list(t) {
						if err := visit(t.Trial, one); err != nil {
							return err
						}
					}
					return nil
				})
			})
		}
		path = w.dir // the table is many times as fast to read as the journal
	}
	return unlessMissing(eachOf(filepath.Join(path, name), fields, row))
}
