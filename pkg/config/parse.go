package config

import (
	"path/filepath"
	"strings"
)

// Parse reads a file's content into values; nil, with a report, if there is
// nothing to go on with. The extension of its name says which language it is in.
func (r *Reader) Parse(name string, data []byte) *Value {
	at := Place{Source: name}
	if len(data) > MaxSize {
		r.Add(at, "", "larger than 1 MiB, which no %s needs", r.Schema.Noun)
		return nil
	}
	before := r.Count()
	first := Place{Source: name, Line: 1}
	var root *Value
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".yaml", ".yml", ".json":
		root = r.readYAML(first, data)
	case ".toml":
		root = readTOML(r.Diagnostics, first, data)
	default:
		r.Add(at, "", "a file of type %q, want .yaml, .yml, .toml or .json", ext)
		return nil
	}
	switch {
	case root == nil && r.Count() == before, root != nil && root.Kind == Null:
		r.Add(at, "", "empty; %s", r.Schema.Begin)
		return nil
	case root != nil && root.Kind != Map:
		r.Add(root.At, "", "%s, want a block of keys, as %s", root.Kind, r.Schema.Needs)
		return nil
	}
	return root
}
