package config

import (
	"path/filepath"
	"strings"
)

// Parse reads a file's content into values; nil, with a report, if it cannot be
// read at all. The extension of its name says which language it is in.
func (l *Layers) Parse(name string, data []byte) *Value {
	at := Place{Source: name}
	if len(data) > MaxSize {
		l.Add(at, "", "larger than 1 MiB, which no %s needs", l.Schema.Noun)
		return nil
	}
	before := l.Count()
	first := Place{Source: name, Line: 1}
	var root *Value
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".yaml", ".yml", ".json":
		root = l.readYAML(first, data)
	case ".toml":
		root = readTOML(l.Diagnostics, first, data)
	default:
		l.Add(at, "", "a file of type %q, expected .yaml, .yml, .toml or .json", ext)
		return nil
	}
	switch {
	case root == nil && l.Count() == before, root != nil && root.Kind == Null:
		l.Add(at, "", "empty; %s", l.Schema.Begin)
		return nil
	case root != nil && root.Kind != Map:
		l.Add(root.At, "", "%s, expected a block of keys, as %s", root.Kind, l.Schema.Needs)
		return nil
	}
	return root
}
