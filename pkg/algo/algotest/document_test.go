package algotest

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestDocument: docs/adding-an-algorithm.md explains whatever a case may say.
func TestDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/adding-an-algorithm.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "## 9. Write reference cases")
	if !found {
		t.Fatal("there is no section on cases")
	}
	said := slices.Collect(maps.Keys(expectations))
	for _, level := range []string{fileKeys, caseKeys, topologyKeys, scenarioKeys, eventKeys} {
		said = append(said, names(level)...)
	}
	for _, op := range ops {
		said = append(said, op.name)
	}
	said = append(said, slices.Collect(maps.Keys(random))...)
	said = append(said, slices.Collect(maps.Keys(whens))...)
	said = append(said, ascending, descending)
	for _, presets := range append(slices.Collect(maps.Values(forms)), model) {
		said = append(said, slices.Collect(maps.Keys(presets))...)
	}
	for _, word := range said {
		if !slices.ContainsFunc([]string{"`" + word + "`", "`scenario." + word + "`", `"` + word + `"`},
			func(s string) bool { return strings.Contains(section, s) }) {
			t.Errorf("nothing is said of %s", word)
		}
	}
}
