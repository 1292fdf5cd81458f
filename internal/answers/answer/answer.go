// Package answer is what a command answers, as a value. A command makes a Document; each format
// is one file that renders any Document, so that every command has every format.
package answer

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Schema is the version of the JSON form. It grows when a name in it changes its meaning.
const Schema = 2

// A Document is an answer: what was asked, what was found, and how it ended.
type Document struct {
	Verb  string // the command, as "queue list"
	Title string // of a document that stands alone; not shown in a terminal
	// Blocks are *Table, Facts, Text, Lines, Note, Section, Picture and File, in the order in which
	// people read them.
	Blocks []Block
	// Checks are what was judged, for formats that report tests; none: the document is one.
	Checks []Check
	// Verdict is a word for how it ended, Exit the exit code of the command: 0 is good.
	Verdict string
	Exit    int
	// Began and Took are of what was judged, for test reports; zero: unknown.
	Began time.Time
	Took  time.Duration
	// Last is what a terminal ends with; "": nothing. Pages have the title and the verdict.
	Last string
	// Columns are those of the terminal on which people read it; 0: it may be any.
	Columns int
}

// A Block is a part of a Document.
type Block interface{ block() }

// Facts are single values that the whole answer is about, such as its seed.
type Facts []Fact

// A Fact is a value with a name, in lower snake case, with the unit at its end.
type Fact struct {
	Name  string
	Value Value
	Line  string // for people, in a terminal; "": they need not know
}

// A Text is lines for people.
type Text string

// Lines are laid out for people. Programs have the same in a table.
type Lines string

// A Section begins the answer to a part of the question, such as one of several files.
type Section struct {
	Name  string
	Title string // below the name, on a page; "": none
}

// A Note is a caveat or a remark. Of names what it is about: tables, or columns as table.column;
// none: the whole.
type Note struct {
	Text string
	Of   []string
	Kind string // Careful, or a word for what is wrong; "": a remark
	Hint string // a command that shows it; "": none
	Line string // for people, in a terminal; "": the kind and the text
	// Aside says that a terminal has it on standard error, behind the document.
	Aside bool
	// Long says that a terminal leaves it out; pages and programs have it.
	Long bool
	Only Readers
}

// A Picture is drawn beside the figures that it shows. Pages hold it; what cannot, names its file.
type Picture struct {
	Name, Title string // of the file, without its ending; above it
	SVG         []byte
	File        string // where the picture was written; "": nowhere
}

// A File is text in a language of its own, such as an experiment: a terminal has it as it is, unless it was
// written to a file.
type File struct {
	Name string // what it is
	Path string // where it was written; "": nowhere
	Text string // of a file that was not written
}

// line is what people read where no picture can be.
func (p Picture) line() string {
	if p.File == "" {
		return ""
	}
	return p.Title + ": " + p.File
}

// line is what a file is called where people read it besides.
func (f File) line() string {
	if f.Path == "" {
		return f.Name
	}
	return f.Name + ": " + f.Path
}

// Careful is the kind of a note that people have to read before any verdict.
const Careful = "careful"

func (n *Note) kind() string { return cmp.Or(n.Kind, "note") }

// line is the note in a terminal.
func (n *Note) line() string {
	text := cmp.Or(n.Line, n.kind()+": "+n.Text)
	if n.Hint != "" {
		text += "\n  reproduce: " + n.Hint
	}
	return text
}

func (Picture) block() {}
func (File) block()    {}
func (*Table) block()  {}
func (Facts) block()   {}
func (Text) block()    {}
func (Lines) block()   {}
func (Note) block()    {}
func (Section) block() {}

// A Check is one thing that was judged.
type Check struct {
	Part        string // of the question: a Section; "": the whole
	Group, Name string
	Failure     string  // "": it passed
	Text        string  // the failure at length; "": that is all
	Kind        string  // of the failure
	Failed      bool    // it was judged to be wrong; else, with a Failure, it could not be judged
	By          string  // how it was judged, in words; "": it needs no words
	Took        float64 // seconds
}

// A Table is rows under typed columns.
type Table struct {
	Name      string // lower snake case
	Title     string // above it; "": none
	Columns   []Column
	Rows      [][]Value
	Keys      int    // the first so many columns tell the rows apart; 0: one
	Empty     string // what people read if there are no rows; "": nothing
	Terms     bool   // a list of words and what they mean: the first column, and prose in the others
	DropEmpty bool   // people do not see columns without a value
	// Newest, if it is not 0, makes it a list: a head, a sentence and lines below it. Pages show so many
	// rows, the last ones, and fold all of them.
	Newest int
	Urgent []int // of a list, the rows that pages show; nil: any
	Main   bool  // it is what formats of one table have; none is: the first
	// Fold is the title of a table of details, which a terminal leaves out and pages fold; "": it is none.
	Fold  string
	Below string // lines for people below it, where it is folded
	// Only is the readers that need it: programs may want in one table what people read in several.
	Only Readers
}

// A Column is what its values have in common.
type Column struct {
	Name string // lower snake case, with the unit at its end where it has one
	Head string // for people; "": the name
	Kind Kind
	Unit string // "": none
	// Digits is how many decimals numbers have in CSV; 0: as many as they need.
	Digits int
	// Only is the readers that need it; Everybody, unless it is the long or the short form of another.
	Only Readers
}

// A Kind is what sort of values a column has.
type Kind string

// The kinds.
const (
	Words  Kind = "text"
	Count  Kind = "count"
	Number Kind = "number" // finite, or missing
	Time   Kind = "time"
	Flag   Kind = "flag"
	Figure Kind = "figure" // an Estimate
	List   Kind = "list"   // of words or numbers
	Map    Kind = "map"    // words by name
)

// right says whether values of the kind stand at the right edge of their column.
func (k Kind) right() bool { return k == Count || k == Number || k == Figure }

// Readers are those that need a column.
type Readers int

// The readers.
const (
	Everybody Readers = iota
	People
	Programs
	Nested // of the programs those that read JSON, which has room for lists in a row
)

// For says whether a column is for these readers.
func (c *Column) For(r Readers) bool {
	return c.Only == Everybody || c.Only == r || r == Nested && c.Only == Programs
}

func (c *Column) head() string {
	if c.Head != "" {
		return c.Head
	}
	return c.Name
}

// A Value is one of nil (there is none), string, an integer, float64, bool, time.Time, []string,
// []float64, map[string]string, Estimate, and Shown.
type Value any

// An Estimate is a figure with its interval and the number of observations behind it. A bound
// that is NaN does not exist.
type Estimate struct {
	Value, Low, High float64
	N                int
	Censored         int // further observations, known only to be larger
	// Doubt is what clocks can be wrong by, in ms, where that is more than the value; else 0.
	Doubt float64
}

// A Shown is a value that people read in other words.
type Shown struct {
	Value Value
	Text  string
}

// plain is the value behind what people read, with what does not exist as nil.
func plain(v Value) Value {
	switch v := v.(type) {
	case Shown:
		return plain(v.Value)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	case time.Time:
		if v.IsZero() {
			return nil
		}
	}
	return v
}

// Fine is the verdict of an answer unless something is wrong.
const Fine = "ok"

// New begins the answer of a command.
func New(verb, title string) *Document { return &Document{Verb: verb, Title: title, Verdict: Fine} }

// Add appends parts.
func (d *Document) Add(blocks ...Block) { d.Blocks = append(d.Blocks, blocks...) }

// Table appends an empty table and returns it.
func (d *Document) Table(name string, columns ...Column) *Table {
	t := &Table{Name: name, Columns: columns}
	d.Add(t)
	return t
}

// Row appends a row: a value for each column.
func (t *Table) Row(values ...Value) { t.Rows = append(t.Rows, values) }

// End says how the command ended.
func (d *Document) End(code int, verdict string) { d.Exit, d.Verdict = code, verdict }

// Note appends a remark about tables or columns.
func (d *Document) Note(text string, of ...string) { d.Add(Note{Text: text, Of: of}) }

// Asides are the lines that a terminal has on standard error, behind the document: where that is not
// shown there, and not all is well, also what to be careful about.
func (d *Document) Asides(shown bool) (lines []string) {
	for _, b := range d.Blocks {
		if n, ok := b.(Note); ok && (n.Aside || n.Kind == Careful && !shown && d.Exit != Good) {
			lines = append(lines, n.line())
		}
	}
	return lines
}

// paged are the blocks of a page, which begins with what people have to be careful about.
func (d *Document) paged() (careful []Note, rest []Block) {
	for _, b := range d.For(People) {
		if n, ok := b.(Note); ok && n.Kind == Careful && !d.sectioned() {
			careful = append(careful, n)
			continue
		}
		rest = append(rest, b)
	}
	return careful, rest
}

// sectioned says whether the document has sections.
func (d *Document) sectioned() bool {
	return slices.ContainsFunc(d.Blocks, func(b Block) bool { _, is := b.(Section); return is })
}

// Say appends a paragraph for people.
func (d *Document) Say(text string) { d.Add(Text(text)) }

// For are the blocks for these readers.
func (d *Document) For(r Readers) (out []Block) {
	for _, b := range d.Blocks {
		only := Everybody
		switch b := b.(type) {
		case *Table:
			only = b.Only
		case Lines:
			only = People
		case Note:
			only = b.Only
		}
		if only == Everybody || only == r {
			out = append(out, b)
		}
	}
	return out
}

// places are where the columns for these readers stand.
func (t *Table) places(r Readers) (at []int) {
	for i := range t.Columns {
		says := func(row []Value) bool { return text(row[i]) != "" }
		if t.Columns[i].For(r) && (r != People || !t.DropEmpty || slices.ContainsFunc(t.Rows, says)) {
			at = append(at, i)
		}
	}
	return at
}

// Columns declares columns for readers in a line: "run trials:count p_adjusted:number:p x_ms:number::ms" has
// their names, kinds (words, if none is said), heads and units.
func Columns(only Readers, line string) (all []Column) {
	for _, word := range strings.Fields(line) {
		parts := append(strings.Split(word, ":"), "", "", "")
		all = append(all, Column{Name: parts[0], Head: strings.ReplaceAll(parts[2], "_", " "), Unit: parts[3],
			Kind: cmp.Or(Kind(parts[1]), Words), Only: only})
	}
	return all
}

// Typed is a value of the column that is written as text: of a column of numbers the number, as people
// have written it.
func (c *Column) Typed(text string) Value {
	if v, err := strconv.ParseFloat(text, 64); err == nil && c.Kind == Number {
		return Shown{Value: v, Text: text}
	}
	return text
}

// Levels are a column of such values, which is one of numbers if all of them are.
func Levels(name string, values []string) Column {
	words := func(text string) bool { _, err := strconv.ParseFloat(text, 64); return err != nil }
	if slices.ContainsFunc(values, words) {
		return Column{Name: name, Kind: Words}
	}
	return Column{Name: name, Kind: Number}
}
