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
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
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

//go:embed page.html site.css search.js moved.txt
var assets embed.FS

// redirect leads from where a page was to where it is. A script keeps the heading that a link names.
const redirect = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Moved</title>
<script>location.replace(%[1]q + location.hash)</script>
<meta http-equiv="refresh" content="0; url=%[1]s"></head>
<body><p><a href="%[1]s">This page has moved.</a></p></body></html>
`

// moved are the pages that had another place, and where they are.
func moved() map[string]string {
	list, _ := assets.ReadFile("moved.txt") // it is embedded
	out := map[string]string{}
	for line := range strings.Lines(string(list)) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), " ")
		out[from] = to
	}
	return out
}

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
	groups   []group
	pages    []*page         // in the order of the menu
	pictures map[string]bool // paths in the repository
}

// A group is pages of one kind, with a heading in the menu.
type group struct {
	Title string
	Pages []*page
}

// A page is a document.
type page struct {
	Source     string // its path in the repository
	Title      string
	Deep       bool    // it belongs to the page above it
	Prev, Next *page   // nil at the ends
	Contents   []entry // of the page
	sections   []section
	source     []byte
	tree       ast.Node
}

// An entry of the contents of a page is a heading in it.
type entry struct {
	Anchor, Heading string
	Deep            bool
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

// Edit is where the forge edits the page; "" of a page that a program writes.
func (p *page) Edit() string {
	if bytes.Contains(p.source, []byte("do not edit")) {
		return ""
	}
	return strings.Replace(forge, "/blob/", "/edit/", 1) + p.Source
}

// contents lists all pages, by kind; the menu follows it.
const contents = "docs/README.md"

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(html.WithUnsafe()))

// read parses the documents in the order of the contents, and leads their links to each other's pages.
func read(root string) (*site, error) {
	s := &site{root: root, pictures: map[string]bool{}}
	first, err := s.parse(contents)
	if err != nil {
		return nil, err
	}
	s.groups = []group{{Pages: []*page{first}}}
	for n := first.tree.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level == 2 {
			s.groups = append(s.groups, group{Title: strings.TrimSpace(words(h, first.source))})
		}
		if list, ok := n.(*ast.List); ok {
			last := &s.groups[len(s.groups)-1]
			for _, l := range documents(list, contents) {
				p, err := s.parse(l.source)
				if err != nil {
					return nil, err
				}
				p.Deep = l.deep
				last.Pages = append(last.Pages, p)
				if path.Base(l.source) == "README.md" && path.Dir(l.source) != "." {
					if err := s.below(last, p); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	for _, g := range s.groups {
		s.pages = append(s.pages, g.Pages...)
	}
	for i, p := range s.pages {
		if i > 0 {
			p.Prev, s.pages[i-1].Next = s.pages[i-1], p
		}
	}
	if err := s.whole(); err != nil {
		return nil, err
	}
	terms := s.terms()
	for _, p := range s.pages {
		explain(p, terms)
		s.lead(p)
	}
	return s, nil
}

// parse reads one document.
func (s *site) parse(name string) (*page, error) {
	source, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	p := &page{Source: name, source: source}
	p.tree = markdown.Parser().Parse(text.NewReader(source),
		parser.WithContext(parser.NewContext(parser.WithIDs(ids{}))))
	p.outline()
	return p, nil
}

// A listed document is in a list, or deep in a list within it: it belongs to the one above.
type listed struct {
	source string
	deep   bool
}

// documents are those that a list in the document from links to.
func documents(list ast.Node, from string) (out []listed) {
	depth := 0
	_ = ast.Walk(list, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.List:
			if depth--; entering {
				depth += 2
			}
		case *ast.Link:
			if entering && strings.HasSuffix(string(n.Destination), ".md") {
				out = append(out, listed{path.Join(path.Dir(from), string(n.Destination)), depth > 1})
			}
		}
		return ast.WalkContinue, nil
	})
	return out
}

// below adds the pages that the list of a folder links to.
func (s *site) below(g *group, top *page) error {
	for n := top.tree.FirstChild(); n != nil; n = n.NextSibling() {
		list, ok := n.(*ast.List)
		if !ok {
			continue
		}
		for _, l := range documents(list, top.Source) {
			if path.Dir(l.source) != path.Dir(top.Source) {
				continue
			}
			p, err := s.parse(l.source)
			if err != nil {
				return err
			}
			p.Deep = true
			g.Pages = append(g.Pages, p)
		}
	}
	return nil
}

// whole says which document of docs/ the contents leave out, or have twice.
func (s *site) whole() error {
	listed := map[string]bool{}
	for _, p := range s.pages {
		if listed[p.Source] {
			return fmt.Errorf("%s lists %s twice", contents, p.Source)
		}
		listed[p.Source] = true
	}
	return fs.WalkDir(os.DirFS(s.root), "docs", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".md" && !listed[name] {
			err = fmt.Errorf("%s does not list %s: add it to its kind", contents, name)
		}
		return err
	})
}

// glossary is the page whose headings are the terms that other pages link to.
const glossary = "docs/reference/glossary.md"

// A term is a heading of the glossary, and where it is in the site.
type term struct {
	pattern *regexp.Regexp
	to      string
}

// terms are those of the glossary, the longest first: "safety violation" is no "violation".
func (s *site) terms() (out []term) {
	at := slices.IndexFunc(s.pages, func(p *page) bool { return p.Source == glossary })
	if at < 0 {
		return nil
	}
	list := slices.Clone(s.pages[at].Contents)
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(len(b.Heading), len(a.Heading)) })
	for _, e := range list {
		pattern := `(?i)(?:^|[^\pL\d_-])(` + strings.ReplaceAll(regexp.QuoteMeta(e.Heading), " ", `\s+`) +
			`)s?(?:[^\pL\d_-]|$)`
		out = append(out, term{regexp.MustCompile(pattern), path.Join("/", s.pages[at].Path()) + "#" + e.Anchor})
	}
	return out
}

// explain links each term to the glossary where the text of a page first has it.
func explain(p *page, terms []term) {
	if p.Source == glossary {
		return
	}
	for _, t := range terms {
		_ = ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			switch n.(type) {
			case *ast.Link, *ast.Heading, *ast.CodeSpan, *ast.Image:
				return ast.WalkSkipChildren, nil
			}
			words, ok := n.(*ast.Text)
			if !ok || !entering {
				return ast.WalkContinue, nil
			}
			m := t.pattern.FindSubmatchIndex(words.Segment.Value(p.source))
			if m == nil {
				return ast.WalkContinue, nil
			}
			link(words, m[2], m[3], t.to)
			return ast.WalkStop, nil
		})
	}
}

// link makes the part of a text from from to to a link.
func link(words *ast.Text, from, to int, destination string) {
	whole, parent := words.Segment, words.Parent()
	before := ast.NewTextSegment(whole.WithStop(whole.Start + from))
	l := ast.NewLink()
	l.Destination = []byte(destination)
	l.SetAttributeString("class", []byte("term"))
	l.AppendChild(l, ast.NewTextSegment(text.NewSegment(whole.Start+from, whole.Start+to)))
	parent.InsertBefore(parent, words, before)
	parent.InsertBefore(parent, words, l)
	words.Segment = whole.WithStart(whole.Start + to)
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
		switch {
		case h.Level == 1:
			p.Title = at.Heading
		case h.Level <= 3:
			p.Contents = append(p.Contents, entry{at.Anchor, at.Heading, h.Level == 3})
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

// sources are the pictures of a block of HTML.
var sources = regexp.MustCompile(`\b(?:src|srcset)="([^":]+)"`)

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
		case *ast.HTMLBlock:
			for _, m := range sources.FindAllSubmatch(n.Lines().Value(p.source), -1) {
				s.pictures[path.Join(path.Dir(p.Source), string(m[1]))] = true
			}
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
	if inSite, ok := strings.CutPrefix(to, "/"); ok {
		return p.Up() + inSite
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
		err := layout.Execute(&whole, map[string]any{"Page": p, "Groups": s.groups,
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
	for from, to := range moved() {
		files[from] = fmt.Appendf(nil, redirect, strings.Repeat("../", strings.Count(from, "/"))+to)
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
