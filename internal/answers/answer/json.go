package answer

import (
	_ "embed" // the schema
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// JSONSchema is the schema of the JSON form. docs/reference has it, too.
//
//go:embed answer.schema.json
var JSONSchema string

// Encoded is the JSON form of a document; docs/reference/answers.md describes it.
type Encoded struct {
	Schema    int            `json:"schema_version"`
	Verb      string         `json:"command"`
	Title     string         `json:"title"`
	Verdict   string         `json:"verdict"`
	Exit      int            `json:"exit_code"`
	Facts     map[string]any `json:"facts"`
	Tables    []EncodedTable `json:"tables"`
	Sentences []string       `json:"sentences"`
	Notes     []note         `json:"notes"`
	Pictures  []picture      `json:"pictures,omitempty"`
	Files     []file         `json:"files,omitempty"`
}

// An EncodedTable is a table of a document.
type EncodedTable struct {
	Name    string           `json:"name"`
	Section string           `json:"section,omitempty"` // "": it is about the whole
	Title   string           `json:"title,omitempty"`
	Columns []column         `json:"columns"`
	Rows    []map[string]any `json:"rows"` // each has a value for every column
}

type column struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	Unit string `json:"unit"` // "": it has none
}

type note struct {
	Text    string   `json:"text"`
	Of      []string `json:"of,omitempty"`
	Kind    string   `json:"kind"`
	Hint    string   `json:"reproduce,omitempty"` // a command
	Section string   `json:"section,omitempty"`
}

type picture struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	File  string `json:"file,omitempty"`
}

type file struct {
	Name string `json:"name"`
	Path string `json:"path,omitempty"`
	Text string `json:"text,omitempty"`
}

type estimate struct {
	Value    any     `json:"value"`
	Low      any     `json:"low"`
	High     any     `json:"high"`
	N        int     `json:"n"`
	Censored int     `json:"censored"`
	Doubt    float64 `json:"clock_doubt_ms,omitempty"`
}

// writeJSON renders everything that the document holds.
func writeJSON(w io.Writer, d *Document) error {
	out := Encoded{Schema: Schema, Verb: d.Verb, Title: d.Title, Verdict: d.Verdict, Exit: d.Exit,
		Facts: map[string]any{}, Tables: []EncodedTable{}, Sentences: []string{}, Notes: []note{}}
	section, facts := "", out.Facts
	for _, b := range d.For(Programs) {
		switch b := b.(type) {
		case Section:
			section, facts = b.Name, map[string]any{}
			out.Facts[section] = facts
		case Text:
			if text := strings.TrimSpace(string(b)); text != "" {
				out.Sentences = append(out.Sentences, text)
			}
		case Note:
			out.Notes = append(out.Notes, note{b.Text, b.Of, b.kind(), b.Hint, section})
		case Picture:
			out.Pictures = append(out.Pictures, picture{b.Name, b.Title, b.File})
		case File:
			out.Files = append(out.Files, file(b))
		case Facts:
			for _, fact := range b {
				facts[fact.Name] = value(fact.Value)
			}
		case *Table:
			out.Tables = append(out.Tables, EncodedTable{b.Name, section, b.Title, b.columns(), b.rows()})
		}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

func (t *Table) columns() (all []column) {
	for _, i := range t.places(Nested) {
		c := &t.Columns[i]
		all = append(all, column{c.Name, c.Kind, c.Unit})
	}
	return all
}

func (t *Table) rows() []map[string]any {
	rows := []map[string]any{}
	for _, row := range t.Rows {
		one := map[string]any{}
		for _, i := range t.places(Nested) {
			one[t.Columns[i].Name] = value(row[i])
		}
		rows = append(rows, one)
	}
	return rows
}

// Encode is what JSON has for a value, for what is no document.
func Encode(v Value) any { return value(v) }

// value is what JSON has for a value; what does not exist is null.
func value(v Value) any {
	switch v := plain(v).(type) {
	case Estimate:
		return estimate{plain(v.Value), plain(v.Low), plain(v.High), v.N, v.Censored, v.Doubt}
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case []string:
		return append([]string{}, v...)
	default:
		return v
	}
}

// Table has the rows of the table of that name; nil: there is none.
func (e *Encoded) Table(name string) []map[string]any {
	for _, t := range e.Tables {
		if t.Name == name {
			return t.Rows
		}
	}
	return nil
}

// Unmarshal reads the JSON form into a struct, whose keys are names of facts and tables beside those of
// the document. What a program of the time before documents wrote has all of them side by side.
func Unmarshal(text []byte, into any) error {
	var d struct {
		Facts  json.RawMessage `json:"facts"`
		Tables []struct {
			Name string          `json:"name"`
			Rows json.RawMessage `json:"rows"`
		} `json:"tables"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	tables := map[string]json.RawMessage{}
	for _, t := range d.Tables {
		tables[t.Name] = t.Rows
	}
	rows, err := json.Marshal(tables)
	err = errors.Join(err, json.Unmarshal(text, into), json.Unmarshal(rows, into))
	if d.Facts != nil {
		err = errors.Join(err, json.Unmarshal(d.Facts, into))
	}
	return err
}

// Decode reads the JSON form.
func Decode(text []byte) (*Encoded, error) {
	var e Encoded
	if err := json.Unmarshal(text, &e); err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	if e.Schema != Schema {
		return nil, fmt.Errorf("answer: schema_version %d, expected %d", e.Schema, Schema)
	}
	return &e, nil
}
