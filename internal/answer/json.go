package answer

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Encoded is the JSON form of a document; docs/answers.md describes it.
type Encoded struct {
	Schema  int                         `json:"schema_version"`
	Verb    string                      `json:"command"`
	Title   string                      `json:"title,omitempty"`
	Verdict string                      `json:"verdict"`
	Exit    int                         `json:"exit_code"`
	Facts   map[string]any              `json:"facts,omitempty"`
	Tables  map[string][]map[string]any `json:"tables,omitempty"`
	Columns map[string][]column         `json:"columns,omitempty"` // of the tables
	Notes   []note                      `json:"notes,omitempty"`
	Text    []string                    `json:"text,omitempty"` // what people read besides
}

type column struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	Unit string `json:"unit,omitempty"`
}

type note struct {
	Text string   `json:"text"`
	Of   []string `json:"of,omitempty"`
}

type estimate struct {
	Value    any `json:"value"`
	Low      any `json:"low"`
	High     any `json:"high"`
	N        int `json:"n"`
	Censored int `json:"censored"`
}

// writeJSON renders everything that the document holds.
func writeJSON(w io.Writer, d *Document) error {
	out := Encoded{Schema: Schema, Verb: d.Verb, Title: d.Title, Verdict: d.Verdict, Exit: d.Exit}
	for _, b := range d.For(Programs) {
		switch b := b.(type) {
		case Text:
			out.Text = append(out.Text, string(b))
		case Note:
			out.Notes = append(out.Notes, note(b))
		case Facts:
			if out.Facts == nil {
				out.Facts = map[string]any{}
			}
			for _, fact := range b {
				out.Facts[fact.Name] = value(fact.Value)
			}
		case *Table:
			if out.Tables == nil {
				out.Tables, out.Columns = map[string][]map[string]any{}, map[string][]column{}
			}
			out.Tables[b.Name], out.Columns[b.Name] = b.rows(), b.columns()
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

// value is what JSON has for a value; what does not exist is null.
func value(v Value) any {
	switch v := plain(v).(type) {
	case Estimate:
		return estimate{plain(v.Value), plain(v.Low), plain(v.High), v.N, v.Censored}
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case []string:
		return append([]string{}, v...)
	default:
		return v
	}
}

// Decode reads the JSON form.
func Decode(text []byte) (*Encoded, error) {
	var e Encoded
	if err := json.Unmarshal(text, &e); err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	if e.Schema != Schema {
		return nil, fmt.Errorf("answer: schema_version %d, want %d", e.Schema, Schema)
	}
	return &e, nil
}
