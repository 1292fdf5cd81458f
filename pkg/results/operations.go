package results

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// EachOperation hands the operations of the run at path to visit, trial by
// trial. Path is what ReadTable takes; a file like trials.csv has none.
func EachOperation(path string, visit func(trial int, op trace.Operation) error) error {
	of := func(t *Trial) []trace.Operation { return t.Ops }
	return eachOf(path, OperationsFile, readOperations, of, visit)
}

// EachOutage hands the outages of the run at path to visit, as EachOperation does with
// operations. A run of a version before there was OutagesFile has none, as has one of mutual
// exclusion.
func EachOutage(path string, visit func(trial int, o trace.Outage) error) error {
	of := func(t *Trial) []trace.Outage { return t.Outages }
	return eachOf(path, OutagesFile, readOutages, of, visit)
}

// eachOf hands what trials have several of to visit: from the table of that name, which
// read reads, or from the journal.
func eachOf[T any](path, name string, read func(string, func(int, T) error) error, of func(*Trial) []T,
	visit func(int, T) error) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return nil
	}
	if _, err := Resolve(path); err != nil {
		return read(filepath.Join(path, name), visit)
	}
	w, err := inspect(path)
	if err != nil {
		return err
	}
	if w.current { // the table is many times as fast to read as the journal
		return read(filepath.Join(w.dir, name), visit)
	}
	return w.reading(func(j *journal) error {
		return j.each(func(t *Trial) error {
			for _, one := range of(t) {
				if err := visit(t.Trial, one); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// readOperations reads operations.csv.
func readOperations(path string, visit func(int, trace.Operation) error) error {
	err := eachRow(path, exactly(operationColumns), func(row []string) error {
		p := fields{names: operationColumns, row: row}
		trial := p.ordinal()
		p.ordinal() // its number follows from the order
		op := trace.Operation{
			Process: uint32(p.whole(0, math.MaxUint32)), Cause: instant(p.instant()),
			Begin: instant(p.instant()), End: instant(p.instant()),
			Status: trace.Progress(p.text()), Origin: trace.Origin(p.text()),
		}
		if phase := p.instant(); phase > 0 { // else it is empty
			op.Phase = phase
		}
		if p.err != nil {
			return p.err
		}
		return visit(trial, op)
	})
	return unlessMissing(err)
}

// readOutages reads outages.csv.
func readOutages(path string, visit func(int, trace.Outage) error) error {
	err := eachRow(path, exactly(outageColumns), func(row []string) error {
		p := fields{names: outageColumns, row: row}
		trial := p.ordinal()
		o := trace.Outage{Definition: p.text()}
		p.ordinal() // its number follows from the order
		o.Spec = p.truth()
		o.Begin, o.Cause, o.End = instant(p.instant()), instant(p.instant()), instant(p.instant())
		p.instant() // its length follows from the instants
		o.Status, o.Origin = trace.Progress(p.text()), trace.Origin(p.text())
		o.Operation = int(p.whole(0, mostOrdinal))
		if p.err != nil {
			return p.err
		}
		return visit(trial, o)
	})
	return unlessMissing(err)
}

// unlessMissing is err but where a file does not exist: people may not have passed it on.
func unlessMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// orNaN is v unless it is 0, which stands for what there is not.
func orNaN(v float64) float64 {
	if v == 0 {
		return math.NaN()
	}
	return v
}

// inMS is an instant of an operation as the files have it; NaN is one that has not come.
func inMS(at time.Duration) float64 {
	if at < 0 {
		return math.NaN()
	}
	return float64(at) / float64(time.Millisecond)
}

// instant is what inMS wrote.
func instant(ms float64) time.Duration {
	if math.IsNaN(ms) {
		return -1
	}
	return time.Duration(math.Round(ms * float64(time.Millisecond)))
}
