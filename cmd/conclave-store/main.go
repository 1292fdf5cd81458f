// Command conclave-store writes the tables of a run for tools that ask questions of millions of
// rows: as Parquet, or as a database of SQLite. "bench export --format parquet" and "--format sqlite"
// start it; what to do is on its standard input, a request in JSON.
package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "conclave-store:", err)
		os.Exit(1)
	}
}

// version is that of the requests that this program understands.
const version = 1

// A request is what bench export sends: export.StoreRequest. This module shares no code with
// Conclave's, so that each can be installed without the other's dependencies.
type request struct {
	Version int               `json:"version"`
	Format  string            `json:"format"`
	Out     string            `json:"out"`
	About   map[string]string `json:"about"`
	Tables  []table           `json:"tables"`
}

// A table is a CSV file of which the types of the columns are known.
type table struct {
	Name    string   `json:"name"`
	Path    string   `json:"path"`
	Columns []column `json:"columns"`
}

type column struct {
	Name string `json:"name"`
	Type kind   `json:"type"`
}

// A kind is what the fields of a column hold, unless they are empty.
type kind string

const (
	text  kind = "text"
	whole kind = "integer"
	real  kind = "real"
	truth kind = "boolean"
)

func run(ctx context.Context, in io.Reader) error {
	var r request
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		return fmt.Errorf("the request on standard input: %w; bench export writes it", err)
	}
	if r.Version != version {
		return fmt.Errorf("a request of version %d, and this program understands %d: install the one of that bench",
			r.Version, version)
	}
	for _, t := range r.Tables {
		if err := t.check(); err != nil {
			return err
		}
	}
	switch r.Format {
	case "parquet":
		return writeParquet(ctx, &r)
	case "sqlite":
		return writeSQLite(ctx, &r)
	}
	return fmt.Errorf("unknown format %q", r.Format)
}

// Names become identifiers in languages that have few.
var nameRule = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

func (t *table) check() error {
	if !nameRule.MatchString(t.Name) {
		return fmt.Errorf("table %q, want letters, digits and underscores", t.Name)
	}
	for _, c := range t.Columns {
		if !nameRule.MatchString(c.Name) {
			return fmt.Errorf("%s: column %q, want letters, digits and underscores", t.Path, c.Name)
		}
		switch c.Type {
		case text, whole, real, truth:
		default:
			return fmt.Errorf("%s: column %s has type %q", t.Path, c.Name, c.Type)
		}
	}
	return nil
}

// each hands the rows to visit, one by one: nil where a field is empty, else a string, an int64,
// a float64 or a bool. The values are visit's until it returns.
func (t *table) each(ctx context.Context, visit func(row []any) error) error {
	file, err := os.Open(t.Path)
	if err != nil {
		return err
	}
	defer file.Close() // opened for reading: nothing can be lost
	r := csv.NewReader(file)
	r.ReuseRecord, r.FieldsPerRecord = true, len(t.Columns)
	row := make([]any, len(t.Columns))
	for first := true; ; first = false {
		fields, err := r.Read()
		switch {
		case err == io.EOF:
			return nil
		case err != nil: // it says where
			return fmt.Errorf("%s: %w", t.Path, err)
		case first:
			continue
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if err = t.parse(fields, row); err == nil {
			err = visit(row)
		}
		if err != nil {
			line, _ := r.FieldPos(0)
			return fmt.Errorf("%s: line %d: %w", t.Path, line, err)
		}
	}
}

func (t *table) parse(fields []string, row []any) error {
	for i, field := range fields {
		v, err := t.Columns[i].Type.parse(field)
		if err != nil {
			return fmt.Errorf("column %s: %q, want %s", t.Columns[i].Name, field, err)
		}
		row[i] = v
	}
	return nil
}

// parse reads a field. The error says what it wants.
func (k kind) parse(field string) (any, error) {
	if field == "" {
		return nil, nil
	}
	switch k {
	case whole:
		v, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return nil, errors.New("a whole number")
		}
		return v, nil
	case real:
		v, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return nil, errors.New("a number")
		}
		return v, nil
	case truth:
		if field != "true" && field != "false" {
			return nil, errors.New("true or false")
		}
		return field == "true", nil
	}
	return strings.Clone(field), nil // fields lie in one string a row, which would stay
}

// A draft is a file that appears at its path whole or not at all.
type draft struct {
	*os.File
	path string
}

func newDraft(path string) (*draft, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".conclave-store-*")
	return &draft{f, path}, err
}

// discard removes the file, unless it was settled.
func (d *draft) discard() {
	_, _ = d.Close(), os.Remove(d.Name())
}

func (d *draft) settle() error {
	if err := errors.Join(d.Chmod(0o644), d.Sync(), d.Close()); err != nil {
		return err
	}
	return os.Rename(d.Name(), d.path)
}
