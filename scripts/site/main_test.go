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
	pages, old := map[string]string{}, moved()
	must(t, filepath.WalkDir(out, func(file string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".html" {
			return err
		}
		name, err := filepath.Rel(out, file)
		must(t, err)
		text, err := os.ReadFile(file)
		if to, is := old[filepath.ToSlash(name)]; is {
			if _, err := os.Stat(filepath.Join(out, filepath.FromSlash(to))); err != nil ||
				!strings.Contains(string(text), path.Base(to)) {
				t.Errorf("%s leads to %s, which is no page", name, to)
			}
			return err
		}
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
		return s.Page == "docs/reference/comparing.html" && s.Anchor == "exit-codes" &&
			strings.Contains(s.Words, "an algorithm broke a promise")
	}) {
		t.Error("the search does not find the exit codes")
	}
}

// Pages stand in the order of the contents, by kind, and those of a folder together below its list.
func TestOrder(t *testing.T) {
	t.Parallel()
	s, err := read("../..")
	must(t, err)
	var groups, deep []string
	for _, g := range s.groups {
		groups = append(groups, g.Title)
	}
	want := []string{"", "Start", "Tutorials", "How-to", "Reference", "Explanation", "Evidence", "Project"}
	if !slices.Equal(groups, want) {
		t.Errorf("groups %q, want %q", groups, want)
	}
	for i, p := range s.pages {
		if p.Deep {
			deep = append(deep, p.Source)
		}
		if i > 0 && (p.Prev != s.pages[i-1] || s.pages[i-1].Next != p) {
			t.Errorf("%s does not follow %s", p.Source, s.pages[i-1].Source)
		}
	}
	if len(deep) < 2 || !strings.HasPrefix(deep[0], "docs/tutorials/lessons/1") ||
		!slices.ContainsFunc(deep, func(s string) bool { return strings.HasPrefix(s, "docs/explanation/design/1") }) ||
		slices.Contains(deep, "docs/tutorials/answers.md") {
		t.Errorf("below others: %q", deep)
	}
}

// The contents list every document, each once; who adds one reads what to do.
func TestWhole(t *testing.T) {
	t.Parallel()
	put := func(dir, name, text string) {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for _, test := range []struct{ contents, err string }{
		{"# All\n\n## How-to\n\n- [a](a.md)\n- [b](b.md)\n", ""},
		{"# All\n\n## How-to\n\n- [a](a.md)\n", "docs/README.md does not list docs/b.md: add it to its kind"},
		{"# All\n\n- [a](a.md)\n- [b](b.md)\n- [a](a.md)\n", "docs/README.md lists docs/a.md twice"},
	} {
		dir := t.TempDir()
		put(dir, contents, test.contents)
		put(dir, "docs/a.md", "# A\n")
		put(dir, "docs/b.md", "# B\n")
		if _, err := read(dir); (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
			t.Errorf("%v, want %q", err, test.err)
		}
	}
}

// The first mention of a term leads to the glossary, and a longer term comes before a part of it.
func TestTerms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		contents:    "# All\n\n## Reference\n\n- [g](reference/glossary.md)\n- [a](a.md)\n",
		glossary:    "# Glossary\n\n## Cell\n\nX.\n\n## Safety violation\n\nY.\n\n## Violation\n\nZ.\n",
		"docs/a.md": "# A cell\n\nOf `cell` and [cell](b), a cell and cells; cellar. A safety violation, a violation.\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte(text), 0o644))
	}
	s, err := read(dir)
	must(t, err)
	out := t.TempDir()
	must(t, s.write(out))
	page, err := os.ReadFile(filepath.Join(out, "docs", "a.html"))
	must(t, err)
	link := func(anchor, text string) string {
		return `<a href="../docs/reference/glossary.html#` + anchor + `" class="term">` + text + `</a>`
	}
	want := ", a " + link("cell", "cell") + " and cells; cellar. A " + link("safety-violation", "safety violation") +
		", a " + link("violation", "violation") + "."
	if !strings.Contains(string(page), want) {
		t.Errorf("%s\nhas no\n%s", page, want)
	}
}

// A link goes to a page, to a picture, or to the forge.
func TestTargets(t *testing.T) {
	t.Parallel()
	s := &site{pictures: map[string]bool{}, pages: []*page{{Source: "README.md"}, {Source: "docs/how-to/gate.md"},
		{Source: "docs/explanation/design/README.md"}}}
	for _, test := range []struct{ from, to, want string }{
		{"docs/how-to/gate.md", "../../README.md#words", "../../index.html#words"},
		{"docs/how-to/gate.md", "#pairs", "#pairs"},
		{"README.md", "docs/how-to/gate.md", "docs/how-to/gate.html"},
		{"docs/explanation/design/1.md", "README.md", "../../../docs/explanation/design/README.html"},
		{"docs/how-to/gate.md", "../../configs/ci.yaml", forge + "configs/ci.yaml"},
		{"docs/how-to/gate.md", "../figures/raft.svg", "../../docs/figures/raft.svg"},
		{"docs/how-to/gate.md", "https://example.org/x.md", "https://example.org/x.md"},
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
