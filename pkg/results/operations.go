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
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return nil
	}
	if _, err := Resolve(path); err != nil {
		return readOperations(filepath.Join(path, OperationsFile), visit)
	}
	w, err := inspect(path)
	if err != nil {
		return err
	}
	if w.current { // the table is many times as fast to read as the journal
		return readOperations(filepath.Join(w.dir, OperationsFile), visit)
	}
	return w.reading(func(j *journal) error {
		return j.each(func(t *Trial) error {
			for _, op := range t.Ops {
				if err := visit(t.Trial, op); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// readOperations reads operations.csv, which people may not have passed on.
func readOperations(path string, visit func(int, trace.Operation) error) error {
	err := eachRow(path, exactly(operationColumns), func(row []string) error {
		p := fields{names: operationColumns, row: row}
		trial := int(p.int())
		p.int() // its number follows from the order
		op := trace.Operation{
			Process: uint32(p.int()), Cause: instant(p.float()), Begin: instant(p.float()),
			End: instant(p.float()), Status: trace.Progress(p.text()), Origin: trace.Origin(p.text()),
		}
		if phase := p.float(); phase > 0 { // else it is empty
			op.Phase = phase
		}
		if p.err != nil {
			return p.err
		}
		return visit(trial, op)
	})
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
