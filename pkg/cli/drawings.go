package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/conclave-bench/conclave/internal/isolate"
	"github.com/conclave-bench/conclave/pkg/results"
)

// drawingRole draws a trial of a run, in a process of its own.
const drawingRole = "__drawing"

// A sketch is a trial, and how it is to be drawn.
type sketch struct {
	Dir     string
	Number  int
	Formats []string
	Most    int    // events of a page around the first broken promise; 0: as many as it may have
	Back    string // what a page leads back to; empty: nothing
	Whole   bool   // nothing is drawn of a trial that cannot be run to its end again
}

// A sketched is what came of a sketch.
type sketched struct {
	Drawings [][]byte // by format
	Error    string   // why there are none
	Missing  bool     // that is for want of a trace
	Failed   bool     // or because the trial could not be run again
}

// unrunnable is the error of a trial that cannot be drawn since it cannot be run again.
type unrunnable struct{ error }

// draw draws a trial. The algorithm may run again for that, apart from this process.
func (s *streams) draw(d *sketch) ([][]byte, error) {
	if !isolate.Possible() {
		return s.drawHere(d)
	}
	exe, err := executable()
	if err != nil {
		return nil, err
	}
	order, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	work := isolate.Work{Exe: exe, Name: os.Args[0], Args: []string{isolatedRole, drawingRole, string(order)},
		Called: fmt.Sprintf("trial %d of %s", d.Number, d.Dir)}
	end, err := work.Run()
	if err != nil {
		return nil, &unrunnable{err}
	}
	var out sketched
	if err := json.Unmarshal(end.Output, &out); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", work.Called, err, end.Said)
	}
	switch {
	case out.Missing:
		return nil, fmt.Errorf("%s: %w", out.Error, fs.ErrNotExist)
	case out.Failed:
		return nil, &unrunnable{errors.New(out.Error)}
	case out.Error != "":
		return nil, errors.New(out.Error)
	}
	return out.Drawings, nil
}

// drawApart is draw for the process that another one has started for it.
func (s *streams) drawApart(order string) (code int, output []byte) {
	var d sketch
	err := json.Unmarshal([]byte(order), &d)
	var out sketched
	if err == nil {
		out.Drawings, err = s.drawHere(&d)
	}
	if err != nil {
		var failed *unrunnable
		out = sketched{Error: err.Error()}
		out.Missing, out.Failed = errors.Is(err, fs.ErrNotExist), errors.As(err, &failed)
	}
	output, err = json.Marshal(out)
	if err != nil {
		return CouldNotRun, []byte(err.Error())
	}
	return Good, output
}

// drawHere is draw by this process.
func (s *streams) drawHere(d *sketch) (out [][]byte, err error) {
	r, err := s.traced(d.Dir, d.Number)
	if err != nil {
		return nil, err
	}
	_ = r.explain() // a page says it
	if d.Whole && r.failed != nil {
		return nil, &unrunnable{r.failed}
	}
	r.drawn.Back = d.Back
	for _, format := range d.Formats {
		most := 0
		if format == "html" {
			most = d.Most
		}
		text, err := r.draw(format, most)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

// drawings are those of the trials of a report. What was drawn of a trial in one format is
// there in the other.
type drawings struct {
	*streams
	dir    string
	number int
	last   [][]byte
	// failed is why some trial could not be run again; nil: all could that had to.
	failed error
}

// svg draws what led to the broken promise of a trial.
func (d *drawings) svg(dir string, number int) ([]byte, error) { return d.one(dir, number, 0) }

// page steps through the events around it.
func (d *drawings) page(dir string, number int) ([]byte, error) { return d.one(dir, number, 1) }

func (d *drawings) one(dir string, number, format int) ([]byte, error) {
	if d.last == nil || d.dir != dir || d.number != number {
		if _, err := os.Stat(filepath.Join(dir, results.ConfigFile)); err != nil {
			return nil, err // tables alone, without an experiment
		}
		last, err := d.draw(&sketch{
			Dir: dir, Number: number, Formats: []string{"svg", "html"}, Most: 3000, Whole: true,
		})
		if err != nil {
			var failed *unrunnable
			if d.last = nil; errors.As(err, &failed) {
				d.failed = err
			}
			return nil, err
		}
		d.dir, d.number, d.last = dir, number, last
	}
	return d.last[format], nil
}
