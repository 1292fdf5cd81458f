// Site makes a site of the documentation: static pages with a search, which need neither a
// server nor a network. ROOT is the repository:
//
//	cd scripts/site && go run . ROOT OUT
package main

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// forge has the files that are no pages.
const forge = "https://github.com/conclave-bench/conclave/blob/main/"

//go:embed page.html site.css search.js
var assets embed.FS

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: site ROOT OUT")
		os.Exit(2)
	}
	s, err := read(os.Args[1])
	if err == nil {
		err = s.write(os.Args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
	fmt.Printf("%d pages: %s\n", len(s.pages), filepath.Join(os.Args[2], "index.html"))
}

// A site is the documents below root, and the pictures in them.
type site struct {
	root     string
	pages    []*page
	pictures map[string]bool // paths in the repository
}

// A page is a document.
type page struct {
	Source   string // its path in the repository
	Title    string
	sections []section
	source   []byte
	tree     ast.Node
}

// A section is what the search finds: a heading and the words below it.
type section struct {
	Page    string `json:"page"`
	Anchor  string `json:"anchor"`
	Title   string `json:"title"` // of the page
	Heading string `json:"heading"`
	Words   string `json:"words"`
}

// Path is where the page is in the site.
func (p *page) Path() string {
	if p.Source == "README.md" {
		return "index.html"
	}
	return strings.TrimSuffix(p.Source, ".md") + ".html"
}

// Up leads from the page to the root of the site.
func (p *page) Up() string { return strings.Repeat("../", strings.Count(p.Source, "/")) }

// designNotes is the list of design notes, which stand beside it.
const designNotes = "docs/design/README.md"

// Design is whether the page is a design note.
func (p *page) Design() bool { return path.Dir(p.Source) == path.Dir(designNotes) }

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(html.WithUnsafe()))

// read parses the documents, and leads their links to each other's pages.
func read(root string) (*site, error) {
	s := &site{root: root, pictures: map[string]bool{}}
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/design/*.md", "CONTRIBUTING.md",
		"SECURITY.md", "CHANGELOG.md"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			source, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			name, err := filepath.Rel(root, file)
			if err != nil {
				return nil, err
			}
			p := &page{Source: filepath.ToSlash(name), source: source}
			p.tree = markdown.Parser().Parse(text.NewReader(source),
				parser.WithContext(parser.NewContext(parser.WithIDs(ids{}))))
			p.outline()
			s.pages = append(s.pages, p)
		}
	}
	if len(s.pages) == 0 {
		return nil, fmt.Errorf("%s: no documents", root)
	}
	// The README leads from what one needs first to the rest. Design notes follow their list.
	place := func(p *page) (at int) {
		find := func(source string) int { return bytes.Index(s.pages[0].source, []byte("("+source)) }
		if at = find(p.Source); at < 0 && p.Design() {
			at = find(designNotes) + 1
		}
		if at < 0 {
			return math.MaxInt
		}
		return at
	}
	slices.SortStableFunc(s.pages[1:], func(a, b *page) int { return cmp.Compare(place(a), place(b)) })
	for _, p := range s.pages {
		s.lead(p)
	}
	return s, nil
}

// ids names headings as forges do, so that the documents' links hold in both places.
type ids map[string]int

func (ids ids) Generate(value []byte, _ ast.NodeKind) []byte {
	var b strings.Builder
	for _, r := range strings.ToLower(string(value)) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		}
	}
	id := b.String()
	n := ids[id]
	ids[id]++
	if n > 0 {
		id = fmt.Sprintf("%s-%d", id, n)
	}
	return []byte(id)
}

func (ids ids) Put(value []byte) { ids[string(value)]++ }

// outline finds the title and the sections.
func (p *page) outline() {
	p.Title = p.Source
	at := section{Page: p.Path()}
	for n := p.tree.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			at.Words += " " + words(n, p.source)
			continue
		}
		p.sections = append(p.sections, at)
		at = section{Page: p.Path(), Heading: strings.TrimSpace(words(h, p.source))}
		if id, ok := h.AttributeString("id"); ok {
			at.Anchor = string(id.([]byte))
		}
		if h.Level == 1 {
			p.Title = at.Heading
		}
	}
	p.sections = slices.DeleteFunc(append(p.sections, at), func(s section) bool {
		return s.Heading == "" && strings.TrimSpace(s.Words) == ""
	})
	for i := range p.sections {
		p.sections[i].Title = p.Title
		p.sections[i].Words = strings.Join(strings.Fields(p.sections[i].Words), " ")
	}
}

// words are the text of a node, code included.
func words(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(n.Value)
			}
		case *ast.RawHTML:
			b.WriteByte(' ') // such as a break
		case *ast.FencedCodeBlock:
			for i := 0; entering && i < n.Lines().Len(); i++ {
				line := n.Lines().At(i)
				b.Write(line.Value(source))
			}
		default:
			if n.Type() == ast.TypeBlock {
				b.WriteByte(' ') // the next cell, paragraph or item
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// lead has the links of a page go to pages, or to the forge.
func (s *site) lead(p *page) {
	_ = ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = []byte(s.target(p, string(n.Destination)))
		case *ast.Image:
			s.pictures[path.Join(path.Dir(p.Source), string(n.Destination))] = true
		}
		return ast.WalkContinue, nil
	})
}

// target is where a link of a document goes in the site.
func (s *site) target(p *page, to string) string {
	file, anchor, _ := strings.Cut(to, "#")
	if file == "" || strings.Contains(to, ":") {
		return to
	}
	file = path.Join(path.Dir(p.Source), file)
	for _, other := range s.pages {
		if other.Source != file {
			continue
		}
		if anchor != "" {
			anchor = "#" + anchor
		}
		return p.Up() + other.Path() + anchor
	}
	if strings.HasPrefix(file, "docs/") && path.Ext(file) == ".svg" {
		s.pictures[file] = true
		return p.Up() + file
	}
	return forge + file
}

// write makes the site in a folder.
func (s *site) write(out string) error {
	layout, err := template.ParseFS(assets, "page.html")
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	var found []section
	for _, p := range s.pages {
		found = append(found, p.sections...)
		var body, whole bytes.Buffer
		if err := markdown.Renderer().Render(&body, p.source, p.tree); err != nil {
			return fmt.Errorf("%s: %w", p.Source, err)
		}
		err := layout.Execute(&whole, map[string]any{"Page": p, "Pages": s.pages,
			"Body": template.HTML(body.String())})
		if err != nil {
			return err
		}
		files[p.Path()] = whole.Bytes()
	}
	index, err := json.Marshal(found)
	if err != nil {
		return err
	}
	// A script, since a page that is opened from a disk may read no other file.
	files["index.js"] = fmt.Appendf(nil, "const sections = %s;\n", index)
	for _, name := range []string{"site.css", "search.js"} {
		if files[name], err = assets.ReadFile(name); err != nil {
			return err
		}
	}
	for name := range s.pictures {
		if files[name], err = os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	for name, data := range files {
		file := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
