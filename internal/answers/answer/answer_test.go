package answer_test

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew; read the diff")

// example holds every kind of block and value.
func example() *answer.Document {
	d := answer.New("compare", "base against new")
	d.Add(answer.Facts{
		{Name: "seed", Value: 7, Line: "seed        7"},
		{Name: "alpha", Value: 0.05},
	})
	t := d.Table("cells",
		answer.Column{Name: "label", Head: "algorithm", Kind: answer.Words},
		answer.Column{Name: "nodes", Kind: answer.Count},
		answer.Column{Name: "downtime_ms", Head: "downtime", Kind: answer.Figure, Unit: "ms"},
		answer.Column{Name: "p", Kind: answer.Number},
		answer.Column{Name: "worse", Kind: answer.Flag},
		answer.Column{Name: "began", Kind: answer.Time},
		answer.Column{Name: "sets", Kind: answer.List},
		answer.Column{Name: "commit", Kind: answer.Words, Only: answer.Programs},
		answer.Column{Name: "build", Kind: answer.Words, Only: answer.People})
	t.Title, t.Keys = "Cells", 2
	t.Row("raft", 5, answer.Estimate{Value: 62.73, Low: 60.954, High: 65.09, N: 200, Censored: 3}, 0.00012, true,
		time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), []string{"etcd", "consul"}, "0123456789", "01234567 (this)")
	t.Row("=cmd|' /C calc'!A0 & <b>_", answer.Shown{Value: 3, Text: "3 to 5"}, answer.Estimate{Value: math.NaN()}, math.NaN(), false,
		time.Time{}, nil, "-1", "")
	none := d.Table("others", answer.Column{Name: "name", Kind: answer.Words})
	none.Empty = "there are no others"
	terms := d.Table("words", answer.Column{Name: "name", Kind: answer.Words}, answer.Column{Name: "doc", Kind: answer.Words},
		answer.Column{Name: "keys", Kind: answer.List})
	terms.Title, terms.Terms = "Words of an experiment", true
	terms.Row("leader-crash", "the process that leads then crashes, at a random phase of every periodic timer that it has",
		[]string{"settle", "elections"})
	terms.Row("churn", "processes come and go", nil)
	d.Say("raft is slower.")
	d.Add(answer.Lines("A  1 <is>\n   laid out"))
	d.Add(answer.Picture{Name: "downtime", Title: "Downtime <of> both", SVG: []byte("<svg/>"), File: "downtime.svg"},
		answer.Picture{Name: "kept", Title: "On a page alone", SVG: []byte("<svg/>")},
		answer.File{Name: "experiment", Text: "nodes: 3 # <as> it_is\n"}, answer.File{Name: "page", Path: "a b.html"})
	d.Note("a note with <tags> & signs", "cells.downtime_ms")
	d.Add(answer.Note{Text: "another machine", Kind: answer.Careful},
		answer.Note{Text: "raft: slower by 2_3", Kind: "fails", Hint: "bench replay x --trial 3", Aside: true},
		answer.Note{Text: "a remark", Line: "[1] a remark"})
	details := d.Table("details", answer.Column{Name: "name", Kind: answer.Words})
	details.Fold, details.Below = "all figures", "one line\nand another"
	details.Row("x")
	d.Verdict, d.Exit = "something is worse", 4
	return d
}

// looks are the parts of a page that it has from the theme, which has tests of its own.
var looks = regexp.MustCompile(`(?s)(<style>|<script>|sha256-)(.*?)(</style>|</script>|&#39;)`)

// TestFormats: each format renders everything that a document can hold, as its golden file says.
func TestFormats(t *testing.T) {
	t.Parallel()
	for _, f := range answer.Formats() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			var got bytes.Buffer
			if err := f.Write(&got, example()); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", "example."+f.Extension)
			text := looks.ReplaceAllString(got.String(), "$1...$3")
			if *rewrite {
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if text != string(want) {
				t.Errorf("got\n%s\nwant\n%s", text, want)
			}
			if answer.Named(f.Name).Doc != f.Doc {
				t.Error("Named finds another")
			}
		})
	}
	if answer.Named("nonsense") != nil {
		t.Error("there is a format nonsense")
	}
}

// TestReadBack: other programs read what is written for them, and find every value.
func TestReadBack(t *testing.T) {
	t.Parallel()
	render := func(format string) string {
		b, err := example().In(format)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	doc, err := answer.Decode([]byte(render("json")))
	if err != nil {
		t.Fatal(err)
	}
	first := doc.Table("cells")[0]
	if _, there := first["build"]; there || doc.Exit != 4 || doc.Schema != answer.Schema || first["commit"] != "0123456789" ||
		first["downtime_ms"].(map[string]any)["low"] != 60.954 || doc.Table("cells")[1]["p"] != nil ||
		len(doc.Table("others")) != 0 || doc.Notes[0].Of[0] != "cells.downtime_ms" {
		t.Errorf("JSON: %+v", doc)
	}
	rows, err := csv.NewReader(strings.NewReader(render("csv"))).ReadAll()
	if err != nil || len(rows) != 3 || rows[0][3] != "downtime_ms_low" || rows[1][3] != "60.954" || rows[2][0][:2] != "'=" {
		t.Errorf("CSV: %q, %v", rows, err)
	}
	for _, format := range []string{"junit", "html"} {
		d := xml.NewDecoder(strings.NewReader(render(format)))
		d.Strict, d.AutoClose, d.Entity = format == "junit", xml.HTMLAutoClose, xml.HTMLEntity
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", format, err)
			}
		}
	}
}

// TestJUnit: a failure is told from what could not be judged, and control characters are no XML.
func TestJUnit(t *testing.T) {
	t.Parallel()
	d := answer.New("gate", "")
	d.Checks = []answer.Check{
		{Group: "a", Name: "holds"}, {Group: "a", Name: "breaks\x01", Failure: "two leaders", Kind: "violation", Failed: true},
		{Part: "p", Group: "b", Name: "unknown", Failure: "no room", Text: "no room\n  reproduce: bench", Kind: "could not run", By: "by ranks"},
	}
	d.Add(answer.Section{Name: "p"}, answer.Facts{{Name: "base", Value: "x"}})
	var b strings.Builder
	if err := answer.Named("junit").Write(&b, d); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`tests="2" failures="1" errors="0"`, `tests="1" failures="0" errors="1"`, `<property name="base" value="x"`,
		`package="p" id="1"`, `name="breaks?"`, `<failure message="two leaders" type="violation">`, `<error message="no room"`,
		"reproduce: bench]]></", "by ranks\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

// TestInert: what a spreadsheet takes for a formula is quoted, and a negative number is not.
func TestInert(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "raft": "raft", "=1+1": "'=1+1", "-3": "-3", "@x": "'@x", "+x": "'+x"} {
		if got := answer.Inert(in, false); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := answer.Inert("-3", true); got != "'-3" {
		t.Errorf("-3 among words: %q", got)
	}
}

// TestDecode: what is of another version, or none at all, is refused.
func TestDecode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"schema_version": 1}`: "schema_version 1, expected 2", "": "unexpected end", "[]": "cannot unmarshal array",
	} {
		if _, err := answer.Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestSections: what is said of the parts of a question keeps apart in every format.
func TestSections(t *testing.T) {
	t.Parallel()
	d := answer.New("gate", "Conclave: good")
	d.Add(answer.Facts{{Name: "base", Value: "main"}})
	for i, name := range []string{"a.yaml", "b.yaml"} {
		d.Add(answer.Section{Name: name, Title: "one of them"}, answer.Facts{{Name: "base", Value: i}})
		d.Table("rows", answer.Column{Name: "n", Kind: answer.Count}).Row(i)
	}
	for format, want := range map[string]string{
		"text": "\na.yaml\n", "markdown": "## b.yaml\n\n### one of them\n", "html": "<h2>a.yaml</h2>", "latex": "% b.yaml\n",
		"csv": "section,n\na.yaml,0\nb.yaml,1\n", "json": `"section": "b.yaml"`,
	} {
		if b, err := d.In(format); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: %v, no %q in\n%s", format, err, want, b)
		}
	}
}

// TestUnmarshal: a document is read by the names of its facts and tables, and so is what was written
// before there were documents.
func TestUnmarshal(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"schema_version": 2, "exit_code": 4, "facts": {"seed": 18446744073709551615}, "tables": [{"name": "errors", "rows": [{"trial": 3}]}]}`,
		`{"schema_version": 1, "exit_code": 4, "seed": 18446744073709551615, "errors": [{"trial": 3}]}`,
	} {
		var got struct {
			Exit   int                   `json:"exit_code"`
			Seed   uint64                `json:"seed"`
			Errors []struct{ Trial int } `json:"errors"`
		}
		if err := answer.Unmarshal([]byte(text), &got); err != nil || got.Exit != 4 || got.Seed != math.MaxUint64 ||
			len(got.Errors) != 1 || got.Errors[0].Trial != 3 {
			t.Errorf("%s: %v, %+v", text, err, got)
		}
	}
	if err := answer.Unmarshal([]byte("no"), &struct{}{}); err == nil {
		t.Error("it reads what is no JSON")
	}
}
