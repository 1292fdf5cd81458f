package report

import (
	"fmt"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/pkg/results"
)

// Document says that the page was written, of so many bytes, and what the page is about. The table bus is
// what the bus alone takes on each machine and by way of two, run by run.
func (d *Data) Document(page string, size int) *answer.Document {
	a := answer.New("report", d.Title)
	a.Add(answer.Facts{
		{Name: "page", Value: page, Line: fmt.Sprintf("%s: %s of %s, %.1f MB", page,
			console.Plural(len(d.Cells), "cell", "cells"), console.Plural(len(d.Runs), "run", "runs"),
			float64(size)/1e6)},
		{Name: "bytes", Value: size}, {Name: "cells", Value: len(d.Cells)}})
	bus := a.Table("bus", answer.Columns(answer.Everybody, "run:count hosts:list median_us:number "+
		"p99_us:number round_trips:count")...)
	bus.Only = answer.Programs
	for i := range d.Runs {
		var trips []results.RoundTrip
		if m := d.Runs[i].Manifest; m != nil {
			trips = m.RoundTrips()
		}
		for _, one := range trips {
			bus.Row(i+1, one.Hosts, one.Median, one.P99, one.Measured)
			if len(one.Hosts) > 0 {
				a.Say(fmt.Sprintf("bus, by way of %s: median round trip %s µs (p99 %s)",
					strings.Join(one.Hosts, " and "), console.Number(one.Median), console.Number(one.P99)))
			}
		}
	}
	for _, text := range d.Notes {
		a.Add(answer.Note{Text: text, Only: answer.Programs})
	}
	return a
}
