package export

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/pkg/results"
)

// CrateFile is the name that RO-Crate 1.1 wants for its metadata, in the folder that they
// describe.
const CrateFile = "ro-crate-metadata.json"

// A Citation is the part of a CITATION.cff that says whose a run is.
type Citation struct {
	Authors []struct {
		Name        string // of an entity; a person has the others
		Given       string `yaml:"given-names"`
		Particle    string `yaml:"name-particle"`
		Family      string `yaml:"family-names"`
		ORCID       string `yaml:"orcid"`
		Affiliation string
	}
	License yaml.Node // one, or a list
}

// mostCitation is how large a CITATION.cff may be.
const mostCitation = 1 << 20

// ReadCitation reads a CITATION.cff.
func ReadCitation(path string) (*Citation, error) {
	text, err := files.Read(path, mostCitation)
	if err != nil {
		return nil, err
	}
	c := &Citation{}
	if err := yaml.Unmarshal(text, c); err != nil {
		return nil, report.Mistaken("%s: %v", path, err)
	}
	if len(c.Authors) == 0 {
		return nil, report.Mistaken("%s: it names no authors", path)
	}
	return c, nil
}

// licences are the names that SPDX has for them.
func (c *Citation) licences() (names []string) {
	if c.License.Kind == yaml.ScalarNode {
		return []string{c.License.Value}
	}
	for _, n := range c.License.Content {
		names = append(names, n.Value)
	}
	return names
}

// kept says what the files of a run are.
var kept = map[string]string{
	results.ManifestFile:   "machine, versions, seed, and the checksums of the other files",
	results.ConfigFile:     "the experiment, with every key",
	results.JournalFile:    "every attempt at every trial, in the order in which they ended",
	results.TrialsFile:     "a row for each trial",
	results.OperationsFile: "a row for each operation of a trial",
	results.OutagesFile:    "a row for each time without a leader",
	results.MessagesFile:   "the messages of each trial by kind",
	results.RoutesFile:     "delays and losses of the network between each pair of hosts",
	results.SummaryFile:    "a row for each metric of a cell, with its interval",
}

// media are the types of files by the ends of their names.
var media = map[string]string{".csv": "text/csv", ".json": "application/json",
	".ndjson": "application/x-ndjson", ".gz": "application/gzip",
	".yaml": "application/yaml", ".html": "text/html",
	".parquet": "application/vnd.apache.parquet", ".sqlite": "application/vnd.sqlite3",
	".svg": "image/svg+xml", ".pdf": "application/pdf", ".png": "image/png", ".md": "text/markdown"}

// An entity is a node of the graph that RO-Crate describes a folder by.
type entity map[string]any

func ref(id any) entity { return entity{"@id": id} }

// crate describes the folder of a run for archives such as Zenodo.
func crate(s *selection) ([]File, error) {
	if len(s.Options.Metrics)+len(s.Where) > 0 {
		return nil, report.Mistaken("ro-crate describes whole files: leave out --metrics and --where")
	}
	h := s.run.Header
	if h == nil {
		return nil, report.Mistaken("%s: no %s tells what these tables are; expected the folder of a run",
			s.run.Path, results.JournalFile)
	}
	parts, err := contents(s.run.Path)
	if err != nil {
		return nil, err
	}
	start, end, version := h.Started.UTC().Format(time.RFC3339), "", h.Version
	if m := s.run.Manifest; m != nil {
		end, version = m.Finish, m.Tool.Version
	}
	var labels []string
	for _, c := range s.cells {
		if text := printable(c.Get("label")); !slices.Contains(labels, text) {
			labels = append(labels, text)
		}
	}
	root := entity{"@id": "./", "@type": "Dataset", "name": printable(h.Name + " " + h.Run),
		"description": fmt.Sprintf("Benchmark of the %s algorithms %s: %s", s.solved(),
			strings.Join(labels, ", "), s.origin()),
		"datePublished": start, "mentions": ref("#run")}
	run := entity{"@id": "#run", "@type": "CreateAction", "name": "bench run", "startTime": start,
		"instrument": ref("#conclave")}
	if end != "" {
		root["datePublished"], run["endTime"] = end, end
	}
	var all, made []entity
	for _, p := range parts {
		all = append(all, ref(p["@id"]))
		if p["name"] == results.ConfigFile {
			run["object"] = ref(p["@id"])
		} else {
			made = append(made, ref(p["@id"]))
		}
	}
	root["hasPart"], run["result"] = all, made
	whose, notes := s.cite(root, run)
	graph := slices.Concat([]entity{
		{"@id": CrateFile, "@type": "CreativeWork", "about": ref("./"),
			"conformsTo": ref("https://w3id.org/ro/crate/1.1")}, root}, parts, whose, []entity{run,
		{"@id": "#conclave", "@type": "SoftwareApplication", "name": "Conclave",
			"softwareVersion": printable(version), "url": "https://github.com/conclave-bench/conclave"}})
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	// The context of version 1.1 has no word for checksums.
	err = encoder.Encode(entity{"@graph": graph, "@context": []any{"https://w3id.org/ro/crate/1.1/context",
		map[string]string{"sha256": "http://schema.org/sha256"}}})
	return []File{{Name: CrateFile, Data: b.Bytes(), Notes: notes}}, err
}

// cite adds whose the run is, and says what is not known.
func (s *selection) cite(root, run entity) (whose []entity, notes []string) {
	// RO-Crate wants the key in any case, and takes a text.
	root["license"] = "not stated"
	if s.Citation == nil {
		return nil, []string{"no author and no licence are named; --citation CITATION.cff has them"}
	}
	var authors, licences []entity
	for i, a := range s.Citation.Authors {
		e := entity{"@id": "#author-" + strconv.Itoa(i+1), "@type": "Person"}
		e["name"] = strings.Join(strings.Fields(a.Given+" "+a.Particle+" "+a.Family), " ")
		if a.Name != "" {
			e["@type"], e["name"] = "Organization", a.Name
		}
		if a.ORCID != "" {
			e["@id"] = a.ORCID
		}
		if a.Affiliation != "" {
			id := "#" + url.PathEscape(a.Affiliation)
			e["affiliation"] = ref(id)
			if !slices.ContainsFunc(whose, func(e entity) bool { return e["@id"] == id }) {
				whose = append(whose, entity{"@id": id, "@type": "Organization", "name": a.Affiliation})
			}
		}
		whose, authors = append(whose, e), append(authors, ref(e["@id"]))
	}
	root["author"], run["agent"] = authors, authors
	for _, name := range s.Citation.licences() {
		e := entity{"@id": "https://spdx.org/licenses/" + name, "@type": "CreativeWork", "name": name,
			"description": "The licence that SPDX calls " + name}
		whose, licences = append(whose, e), append(licences, ref(e["@id"]))
	}
	if len(licences) == 0 {
		return whose, []string{"no licence is named; the citation has no key license"}
	}
	root["license"] = licences
	return whose, nil
}

// contents are the files below dir, save hidden ones and the description itself.
func contents(dir string) (parts []entity, err error) {
	err = walk(dir, func(name string, f *os.File) error {
		sum := sha256.New()
		size, err := io.Copy(sum, f)
		if err != nil {
			return err
		}
		e := entity{"@id": (&url.URL{Path: name}).String(), "@type": "File", "name": name,
			"contentSize": strconv.FormatInt(size, 10), "sha256": fmt.Sprintf("%x", sum.Sum(nil))}
		if text := kept[name]; text != "" {
			e["description"] = text
		}
		if kind := media[filepath.Ext(name)]; kind != "" {
			e["encodingFormat"] = kind
		}
		parts = append(parts, e)
		return nil
	})
	if err == nil && len(parts) == 0 {
		err = fmt.Errorf("%s: no files: %w", dir, os.ErrNotExist)
	}
	return parts, err
}

// walk visits the files below dir, save hidden ones and the description, by their names with slashes.
func walk(dir string, visit func(name string, f *os.File) error) error {
	dir, err := filepath.EvalSymlinks(dir) // latest is a link
	if err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		hidden := strings.HasPrefix(d.Name(), ".")
		switch {
		case hidden && d.IsDir():
			return fs.SkipDir
		case hidden || !d.Type().IsRegular():
			return nil
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || name == CrateFile {
			return err
		}
		f, err := files.Open(path)
		if err != nil {
			return err
		}
		defer f.Close() // opened for reading: nothing can be lost
		if err := visit(filepath.ToSlash(name), f); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
}

// Archive writes the folder of a run as a ZIP with the description of an RO-Crate, in a folder of that name.
// An error before the first byte says why there is none.
func Archive(w io.Writer, dir, name string) error {
	r, err := Read(dir)
	if err != nil {
		return err
	}
	format, err := Find("ro-crate")
	if err != nil {
		return err
	}
	described, err := format.Write(r, Options{})
	if err != nil {
		return err
	}
	z := zip.NewWriter(w)
	add := func(file string, from io.Reader) error {
		to, err := z.CreateHeader(&zip.FileHeader{Name: path.Join(name, file), Method: zip.Deflate,
			Modified: r.Header.Started})
		if err == nil {
			_, err = io.Copy(to, from)
		}
		return err
	}
	for _, f := range described {
		if err := add(CrateFile, bytes.NewReader(f.Data)); err != nil {
			return err
		}
	}
	if err := walk(dir, func(file string, f *os.File) error { return add(file, f) }); err != nil {
		return err
	}
	return z.Close()
}
