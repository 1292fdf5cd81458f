package main

import (
	"encoding/json"
	"html"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var (
	links = regexp.MustCompile(`<(a|img|script|link)\b[^>]*? (?:href|src)="([^"]*)"`)
	named = regexp.MustCompile(` id="([^"]*)"`)
)

// The site of these documents is whole: every link within it leads to a page and a heading of
// it, and nothing is loaded from elsewhere.
func TestSite(t *testing.T) {
	t.Parallel()
	s, err := read("../..")
	must(t, err)
	out := t.TempDir()
	must(t, s.write(out))
	pages := map[string]string{}
	must(t, filepath.WalkDir(out, func(file string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".html" {
			return err
		}
		name, err := filepath.Rel(out, file)
		must(t, err)
		text, err := os.ReadFile(file)
		pages[filepath.ToSlash(name)] = string(text)
		return err
	}))
	if len(pages) != len(s.pages) || len(pages) < 30 {
		t.Errorf("%d pages of %d documents", len(pages), len(s.pages))
	}
	for name, text := range pages {
		if strings.Count(text, "<h1") != 1 {
			t.Errorf("%s: %d titles", name, strings.Count(text, "<h1"))
		}
		for _, m := range links.FindAllStringSubmatch(text, -1) {
			to := html.UnescapeString(m[2])
			if source, ok := strings.CutPrefix(to, forge); ok {
				source, _, _ = strings.Cut(source, "#")
				if _, err := os.Stat(filepath.Join("../..", filepath.FromSlash(source))); err != nil {
					t.Errorf("%s: the link %s leads to no file", name, to)
				}
			}
			if strings.Contains(to, ":") {
				if m[1] != "a" {
					t.Errorf("%s loads %s", name, to)
				}
				continue
			}
			file, anchor, _ := strings.Cut(to, "#")
			if file = path.Join(path.Dir(name), file); strings.HasPrefix(to, "#") {
				file = name
			}
			_, err := os.Stat(filepath.Join(out, filepath.FromSlash(file)))
			if err != nil || !filepath.IsLocal(file) {
				t.Errorf("%s: the link %s leads nowhere in the site", name, to)
			}
			if anchor != "" && !slices.ContainsFunc(named.FindAllStringSubmatch(pages[file], -1),
				func(m []string) bool { return m[1] == anchor }) {
				t.Errorf("%s: the link %s leads to no heading", name, to)
			}
		}
	}
	index, err := os.ReadFile(filepath.Join(out, "index.js"))
	must(t, err)
	var found []section
	text := strings.TrimSuffix(strings.TrimPrefix(string(index), "const sections = "), ";\n")
	must(t, json.Unmarshal([]byte(text), &found))
	if !slices.ContainsFunc(found, func(s section) bool {
		return s.Page == "docs/ci.html" && s.Anchor == "exit-codes" && strings.Contains(s.Words, "bench run exits 3")
	}) {
		t.Error("the search does not find the exit codes")
	}
}

// Pages stand in the order in which the README leads to them, and design notes together.
func TestOrder(t *testing.T) {
	t.Parallel()
	s, err := read("../..")
	must(t, err)
	place, notes := map[string]int{}, 0
	for i, p := range s.pages {
		place[p.Source] = i
		if p.Design() {
			notes++
		}
	}
	first := place[designNotes]
	if place["README.md"] != 0 || place["docs/tutorial.md"] != 1 || first < place["docs/ci.md"] ||
		notes < 2 || !s.pages[first].Design() || !s.pages[first+notes-1].Design() {
		t.Errorf("places %v", place)
	}
}

// A link goes to a page, to a picture, or to the forge.
func TestTargets(t *testing.T) {
	t.Parallel()
	s := &site{pictures: map[string]bool{}, pages: []*page{{Source: "README.md"}, {Source: "docs/ci.md"},
		{Source: "docs/design/README.md"}}}
	for _, test := range []struct{ from, to, want string }{
		{"docs/ci.md", "../README.md#words", "../index.html#words"},
		{"docs/ci.md", "#pairs", "#pairs"},
		{"README.md", "docs/ci.md", "docs/ci.html"},
		{"docs/design/1.md", "README.md", "../../docs/design/README.html"},
		{"docs/ci.md", "../configs/ci.yaml", forge + "configs/ci.yaml"},
		{"docs/ci.md", "figures/raft.svg", "../docs/figures/raft.svg"},
		{"docs/ci.md", "https://example.org/x.md", "https://example.org/x.md"},
	} {
		if got := s.target(&page{Source: test.from}, test.to); got != test.want {
			t.Errorf("%s: %s goes to %s, want %s", test.from, test.to, got, test.want)
		}
	}
	if !s.pictures["docs/figures/raft.svg"] {
		t.Error("a picture that is linked to is left out")
	}
}

// Headings have the names that forges give them.
func TestIDs(t *testing.T) {
	t.Parallel()
	names := ids{}
	for _, test := range [][2]string{
		{"`bench run`, twice", "bench-run-twice"}, {"9. Write α_1-cases", "9-write-α_1-cases"},
		{"Pairs", "pairs"}, {"Pairs", "pairs-1"},
	} {
		if got := string(names.Generate([]byte(test[0]), 0)); got != test[1] {
			t.Errorf("%s: %s, want %s", test[0], got, test[1])
		}
	}
}
