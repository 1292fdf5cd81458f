package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/conclave-bench/conclave/internal/answers/report/diagram"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A Sketch is a trial, and how it is to be drawn.
type Sketch struct {
	Dir     string
	Number  int
	Formats []string
	Most    int    // events of a page around the first broken promise; 0: as many as it may have
	Back    string // what a page leads back to; empty: nothing
	Whole   bool   // nothing is drawn of a trial that cannot be run to its end again
}

// Unrunnable is the error of a trial that cannot be drawn since it cannot be run again.
type Unrunnable struct{ Err error }

func (e *Unrunnable) Error() string { return e.Err.Error() }
func (e *Unrunnable) Unwrap() error { return e.Err }

// Draw draws the trial, by format.
func (d *Sketch) Draw(again Again) (out [][]byte, err error) {
	r, err := Trace(d.Dir, d.Number, again)
	if err != nil {
		return nil, err
	}
	_ = r.Explain() // a page says it
	if d.Whole && r.Failed != nil {
		return nil, &Unrunnable{r.Failed}
	}
	r.Drawn.Back = d.Back
	for _, format := range d.Formats {
		w := diagram.Window{Event: r.Broken()} // all of a trial in which no single event broke a promise
		if format == "html" {
			w.Most = d.Most
		}
		var text bytes.Buffer
		drawn, err := diagram.New(r.Drawn, w)
		if err == nil {
			_, err = drawn.Write(&text, format)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, text.Bytes())
	}
	return out, nil
}

// A sketched is what came of a sketch, as one process tells it another.
type sketched struct {
	Drawings [][]byte // by format
	Error    string   // why there are none
	Missing  bool     // that is for want of a trace
	Failed   bool     // or because the trial could not be run again
}

// DrawFor is Draw for the process that has sent the order, a Sketch in JSON; Sent reads what it returns.
func DrawFor(order string, again Again) ([]byte, error) {
	var d Sketch
	err := json.Unmarshal([]byte(order), &d)
	var out sketched
	if err == nil {
		out.Drawings, err = d.Draw(again)
	}
	if err != nil {
		out = sketched{Error: err.Error(), Missing: errors.Is(err, fs.ErrNotExist),
			Failed: errors.As(err, new(*Unrunnable))}
	}
	return json.Marshal(out)
}

// Sent is what another process has drawn.
func Sent(text []byte) ([][]byte, error) {
	var out sketched
	err := json.Unmarshal(text, &out)
	switch {
	case err != nil:
		return nil, fmt.Errorf("no drawings: %w", err)
	case out.Missing:
		return nil, fmt.Errorf("%s: %w", out.Error, fs.ErrNotExist)
	case out.Failed:
		return nil, &Unrunnable{errors.New(out.Error)}
	case out.Error != "":
		return nil, errors.New(out.Error)
	}
	return out.Drawings, nil
}

// Drawings are those of the trials of a report. What was drawn of a trial in one format is
// there in the other.
type Drawings struct {
	By     func(*Sketch) ([][]byte, error)
	dir    string
	number int
	last   [][]byte
	// Failed is why some trial could not be run again; nil: all could that had to.
	Failed error
}

// SVG draws what led to the broken promise of a trial.
func (d *Drawings) SVG(dir string, number int) ([]byte, error) { return d.one(dir, number, 0) }

// Page steps through the events around it.
func (d *Drawings) Page(dir string, number int) ([]byte, error) { return d.one(dir, number, 1) }

func (d *Drawings) one(dir string, number, format int) ([]byte, error) {
	if d.last == nil || d.dir != dir || d.number != number {
		if _, err := os.Stat(filepath.Join(dir, results.ConfigFile)); err != nil {
			return nil, err // tables alone, without an experiment
		}
		last, err := d.By(&Sketch{
			Dir: dir, Number: number, Formats: []string{"svg", "html"}, Most: 3000, Whole: true,
		})
		if err != nil {
			if d.last = nil; errors.As(err, new(*Unrunnable)) {
				d.Failed = err
			}
			return nil, err
		}
		d.dir, d.number, d.last = dir, number, last
	}
	return d.last[format], nil
}
