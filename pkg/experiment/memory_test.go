package experiment

import (
	"strings"
	"testing"
)

// An experiment in memory needs no file system, and says so of the files that it names.
func TestParseNeedsNoFiles(t *testing.T) {
	t.Parallel()
	e, err := Parse("page.yaml", []byte(bully+"topology: {kind: file, edges: [[1, 2], [2, 3]]}\n"+
		"nodes: 3\nalgorithms: [any]\n"), Overrides{Set: []string{"seed=9"}})
	if err == nil || !strings.Contains(err.Error(), "appears twice") {
		t.Errorf("%+v, %v: want algorithms twice", e, err)
	}
	e, err = Parse("page.yaml", []byte("problem: election\ntopology: {kind: file, edges: [[1, 2], [2, 3]]}\n"+
		"nodes: 3\nalgorithms: [any]\n"), Overrides{Set: []string{"seed=9"}})
	if err != nil || e.Name != "page" || e.Seed != 9 || len(e.Cells[0].Plan.Shape.Edges) != 2 {
		t.Errorf("%+v, %v", e, err)
	}
	_, err = Parse("page.yaml", []byte("problem: election\ntopology: {kind: file, path: g.edges}\n"+
		"algorithms: [any]\n"), Overrides{})
	const want = "page.yaml:2: topology.path: g.edges: an experiment that is not read from a file cannot name one"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = Parse("page.yaml", []byte(bully+"bus: {url: 'nats://h:1', credentials: a.creds}\n"), Overrides{})
	const wantBus = "page.yaml:3: bus.credentials: a.creds: an experiment that is not read from a file cannot name one"
	if err == nil || err.Error() != wantBus {
		t.Errorf("%v, want %s", err, wantBus)
	}
}
