package advise

import (
	"bytes"
	_ "embed" // the assets
	"html/template"
	"math"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/theme"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageScript string
)

// A choice is a setting on the page.
type choice struct {
	Role            string
	Lines           []line
	Median, P99     string
	False           string
	High            float64 // false elections a year at most, by which the slider chooses
	Time            float64 // ms
	Front, Allowed  bool
	Default, Chosen bool
}

// A line is a setting in the system's own words.
type line struct{ Into, Text string }

// page is the page for a browser: it needs no network.
func (f *Finding) page() ([]byte, error) {
	picture, err := f.picture()
	if err != nil {
		return nil, err
	}
	script := theme.Script + pageScript
	p := struct {
		Page                theme.Page
		Script              template.JS
		Lead                string
		Choices             []choice
		Picture             template.HTML
		Remarks             []string
		Least, Most, Budget float64 // of the slider: logarithms of rates
	}{
		Page: theme.Page{Generator: "bench advise", Policy: theme.Policy("form-action 'none'",
			theme.Sum(script)),
			Kind: "advice", Title: "Settings of " + f.Set.Name, Style: theme.CSS(pageStyle),
			Start: "main", StartName: "the advice"},
		Script: template.JS(script), Remarks: f.remarks(), Picture: inline(picture),
		Lead: strings.TrimSpace(f.facts()[0].Line),
	}
	budget := f.limit(f.Advice)
	p.Least, p.Most, p.Budget = math.Floor(math.Log10(budget))-3, math.Ceil(math.Log10(budget))+4,
		math.Log10(budget)
	roles, points := f.shown()
	for _, x := range f.sorted() {
		c := choice{Median: interval(millis, x.Outage.Median, x.Outage.MedianLow, x.Outage.MedianHi),
			P99: millis(x.Outage.P99), False: x.Rate.text(), High: x.Rate.High, Time: x.Outage.Median,
			Front:   x.Front,
			Allowed: x.Allowed && f.bears(&x.Setting), Default: x == f.Defaults, Chosen: x == f.Advice}
		for _, l := range f.Write(x.Params) {
			c.Lines = append(c.Lines, line(l))
		}
		for i := range points {
			if points[i] == x {
				c.Role = strings.TrimPrefix(c.Role+", "+roles[i], ", ")
			}
		}
		p.Choices = append(p.Choices, c)
	}
	var out bytes.Buffer
	err = theme.New("page", pageText, nil).Execute(&out, p)
	return out.Bytes(), err
}

// inline is a picture as a part of a page: without what stands before the element.
func inline(svg []byte) template.HTML {
	if at := bytes.Index(svg, []byte("<svg")); at >= 0 {
		svg = svg[at:]
	}
	return template.HTML(svg)
}
