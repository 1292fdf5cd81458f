// Command reference writes the pages of docs/reference that follow from declarations: the keys of an
// experiment, the metrics and columns of the tables, the commands, and the formats of exports. Run it from
// the repository's root:
//
//	go run ./scripts/reference
package main

import (
	"bytes"
	"fmt"
	"os"
	"path"

	"github.com/conclave-bench/conclave/internal/repo/generated"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

// self is how a person calls this program.
const self = "go run ./scripts/reference"

// folder is where the pages are, below the root.
const folder = "docs/reference"

// pages are the pages and what is in them below the title.
var pages = []struct {
	name, title string
	write       func(p *page)
}{
	{"experiment.md", "The experiment file", writeExperiment},
	{"commands.md", "Commands", writeCommands},
	{"metrics.md", "Metrics and columns", writeMetrics},
	{"formats.md", "Export formats", writeFormats},
}

func main() {
	if err := generated.Write(".", generate()); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

// generate is the text of every page.
func generate() (files []generated.File) {
	for _, of := range pages {
		p := &page{}
		p.say("# %s\n\n<!-- Written by %s: do not edit. -->", of.title, self)
		of.write(p)
		files = append(files, generated.File{Name: path.Join(folder, of.name), Text: p.text()})
	}
	return files
}

// A page is a document in Markdown: blocks with an empty line between them.
type page struct{ out bytes.Buffer }

// text is the page so far.
func (p *page) text() []byte { return p.out.Bytes() }
