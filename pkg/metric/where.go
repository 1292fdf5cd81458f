package metric

import (
	"slices"
	"strconv"
	"strings"
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

// Covers says whether a cell of that design has all the values of where. Numbers are
// equal if their values are, and of an algorithm "raft" means "election/raft".
func Covers(where, design []Field) bool {
	for _, want := range where {
		if !slices.ContainsFunc(design, want.matches) {
			return false
		}
	}
	return true
}

func (f Field) matches(of Field) bool {
	return f.Name == of.Name && (f.Value == of.Value || sameNumber(f.Value, of.Value) ||
		f.Name == "algorithm" && strings.HasSuffix(of.Value, "/"+f.Value))
}

func sameNumber(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}
