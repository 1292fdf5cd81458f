package report

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// JSON encodes v for programs, and for people who look at it.
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// FileNames gives each of the texts a name of a file of its own, of not many more than 120
// characters, without anything that a shell, a file system or LaTeX takes amiss.
func FileNames(texts []string) []string {
	const most = 120
	names, taken := make([]string, len(texts)), map[string]bool{}
	for i, text := range texts {
		name := strings.Map(func(r rune) rune {
			switch {
			case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_':
				return r
			}
			return '-'
		}, text)
		parts := strings.FieldsFunc(name[:min(len(name), most)], func(r rune) bool { return r == '-' })
		name = strings.TrimLeft(strings.Join(parts, "-"), ".-")
		if name == "" {
			name = "cell"
		}
		unique := name
		// Systems exist that do not tell upper case from lower case.
		for n := 2; taken[strings.ToLower(unique)]; n++ {
			unique = name + "-" + strconv.Itoa(n)
		}
		taken[strings.ToLower(unique)] = true
		names[i] = unique
	}
	return names
}
