package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

func schema(t testing.TB, name string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile("testdata/schemas/" + name + ".json")
	must(t, err)
	return s
}

func TestSchemas(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*Run{"small": small(t), "hostile": hostileRun()} {
		for _, format := range []string{"bmf", "github", "json"} {
			o := Options{Metrics: []string{"election_ms", "messages", "availability"}}
			for _, f := range write(t, r, format, o) {
				v, err := jsonschema.UnmarshalJSON(bytes.NewReader(f.Data))
				must(t, err)
				if err := schema(t, format).Validate(v); err != nil {
					t.Errorf("%s: %s: %v", name, f.Name, err)
				}
			}
		}
	}
}

// What the formats forbid, the schemas refuse.
func TestSchemas_Refuse(t *testing.T) {
	t.Parallel()
	for format, documents := range map[string][]string{
		"bmf": {`{}`, `{"a":{}}`, `{"a":{"m":{"lower_value":1}}}`, `{"a":{"m":{"value":null}}}`,
			`{"a":{"M S":{"value":1}}}`, `{"a-bencher-ignore":{"m":{"value":1}}}`},
		"github": {`[]`, `[{"name":"a","value":"1","unit":"ms"}]`, `[{"name":"a","value":1}]`},
		"json":   {`{}`, `{"schema_version":2}`},
	} {
		for _, text := range documents {
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
			must(t, err)
			if schema(t, format).Validate(v) == nil {
				t.Errorf("%s takes %s", format, text)
			}
		}
	}
}

func TestGithub_Directions(t *testing.T) {
	t.Parallel()
	r := small(t)
	for _, test := range []struct {
		metrics []string
		files   string
	}{
		{[]string{"election_ms", "availability"}, "smaller-is-better.json larger-is-better.json"},
		{[]string{"election_ms"}, "smaller-is-better.json"},
		{[]string{"availability"}, "larger-is-better.json"},
	} {
		var names []string
		for _, f := range write(t, r, "github", Options{Metrics: test.metrics}) {
			names = append(names, f.Name)
			for _, m := range test.metrics {
				entries := strings.Count(string(f.Data), " "+m+`"`)
				if want := (metric.Named(m).Better == metric.Higher) == (f.Name == "larger-is-better.json"); want != (entries == 8) {
					t.Errorf("%s: %d entries of %s", f.Name, entries, m)
				}
			}
		}
		if got := strings.Join(names, " "); got != test.files {
			t.Errorf("%v: files %s, want %s", test.metrics, got, test.files)
		}
	}
}

// Intervals are there where the sample has them, in nanoseconds, and nowhere else.
func TestBMF_Intervals(t *testing.T) {
	t.Parallel()
	var got map[string]map[string]bmfFigure
	must(t, json.Unmarshal([]byte(one(t, small(t), "bmf", Options{})), &got))
	of := func(cell, measure string) bmfFigure {
		f, ok := got[cell][measure]
		if !ok {
			t.Errorf("no %s of %s in %v", measure, cell, got)
		}
		return f
	}
	whole := of("bully/nodes=3/loss=0.1", "election-ns")
	if whole.Value != 28e6 || whole.Lower == nil || *whole.Lower != 28e6 || whole.Upper == nil || *whole.Upper != 142e6 {
		t.Errorf("%+v, want 28 [28, 142] ms", whole)
	}
	if open := of("bully/nodes=5/loss=0.1", "election-ns"); open.Lower == nil || open.Upper != nil {
		t.Errorf("two of seven timed out: %+v, want a lower end alone", open)
	}
	if none := of("ring/nodes=5/loss=0.1", "messages"); none.Lower != nil || none.Upper != nil {
		t.Errorf("four trials: %+v, want no interval", none)
	}
}

// A name does not end in what mutes Bencher's alerts, and is not longer than it may be.
func TestBMF_Names(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{
		"a-bencher-ignore": `"a": {`, strings.Repeat("é", 600): `"` + strings.Repeat("é", 512) + `": {`,
		"x" + strings.Repeat("é", 600): `"x` + strings.Repeat("é", 511) + `": {`,
	} {
		r := runOf(sample(label, 1, 2, 3)...)
		r.Design = r.Design[:4] // without nodes
		for i := range r.Trials {
			r.Trials[i].Design = r.Trials[i].Design[:4]
		}
		if text := one(t, r, "bmf", Options{}); !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// Two cells never become one.
func TestBMF_NamesThatCollide(t *testing.T) {
	t.Parallel()
	r := runOf(append(sample("a\nb", 1, 2, 3), sample("a b", 4, 5, 6)...)...)
	f, err := Find("bmf")
	must(t, err)
	if _, err := f.Write(r, Options{}); err == nil || !strings.Contains(err.Error(), `both called "a b/nodes=3"`) {
		t.Errorf("error %v", err)
	}
}

// The JSON says what the CSV says, with null for what is empty there.
func TestJSON_AgreesWithCSV(t *testing.T) {
	t.Parallel()
	var got jsonRun
	must(t, json.Unmarshal([]byte(one(t, small(t), "json", Options{})), &got))
	rows, err := csv.NewReader(strings.NewReader(one(t, small(t), "csv", Options{}))).ReadAll()
	must(t, err)
	text := func(v *float64) string {
		if v == nil {
			return ""
		}
		return results.Number(*v)
	}
	figures := results.SummaryColumns()
	compared, first := 0, len(rows[0])-len(figures)-len(restrictedColumns)
	for _, row := range rows[1:] {
		for _, c := range got.Cells {
			if c.Design["label"] != row[2] || c.Design["nodes"] != row[4] || c.Design["loss"] != row[9] {
				continue
			}
			compared++
			m := c.Metrics[row[first]]
			for i, v := range []*float64{m.Mean, m.SD, m.Min, m.Median, m.Quantiles.P90, m.Quantiles.P95,
				m.Quantiles.P99, m.Max, m.CI.Low, m.CI.High} {
				if text(v) != row[first+3+i] {
					t.Errorf("%s %s: %s is %q, but %q in the table", c.Name, row[first], figures[3+i], text(v),
						row[first+3+i])
				}
			}
			if r := m.Restricted; r != nil {
				for i, v := range []*float64{r.Mean, r.CI.Low, r.CI.High, r.To} {
					if at := first + len(figures) + i; text(v) != row[at] {
						t.Errorf("%s %s: %s is %q, but %q in the table", c.Name, row[first], restrictedColumns[i], text(v), row[at])
					}
				}
			}
		}
	}
	if compared != len(rows)-1 {
		t.Errorf("compared %d of %d rows", compared, len(rows)-1)
	}
	last := got.Cells[7]
	if last.Name != "ring/nodes=5/loss=0.1" || last.InModel || last.Trials != 7 || last.Statuses["timeout"] != 3 ||
		last.Statuses["violation"] != 0 {
		t.Errorf("%+v", last)
	}
}

// No field of a table is a formula to a spreadsheet, and numbers stay numbers.
func TestCSV_Inert(t *testing.T) {
	t.Parallel()
	rows, err := csv.NewReader(strings.NewReader(one(t, hostileRun(), "csv", Options{}))).ReadAll()
	must(t, err)
	for _, row := range rows {
		for _, field := range row {
			if field != "" && strings.ContainsRune("=+-@\t\r\n", rune(field[0])) && !isNumber(field) {
				t.Errorf("formula %q", field)
			}
		}
	}
	for _, text := range []string{"-1", "-0.5", "7", ""} {
		if got := answer.Inert(text, false); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, text := range []string{"-1", "+1", "=1+1", "@SUM(A1)", "\tx", "\rx"} {
		if got := answer.Inert(text, true); got != "'"+text {
			t.Errorf("the label %q became %q", text, got)
		}
	}
	r := hostileRun()
	r.Design = append(slices.Clone(r.Design), "=1+1") // a column of its own
	for i := range r.Trials {
		r.Trials[i].Design = append(slices.Clone(r.Trials[i].Design), metric.Field{Name: "=1+1", Value: "x"})
	}
	if text := one(t, r, "csv", Options{}); !strings.Contains(text, ",'=1+1,") || strings.Contains(text, ",=1+1,") {
		t.Errorf("the header: %.200s", text)
	}
}

// TestMarkdown_Links: a name is no link, wherever it stands; an interval is as it was.
func TestMarkdown_Links(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[x](javascript:alert(1))": `[x\](javascript:alert(1))`, "[x][y]": `[x\][y]`, "[x]: y": `[x\]: y`,
		"https://a.example": `https\://a.example`, "www.a.example": `www\.a.example`, "~~x~~": `\~\~x\~\~`,
		"12.5 [10, 14]": "12.5 [10, 14]",
	} {
		if got := inText(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"waiting_p99_ns": "waiting-p99-ns", "messages_per_entry": "messages-per-entry", "_A b_": "a-b",
		strings.Repeat("ab_", 40): strings.TrimSuffix(strings.Repeat("ab-", 21)+"a", "-"),
	} {
		if got := slug(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if v := nanoseconds(math.NaN()); results.Finite(v) != nil {
		t.Errorf("an end that does not exist is %v", v)
	}
}
