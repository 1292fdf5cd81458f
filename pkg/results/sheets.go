package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Type is what the fields of a column hold, unless they are empty.
type Type string

// The types.
const (
	Text  Type = "text"
	Whole Type = "integer" // of 64 bits
	Real  Type = "real"    // of 64 bits
	Truth Type = "boolean"
)

// A Column is one of a table on disk.
type Column struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
}

// A Sheet is a table on disk: its name, such as trials, and its file.
type Sheet struct {
	Name    string   `json:"name"`
	Path    string   `json:"path"`
	Columns []Column `json:"columns"`
}

// Sheets are the tables of a run as they lie on disk, for who reads them row by row. What lies
// beside a manifest has the checksum that stands there.
type Sheets struct {
	Path     string
	Header   *Header   // nil where only tables are there
	Manifest *Manifest // likewise
	Tables   []Sheet
}

// types are those of the columns that hold other things than real numbers, outside the design.
var types = map[Type][]string{
	Text: {HostColumn, "status", "reason", "cause", "definition", "kind", "metric", "ci_method"},
	Whole: slices.Concat(identity, []string{"attempts", "operation", "process", "outage", "sent", "delivered",
		"lost", "bytes", "n", "censored"}, counts()),
	Truth: {"in_model", "spec"},
}

// designTypes are those of the design's columns that hold other things than text.
var designTypes = map[Type][]string{
	Whole: {"nodes"},
	Real:  {"latency_ms", "loss", "duplication", "crash_rate"},
}

// counts are the fixed columns that hold whole numbers.
func counts() (names []string) {
	for _, m := range metric.Fixed() {
		if m.Kind == metric.Count {
			names = append(names, m.Name)
		}
	}
	return names
}

// typed are the columns of a header, those of the design among them.
func typed(header, design []string) (columns []Column) {
	for _, name := range header {
		of, c := types, Column{name, Real}
		if slices.Contains(design, name) {
			of, c.Type = designTypes, Text
		}
		for t, names := range of {
			if slices.Contains(names, name) {
				c.Type = t
			}
		}
		columns = append(columns, c)
	}
	return columns
}

// ReadSheets finds the tables of the run at path: whatever ReadTable takes. Those of a run that
// goes on or was killed are out of date, and refused, as are values that ReadTable refuses.
func ReadSheets(path string) (*Sheets, error) {
	s := &Sheets{Path: path}
	if err := validate(path); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		if s.Manifest, err = manifestOf(path); err != nil {
			return nil, err
		}
		return s, s.add(path, stem(TrialsFile))
	}
	if !bare(path) {
		w, err := inspect(path)
		if err != nil {
			return nil, err
		}
		if !w.current {
			return nil, fmt.Errorf("%s: its tables are not written yet, or are out of date: the run goes "+
				"on, or was killed; %s writes them", w.dir, resuming(w.dir))
		}
		s.Path, s.Header, s.Manifest = w.dir, &w.header, w.manifest
	}
	for _, name := range []string{TrialsFile, OperationsFile, OutagesFile, MessagesFile, SummaryFile} {
		err := s.add(filepath.Join(s.Path, name), stem(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return s, nil
}

// validate reads tables that somebody else may have written, for who passes them on row by row.
func validate(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() && !bare(path) {
		return nil // they have the checksums of the manifest
	}
	if _, err := Survey(path); err != nil || !info.IsDir() {
		return err
	}
	return errors.Join(EachOperation(path, func(int, trace.Operation) error { return nil }),
		EachOutage(path, func(int, trace.Outage) error { return nil }),
		unlessMissing(readSummary(filepath.Join(path, SummaryFile))))
}

// readSummary checks the figures of a summary.csv: behind the metric's name numbers, but for the method.
func readSummary(path string) error {
	at := 0
	var columns []string
	return eachRow(path, func(header []string) error {
		at, columns = slices.Index(header, figures[0])+1, header
		if at == 0 {
			return fmt.Errorf("no column %s, want one", figures[0])
		}
		return nil
	}, func(row []string) error {
		p := fields{names: columns[at:], row: row[at:]}
		for _, name := range p.names {
			if slices.Contains(types[Text], name) {
				p.text()
			} else {
				p.between(-mostCount, mostCount)
			}
		}
		return p.err
	})
}

// errEnough ends the reading of a table behind its header.
var errEnough = errors.New("enough")

// add takes in a table by its header.
func (s *Sheets) add(path, name string) error {
	err := eachRow(path, func(header []string) error {
		var design []string
		switch name {
		case stem(TrialsFile):
			var t Table
			if _, err := t.lay(header); err != nil {
				return err
			}
			design = t.Design
		case stem(SummaryFile):
			design = header[:max(0, slices.Index(header, figures[0]))]
		}
		s.Tables = append(s.Tables, Sheet{name, path, typed(header, design)})
		return errEnough
	}, nil)
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// stem is what the table in a file is called.
func stem(file string) string { return strings.TrimSuffix(file, filepath.Ext(file)) }
