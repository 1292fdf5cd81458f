package metric

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A Field is one value of a cell's design, formatted; "" is a missing one.
type Field struct{ Name, Value string }

// ByName is a design as a map.
func ByName(design []Field) map[string]string {
	out := make(map[string]string, len(design))
	for _, f := range design {
		out[f.Name] = f.Value
	}
	return out
}

// Get returns the value of a column of a design, "" if there is none.
func Get(design []Field, column string) string {
	for _, f := range design {
		if f.Name == column {
			return f.Value
		}
	}
	return ""
}

// A Where is a filter of cells: values that a design must have, all of them.
type Where []Field

// Covers says whether a cell of that design has all the values.
func (w Where) Covers(design []Field) bool {
	for _, want := range w {
		if !slices.ContainsFunc(design, want.matches) {
			return false
		}
	}
	return true
}

// matches compares values as those of their column: the label is text, of an algorithm "raft"
// means "election/raft", and what both sides can read as numbers are numbers.
func (f Field) matches(of Field) bool {
	switch {
	case f.Name != of.Name:
		return false
	case f.Value == of.Value:
		return true
	case f.Name == "label":
		return false
	case f.Name == "algorithm":
		return strings.HasSuffix(of.Value, "/"+f.Value)
	}
	x, errX := strconv.ParseFloat(f.Value, 64)
	y, errY := strconv.ParseFloat(of.Value, 64)
	return errX == nil && errY == nil && x == y
}

// String is the filter as users write it.
func (w Where) String() string {
	parts := make([]string, len(w))
	for i, f := range w {
		parts[i] = f.Name + "=" + f.Value
	}
	return strings.Join(parts, " and ")
}

// A Column is what the cells in question have in a column of their design.
type Column struct {
	Name   string
	Values []string // of some cell, each once
	// Declared are values that are right even if no cell has them; nil: others are a mistake.
	Declared []string
}

// ColumnsOf lists the columns of designs with their values.
func ColumnsOf(designs ...[]Field) (out []Column) {
	at := map[string]int{}
	seen := map[Field]bool{}
	for _, design := range designs {
		for _, f := range design {
			if seen[f] {
				continue
			}
			i, known := at[f.Name]
			if !known {
				i, out = len(out), append(out, Column{Name: f.Name})
				at[f.Name] = i
			}
			seen[f], out[i].Values = true, append(out[i].Values, f.Value)
		}
	}
	return out
}

// ColumnNamed finds a column: the error is a *NameError.
func ColumnNamed(columns []Column, name string) (*Column, error) {
	names := make([]string, len(columns))
	for i := range columns {
		if names[i] = columns[i].Name; names[i] == name {
			return &columns[i], nil
		}
	}
	return nil, &NameError{Kind: "column", Name: name, Known: names}
}

// Check refuses a column that no cell has, and a value that none can have: a *NameError.
func (w Where) Check(columns []Column) error {
	for _, f := range w {
		c, err := ColumnNamed(columns, f.Name)
		if err != nil {
			return err
		}
		all := slices.Concat(c.Values, c.Declared)
		if slices.ContainsFunc(all, func(v string) bool { return f.matches(Field{f.Name, v}) }) {
			continue
		}
		near := all
		if f.Name == "algorithm" {
			for _, id := range all {
				near = append(near, id[strings.LastIndexByte(id, '/')+1:])
			}
		}
		return &NameError{Kind: "value of " + f.Name, Name: f.Value, Known: c.Values, near: near}
	}
	return nil
}

// A NameError is a name that a user wrote and that nothing has.
type NameError struct {
	Kind, Name string
	Known      []string // there are these
	near       []string // these may be meant as well
}

// Exit says that it is a mistake on the command line.
func (*NameError) Exit() int { return 2 }

// Error names the nearest.
func (e *NameError) Error() string {
	hint := ""
	if _, err := strconv.ParseFloat(e.Name, 64); err != nil {
		hint = algo.Hint(e.Name, slices.Concat(e.Known, e.near))
	}
	var known []string
	for _, name := range e.Known {
		if !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	return fmt.Sprintf("unknown %s %q%s (has: %s)", e.Kind, e.Name, hint, strings.Join(known, ", "))
}
