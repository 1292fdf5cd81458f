package mutate

import (
	"fmt"
	"strings"
)

// A Survivor is a mutant that no test can notice, and why not.
type Survivor struct {
	Dir    string // of the package, from the root of the repository
	Name   string // of the mutant
	Reason string
}

// Survivors reads a list of them: the folder of a package in brackets, and below
// it a mutant's name on one line and the reason, indented, on the next ones. A line
// that begins with "# " is a comment.
func Survivors(text string) ([]Survivor, error) {
	var out []Survivor
	dir := ""
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, "["):
			dir = strings.Trim(trimmed, "[]")
		case dir == "" || trimmed != line && (len(out) == 0 || out[len(out)-1].Dir != dir):
			return nil, fmt.Errorf("survivors: line %d: belongs to no mutant of a package", i+1)
		case trimmed != line:
			last := &out[len(out)-1]
			last.Reason = strings.TrimSpace(last.Reason + " " + trimmed)
		default:
			out = append(out, Survivor{Dir: dir, Name: trimmed})
		}
	}
	for _, s := range out {
		if s.Reason == "" {
			return nil, fmt.Errorf("survivors: %s: %q has no reason", s.Dir, s.Name)
		}
	}
	return out, nil
}
