package main

import (
	"fmt"

	"github.com/conclave-bench/conclave/internal/answers/report/export"
)

func writeFormats(p *page) {
	p.prose("The formats in which `bench export DIR --format FORMAT` writes what a run measured. " +
		"A figure is that of a cell: the median over its trials, or the mean of a pooled metric, with " +
		"its 95 % " +
		"interval, as in [summary.csv](metrics.md#summarycsv). " +
		"[Export tables and figures](../how-to/export.md) has an example of each format. " +
		"[`bench export`](commands.md#bench-export) has the flags.")
	var rows [][]string
	for _, f := range export.Formats() {
		rows = append(rows, []string{code(f.Name), f.Reader, plain(f.Holds), f.One, files(f.Several),
			f.Usual(),
			yes(f.OfOperations())})
	}
	for _, f := range export.Stores() {
		rows = append(rows, []string{code(f.Name), f.Reader, plain(f.Holds), "row of a " +
			"table", files(f.Several),
			"all", ""})
	}
	p.table([]string{"format", "what reads it", "what it holds", "one record per", "files",
		"metrics by default", "`--over operations`"}, rows)
	p.prose(fmt.Sprintf("A separate program, `%s`, writes the last %d formats.", export.StoreProgram,
		len(export.Stores())))
}

func files(several bool) string {
	if several {
		return "several"
	}
	return "1"
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}
