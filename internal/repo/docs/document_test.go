package docs

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// A document is what the tests need to know of a file in Markdown.
type document struct {
	name     string // its path in the repository, with slashes
	fences   []fence
	commands []shell // in order
	links    []reference
	paths    []reference // in backticks
	anchors  []string    // of its headings
	nightly  bool        // whether the commands that follow run by night alone
}

// A fence is a block of code.
type fence struct {
	where    string
	language string
	text     string
	skipped  bool
	file     string // under which it lies where the commands run
	after    int    // how many commands of the document come before it
}

// A shell is a command, the exit code that it is to end with, whether it is run by night
// alone, and what it is to print, in which a line of dots stands for anything.
type shell struct {
	where   string
	line    string
	exit    int
	nightly bool
	prints  string
}

const dots = "\n...\n"

// A reference is something else that a document names.
type reference struct{ where, to string }

var (
	note     = regexp.MustCompile(`^<!-- docs: (?:(skip): \S.*|exit (\d+)|file: (\S+)|(printed)|(nightly)|(sample)(?:: \S.*)?) -->$`)
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	span     = regexp.MustCompile("`([^`]+)`")
	command  = regexp.MustCompile(`^(?:[A-Z_]+=\S+ )*(?:go run \./cmd/bench|bench)(?: |$)`)
	repoPath = regexp.MustCompile(`^(?:pkg|cmd|configs|docs|plugins|internal|scripts)/[^\s<>…]*$`)
)

// parse reads a document. A note right before a block of code steers what is done
// with it: <!-- docs: exit 3 -->, <!-- docs: skip: reason -->, or
// <!-- docs: file: NAME -->, which the commands that follow find. A block without a language is what the last command prints, unless
// <!-- docs: sample --> says that it is an example of that; a table is, if it follows
// <!-- docs: printed -->. What follows <!-- docs: nightly --> runs by night alone.
func parse(name, text string) document {
	d := document{name: name}
	lines := strings.Split(text, "\n")
	said := []string(nil) // the last note, if nothing but space has followed
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		where := fmt.Sprintf("%s:%d", name, i+1)
		if language, ok := strings.CutPrefix(line, "```"); ok {
			f := fence{where: where, language: language, skipped: said != nil && said[1] == "skip"}
			if said != nil {
				f.file, f.after = said[3], len(d.commands)
			}
			first := i + 1
			for i++; i < len(lines) && strings.TrimSpace(lines[i]) != "```"; i++ {
			}
			body := lines[first:min(i, len(lines))]
			f.text = strings.Join(body, "\n") + "\n"
			d.fences = append(d.fences, f)
			d.addCommands(f, first, body, said)
			output := f.language == "" || f.language == "text"
			if said == nil && output && len(d.commands) > 0 || said != nil && said[4] != "" {
				d.addPrinted(where, body)
			}
			said = nil
			continue
		}
		if line == "" {
			continue
		}
		if said != nil && said[4] != "" {
			first := i
			for i++; i < len(lines) && strings.TrimSpace(lines[i]) != ""; i++ {
			}
			d.addPrinted(where, lines[first:i])
			said = nil
			continue
		}
		said = note.FindStringSubmatch(line)
		d.nightly = d.nightly || said != nil && said[5] != ""
		d.addProse(where, line)
	}
	return d
}

// addCommands finds the commands of a block, which begins in line first.
func (d *document) addCommands(f fence, first int, body []string, said []string) {
	console, sample := f.language == "console", said != nil && said[6] != ""
	if f.skipped || !console && f.language != "sh" {
		return
	}
	exit := 0
	if said != nil {
		exit, _ = strconv.Atoi(said[2]) // digits
	}
	ours := false // whether the last command is one of bench
	for i := 0; i < len(body); i++ {
		where := fmt.Sprintf("%s:%d", d.name, first+i+1)
		line := strings.TrimSpace(body[i])
		for strings.HasSuffix(line, `\`) && i+1 < len(body) {
			i++
			line = strings.TrimSuffix(line, `\`) + strings.TrimSpace(body[i])
		}
		if console {
			var typed bool
			if line, typed = strings.CutPrefix(line, "$ "); !typed {
				if !sample && line != "" && ours {
					d.addPrinted(where, body[i:i+1])
				}
				continue
			}
		}
		if ours = command.MatchString(line); ours {
			d.commands = append(d.commands, shell{where: where, line: line, exit: exit, nightly: d.nightly})
		}
	}
}

// addPrinted adds what the last command is to print.
func (d *document) addPrinted(where string, body []string) {
	if len(d.commands) == 0 {
		d.commands = append(d.commands, shell{where: where}) // which prints nothing
	}
	last := &d.commands[len(d.commands)-1]
	last.prints += dots + strings.Join(body, "\n")
}

// exact says whether the document quotes what commands print, so that none is cut short.
func (d *document) exact() bool {
	return slices.ContainsFunc(d.commands, func(c shell) bool { return c.prints != "" })
}

func (d *document) addProse(where, line string) {
	if strings.HasPrefix(line, "#") {
		d.anchors = append(d.anchors, anchor(strings.TrimLeft(line, "# ")))
	}
	for _, m := range span.FindAllStringSubmatch(line, -1) {
		if repoPath.MatchString(m[1]) {
			d.paths = append(d.paths, reference{where, m[1]})
		}
	}
	for _, m := range link.FindAllStringSubmatch(span.ReplaceAllString(line, "code"), -1) {
		d.links = append(d.links, reference{where, m[1]})
	}
}

// anchor is what a heading is called in links.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

func TestLinks(t *testing.T) {
	t.Parallel()
	all := documents(t)
	for _, d := range all {
		for _, l := range d.links {
			to, heading, _ := strings.Cut(l.to, "#")
			if strings.Contains(l.to, ":") { // another site's
				continue
			}
			target := d.name
			if to != "" {
				target = path.Join(path.Dir(d.name), to)
			}
			if _, err := os.Stat(filepath.Join(root(t), filepath.FromSlash(target))); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", l.where, l.to)
			}
			for _, other := range all {
				if heading != "" && other.name == target && !slices.Contains(other.anchors, heading) {
					t.Errorf("%s: no heading in %s is #%s (has: %s)", l.where, target, heading,
						strings.Join(other.anchors, ", "))
				}
			}
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	for _, d := range documents(t) {
		for _, p := range d.paths {
			if !exists(t, p.to) {
				t.Errorf("%s: nothing is at %s", p.where, p.to)
			}
		}
	}
}

// exists says whether something is at a path, which may have an asterisk, or a
// name declared in the package at its end: pkg/algo.Stepper.
func exists(t testing.TB, to string) bool {
	t.Helper()
	at := func(name string) bool {
		found, err := filepath.Glob(filepath.Join(root(t), filepath.FromSlash(name)))
		return err == nil && len(found) > 0
	}
	i := strings.LastIndex(to, ".")
	if at(to) || i < 0 || !at(to[:i]+"/*.go") {
		return at(to)
	}
	declared := regexp.MustCompile(`(?m)^(?:(?:func|type|var|const) |\t)` +
		regexp.QuoteMeta(to[i+1:]) + `\b`)
	files, err := filepath.Glob(filepath.Join(root(t), to[:i], "*.go"))
	must(t, err)
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && declared.Match(text)
	})
}

func TestExists(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"pkg/algo": true, "docs/reference/results.md": true, "plugins/election/*": true,
		"pkg/algo.Stepper": true, "pkg/algo.Stopper": false, "pkg/nothing": false,
		"docs/nothing.md": false, "pkg/algo/": true,
	} {
		if got := exists(t, path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

const sample = "# One & Two\n\n" +
	"See [there](docs/reference/results.md#manifestjson), `pkg/algo`, `not a path`, `[x](y)`.\n\n" +
	"```sh\ngo run ./cmd/bench run a.yaml \\\n    --set x=1\ngo test ./...\nA=1 bench list\n```\n\n" +
	"<!-- docs: exit 3 -->\n\n```console\n$ bench run b.yaml\nbench says\n```\n" +
	"<!-- docs: skip: it waits for ever -->\n```sh\nbench run c.yaml\n```\n" +
	"<!-- docs: file: x.yaml -->\n```yaml\nname: x\n```\n" +
	"<!-- docs: exit 2 -->\nprose\n```sh\nbench plan\n```\n```yaml\nalgorithms: []\n```\n" +
	"```\none\n...\nthree\n```\n<!-- docs: sample: it differs by machine -->\n```\nfour\n```\n<!-- docs: printed -->\n\n| a |\n| 1 |\n\n" +
	"<!-- docs: nightly -->\nprose\n```sh\nbench work\n```\n"

func TestParse(t *testing.T) {
	t.Parallel()
	d := parse("sample.md", sample)
	want := []shell{
		{"sample.md:6", "go run ./cmd/bench run a.yaml --set x=1", 0, false, ""},
		{"sample.md:9", "A=1 bench list", 0, false, ""},
		{"sample.md:15", "bench run b.yaml", 3, false, dots + "bench says"},
		{"sample.md:29", "bench plan", 0, false, dots + "one\n...\nthree" + dots + "| a |\n| 1 |"},
		{"sample.md:51", "bench work", 0, true, ""},
	}
	if !slices.Equal(d.commands, want) {
		t.Errorf("commands:\n%+v\nwant\n%+v", d.commands, want)
	}
	links := []reference{{"sample.md:3", "docs/reference/results.md#manifestjson"}}
	paths := []reference{{"sample.md:3", "pkg/algo"}}
	if !slices.Equal(d.links, links) || !slices.Equal(d.paths, paths) {
		t.Errorf("links %v, want %v; paths %v, want %v", d.links, links, d.paths, paths)
	}
	if len(d.fences) != 9 || d.fences[5].text != "algorithms: []\n" || !d.fences[2].skipped ||
		d.fences[3].file != "x.yaml" {
		t.Errorf("fences: %+v", d.fences)
	}
	if !slices.Equal(d.anchors, []string{"one--two"}) {
		t.Errorf("anchors: %v", d.anchors)
	}
}
