package export

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/results"
)

// graphOf are the entities of a crate by their names. Every reference leads to one of them, and
// the folder has all that RO-Crate 1.1 says it must have.
func graphOf(t *testing.T, text string) map[string]entity {
	t.Helper()
	var c struct {
		Graph []entity `json:"@graph"`
	}
	must(t, json.Unmarshal([]byte(text), &c))
	graph := map[string]entity{}
	for _, e := range c.Graph {
		id := e["@id"].(string)
		if graph[id] != nil {
			t.Errorf("%s stands there twice", id)
		}
		graph[id] = e
	}
	for _, key := range []string{"@type", "name", "description", "datePublished", "license"} {
		if graph["./"][key] == nil {
			t.Errorf("the folder has no %s, which RO-Crate wants", key)
		}
	}
	for id, e := range graph {
		for key := range e {
			for _, to := range linked(e[key]) {
				if graph[to] == nil && to != "https://w3id.org/ro/crate/1.1" {
					t.Errorf("%s: %s leads to %s, which is not there", id, key, to)
				}
			}
		}
	}
	return graph
}

// linked are the entities that a value refers to.
func linked(value any) (ids []string) {
	switch v := value.(type) {
	case map[string]any:
		ids = append(ids, v["@id"].(string))
	case []any:
		for _, x := range v {
			ids = append(ids, linked(x)...)
		}
	}
	return ids
}

// A crate has every file of the folder, below it as well, and nothing that is hidden, a link,
// or the description of before.
func TestCrate(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{
		results.TrialsFile: "trial\n1\n", results.ConfigFile: "name: small\n", "traces/1 a.json": "{}",
		CrateFile: "old", ".lock": "", ".hidden/x.csv": "x",
	} {
		path := filepath.Join(folder, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	link := filepath.Join(t.TempDir(), "latest")
	if err := os.Symlink(folder, link); err != nil {
		t.Skip(err) // Windows wants a right for it
	}
	must(t, os.Symlink("/", filepath.Join(folder, "all")))
	r := small(t)
	r.Path = link
	r.Manifest = &results.Manifest{Finish: "2026-11-20T09:16:00Z", Tool: results.Tool{Version: "v1.3.0"}}
	graph := graphOf(t, one(t, r, "ro-crate", Options{}))
	root, run := graph["./"], graph["#run"]
	want := []string{results.ConfigFile, "traces/1%20a.json", results.TrialsFile}
	if got := linked(root["hasPart"]); !slices.Equal(got, want) {
		t.Errorf("parts %v, want %v", got, want)
	}
	if got := linked(run["result"]); !slices.Equal(got, want[1:]) || linked(run["object"])[0] != want[0] {
		t.Errorf("made %v of %v", got, run["object"])
	}
	if root["datePublished"] != "2026-11-20T09:16:00Z" || run["endTime"] != root["datePublished"] ||
		run["startTime"] != "2026-11-20T09:15:00Z" || graph["#conclave"]["softwareVersion"] != "v1.3.0" ||
		!strings.Contains(root["description"].(string), "election algorithms bully, ring: conclave v1.2.3") ||
		linked(graph[CrateFile]["about"])[0] != "./" {
		t.Errorf("%v\n%v\n%v", root, run, graph["#conclave"])
	}
	trials := graph[results.TrialsFile]
	if trials["sha256"] != fmt.Sprintf("%x", sha256.Sum256([]byte("trial\n1\n"))) || trials["contentSize"] != "8" ||
		trials["encodingFormat"] != "text/csv" || trials["@type"] != "File" || trials["description"] == nil {
		t.Errorf("%v", trials)
	}
}

// Whose a run is, is not guessed.
func TestCrate_Citation(t *testing.T) {
	t.Parallel()
	files := write(t, small(t), "ro-crate", Options{})
	if len(files[0].Notes) != 1 || !strings.Contains(string(files[0].Notes[0]), "--citation") ||
		strings.Contains(string(files[0].Data), "author") ||
		graphOf(t, string(files[0].Data))["./"]["license"] != "not stated" {
		t.Errorf("without a citation: %q", files[0].Notes)
	}
	read := func(text string) (*Citation, error) {
		path := filepath.Join(t.TempDir(), "CITATION.cff")
		must(t, os.WriteFile(path, []byte(text), 0o644))
		return ReadCitation(path)
	}
	const authors = "authors:\n  - {given-names: Ada, name-particle: van, family-names: Lovelace, " +
		"orcid: 'https://orcid.org/0000-0002-1825-0097', affiliation: Royal Society}\n" +
		"  - {name: The others, affiliation: Royal Society}\n"
	for licence, want := range map[string][]string{
		"license: MIT\n":           {"https://spdx.org/licenses/MIT"},
		"license: [MIT, 0BSD]\n":   {"https://spdx.org/licenses/MIT", "https://spdx.org/licenses/0BSD"},
		"cff-version: \"1.2.0\"\n": nil,
	} {
		c, err := read(authors + licence)
		must(t, err)
		files := write(t, small(t), "ro-crate", Options{Citation: c})
		graph := graphOf(t, string(files[0].Data))
		if got := linked(graph["./"]["license"]); !slices.Equal(got, want) || graph["./"]["license"] == nil {
			t.Errorf("licences %v, want %v", got, want)
		}
		if noted := len(files[0].Notes) > 0; noted != (want == nil) {
			t.Errorf("%s: notes %q", licence, files[0].Notes)
		}
		ids := linked(graph["./"]["author"])
		if len(ids) != 2 || !slices.Equal(linked(graph["#run"]["agent"]), ids) {
			t.Fatalf("authors %v", ids)
		}
		ada, others := graph[ids[0]], graph[ids[1]]
		if ids[0] != "https://orcid.org/0000-0002-1825-0097" || ada["name"] != "Ada van Lovelace" ||
			ada["@type"] != "Person" || graph[linked(ada["affiliation"])[0]]["name"] != "Royal Society" ||
			others["name"] != "The others" || others["@type"] != "Organization" {
			t.Errorf("%v\n%v", ada, others)
		}
	}
	for text, says := range map[string]string{"authors: [": "CITATION.cff: yaml:", "license: MIT": "names no authors"} {
		_, err := read(text)
		wants(t, err, says)
	}
}

func TestCrate_Mistakes(t *testing.T) {
	t.Parallel()
	f, err := Find("ro-crate")
	must(t, err)
	for _, o := range []Options{{Metrics: []string{"messages"}}, {Where: where("nodes=3")}} {
		_, err = f.Write(small(t), o)
		wants(t, err, "leave out --metrics and --where")
	}
	r := small(t)
	r.Header = nil
	_, err = f.Write(r, Options{})
	wants(t, err, "expected the folder of a run")
}
