package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// private lists words and turns that only this project uses, each with what the field says. What users read has
// none of them: documents, help, output, errors, comments of exported names, and comments of experiments.
var private = []struct{ pattern, term string }{
	{`\bluck\b`, "random draws, common random numbers; same luck: seed-matched"},
	{`\bmuseum\b`, "worst-case schedules"},
	{`\btwins\b|\b(?:a|the|its|each|of|no) twin\b`, "simulated counterpart"},
	{`\bworlds?\b`, "backend; simulation and real processes; small world: small system"},
	{`\bengines?\b`, "scheduler (of clusters), or the name of the part"},
	{`\bequal mistakes\b|\bmistakes per hour\b|\brate of mistakes\b`, "false elections, false suspicions"},
	{`\b(?:is|are|was|were|be|been|being) told\b`, "is reported, is shown; a process learns"},
	{`\b(?:is|are) said (?:of|to|that|when|how|where|about)\b`, "is reported, is documented"},
	{`\bwhoever\b`, "a process that, anyone who, a user who"},
	{`(?:^|[.;:(] ?)Who (?:wants|waits|has|asks|leads|is|adds|reads|needs|knows|does)\b`, "a process that, users who"},
	{`\b(?:process|processes|node|nodes|one) who\b`, "a process that"},
	{`\bwho (?:wants|waits|asks for|holds|leads|requests|crashes|crashed)\b`, "a process that"},
	{`\bfor ever\b`, "forever, never ends"},
	{`\bwithout more ado\b`, "by default"},
	{`\ball the same\b`, "nevertheless"},
	{`\bcries wolf\b`, "false-alarm rate"},
	{`\bgoes on with\b|\bgo on with\b`, "continues"},
	{`\bup to (?:their|its) names\b`, "up to isomorphism"},
	{`\bat which HEAD left\b`, "merge base"},
	{`\bno proof that there is none\b`, "does not show equality"},
	{`\b(?:at which|where) (?:it|they) parts?\b|\bparts? from the (?:trial|other|base)\b|\bwhere (?:they|the sides) part\b`, "diverge"},
	{`\bhad been the best or the worst\b`, "best and worst case"},
	{`\bon their way before\b`, "already under way"},
	{`\b(?:somebody|nobody) (?:waits|wants|leads|asks|is inside|holds)\b`, "a process, no process"},
}

var privatePatterns = func() (out []*regexp.Regexp) {
	for _, p := range private {
		out = append(out, regexp.MustCompile(`(?i)`+p.pattern))
	}
	return out
}()

// spared are files that quote others, or that are about words.
var spared = map[string]string{
	"docs/evidence/reproduced.md": "quotes papers",
}

// TestWords: see private.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, top := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs", "configs", "pkg",
		"internal", "plugins", "cmd", "scripts"} {
		err := filepath.WalkDir(filepath.Join(root(t), top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, _ := filepath.Rel(root(t), path)
			name = filepath.ToSlash(name)
			if _, quotes := spared[name]; quotes || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			switch filepath.Ext(name) {
			case ".md":
				words(t, name, 1, string(text))
			case ".yaml":
				for i, line := range strings.Split(string(text), "\n") {
					if _, comment, found := strings.Cut(line, "#"); found {
						words(t, name, i+1, comment)
					}
				}
			case ".go":
				wordsOfSource(t, name, text)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// code is what a text quotes in backticks, or links to.
var code = regexp.MustCompile("`[^`\n]*`|\\]\\([^)\n]*\\)|\\S+/\\S+|bench [a-z]+")

// words reports the private words of a text that begins in a line of a file.
func words(t *testing.T, file string, line int, text string) {
	text = code.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("_", len(s)) })
	for i, p := range privatePatterns {
		for _, at := range p.FindAllStringIndex(text, -1) {
			t.Errorf("%s:%d: %q: write %s", file, line+strings.Count(text[:at[0]], "\n"),
				strings.TrimSpace(text[at[0]:at[1]]), private[i].term)
		}
	}
}

// wordsOfSource looks at string literals, and at the comments of packages and exported names.
func wordsOfSource(t *testing.T, name string, src []byte) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	comment := func(c *ast.CommentGroup) {
		if c != nil {
			words(t, name, fset.Position(c.Pos()).Line, c.Text())
		}
	}
	comment(f.Doc)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && strings.Contains(s, " ") {
				words(t, name, fset.Position(n.Pos()).Line, s)
			}
		case *ast.FuncDecl:
			if n.Name.IsExported() {
				comment(n.Doc)
			}
		case *ast.GenDecl:
			comment(n.Doc)
		case *ast.TypeSpec:
			if n.Name.IsExported() {
				comment(n.Doc)
				comment(n.Comment)
			}
		case *ast.ValueSpec:
			if n.Names[0].IsExported() {
				comment(n.Doc)
				comment(n.Comment)
			}
		case *ast.Field:
			if len(n.Names) > 0 && n.Names[0].IsExported() {
				comment(n.Doc)
				comment(n.Comment)
			}
		}
		return true
	})
}

// TestWords_Finds: each pattern finds something, and code is not read.
func TestWords_Finds(t *testing.T) {
	t.Parallel()
	for i, text := range []string{"same luck", "it is told", "Whoever asks", "runs for ever"} {
		found := false
		for _, p := range privatePatterns {
			found = found || p.MatchString(text)
		}
		if !found {
			t.Errorf("%d: nothing in %q", i, text)
		}
	}
	if s := code.ReplaceAllString("`bench twin` and [x](twin.md)", "_"); strings.Contains(s, "twin") {
		t.Error(fmt.Sprint("code is read: ", s))
	}
}
