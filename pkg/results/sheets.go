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

// A Sheet is a table on disk: its name, such as trials, and its file.
type Sheet struct {
	Name    string   `json:"name"`
	Path    string   `json:"path"`
	Columns []Column `json:"columns"`
}

// Sheets are the tables of a run as they lie on disk, for a reader that takes them row by row. What lies
// beside a manifest has the checksum that stands there.
type Sheets struct {
	Path     string
	Header   *Header   // nil where only tables are there
	Manifest *Manifest // likewise
	Tables   []Sheet
}

// columnsIn are the columns of a table with that header.
func columnsIn(file string, header []string) ([]Column, error) {
	switch file {
	case OperationsFile:
		return columnsOf(operations), nil
	case OutagesFile:
		return columnsOf(outages), nil
	case MessagesFile:
		return columnsOf(messages), nil
	case RoutesFile:
		return columnsOf(routes), nil
	case SummaryFile:
		at := max(0, slices.Index(header, items[0].name))
		return append(designTypes(header[:at]), typed(header[at:], columnsOf(items))...), nil
	}
	var t Table
	at, err := t.lay(header)
	if err != nil {
		return nil, err
	}
	known := slices.Concat(columnsOf(at.identity), columnsOf(outcome))
	for _, m := range metric.Counts() {
		known = append(known, Column{Name: m.Name, Type: Whole})
	}
	first := len(at.identity)
	return slices.Concat(typed(header[:first], known), designTypes(t.Design),
		typed(header[first+len(t.Design):], known)), nil
}

// typed are columns of those names, real ones unless they are known.
func typed(names []string, known []Column) (out []Column) {
	for _, name := range names {
		c := Column{Name: name, Type: Real}
		if i := slices.IndexFunc(known, func(c Column) bool { return c.Name == name }); i >= 0 {
			c = known[i]
		}
		out = append(out, c)
	}
	return out
}

// designTypes are the columns of a design.
func designTypes(names []string) (out []Column) {
	for _, name := range names {
		c := Column{Name: name, Type: Text}
		for _, d := range designColumns {
			if d.name == name {
				c.Type = d.of
			}
		}
		out = append(out, c)
	}
	return out
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
		return s, s.add(path, TrialsFile)
	}
	if !bare(path) {
		w, err := inspect(path)
		if err != nil {
			return nil, err
		}
		if !w.current {
			return nil, fmt.Errorf("%s: its tables are not written yet, or are out of date: the run is in "+
				"progress, or was killed; %s writes them", w.dir, resuming(w.dir))
		}
		s.Path, s.Header, s.Manifest = w.dir, &w.header, w.manifest
	}
	for _, name := range tableFiles() {
		err := s.add(filepath.Join(s.Path, name), name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return s, nil
}

// validate reads tables that somebody else may have written, for a reader that passes them on row by row.
func validate(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() && !bare(path) {
		return nil // they have the checksums of the manifest
	}
	if _, err := ReadTable(path); err != nil || !info.IsDir() {
		return err
	}
	return errors.Join(EachOperation(path, func(int, trace.Operation) error { return nil }),
		EachOutage(path, func(int, trace.Outage) error { return nil }),
		unlessMissing(readSummary(filepath.Join(path, SummaryFile))))
}

// readSummary checks the figures of a summary.csv: behind the metric's name numbers, but for the method.
func readSummary(path string) error {
	var columns []Column
	at := 0
	var p reader
	return eachRow(path, func(header []string) (err error) {
		p.names = header
		if at = slices.Index(header, items[0].name) + 1; at == 0 {
			return fmt.Errorf("no column %s, expected one", items[0].name)
		}
		columns, err = columnsIn(SummaryFile, header)
		return err
	}, func(row []string) error {
		p.row, p.next = row, at
		for _, c := range columns[at:] {
			if c.Type == Text {
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
func (s *Sheets) add(path, file string) error {
	err := eachRow(path, func(header []string) error {
		columns, err := columnsIn(file, header)
		if err != nil {
			return err
		}
		s.Tables = append(s.Tables, Sheet{strings.TrimSuffix(file, filepath.Ext(file)), path, columns})
		return errEnough
	}, nil)
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}
