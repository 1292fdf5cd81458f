package main

import (
	"fmt"
	"strings"

	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/param"
)

func writeExperiment(p *page) {
	p.prose("Every key of an experiment file, from the declarations by which `bench plan` checks it. A dot " +
		"stands between a block and a key in it, and `[]` behind a list: `network.links[].loss` is " +
		"`network: {links: [{loss: ...}]}`. An experiment needs `algorithms` and, unless they are named in " +
		"full, `problem`; every other key has a default. Where the default is empty, the key is not set. " +
		"Durations have a unit: ns, us, ms, s, m or h. [`bench init`](commands.md#bench-init) writes a " +
		"file " +
		"to begin with, and [`bench schema`](commands.md#bench-schema) a schema for editors.")
	var rows [][]string
	top := ""
	flush := func() {
		if rows != nil {
			p.heading(2, top)
			p.table(keyColumns, rows)
		}
		rows = nil
	}
	experiment.Every(func(n config.Nested) {
		if name, _, _ := strings.Cut(strings.SplitN(n.Path, ".", 2)[0], "["); name != top {
			flush()
			top = name
		}
		rows = append(rows, keyRow(n))
	})
	flush()
	writeKeys(p, "Distributions", "A duration of `network.latency`, of a link, and of some other keys may "+
		"be a "+
		"block: a `distribution` with its keys.", experiment.DistributionKeys())
	rows = nil
	for _, d := range link.Distributions() {
		rows = append(rows, []string{code(d.Name), plain(d.Doc), code(strings.Join(names(d.Law), ", ")),
			code("{distribution: " + d.Name + tail(d.Example) + "}")})
	}
	p.table([]string{"distribution", "meaning", "keys", "example"}, rows)
	writeKeys(p, "Expectations", "A value of `scenario.expect` is one value, or a block of bounds.",
		experiment.ExpectationKeys())
	p.heading(2, "Scenarios")
	rows = nil
	for _, k := range harness.Scenarios() {
		rows = append(rows, []string{code(k.Name), string(k.Problem), plain(k.Doc),
			code(strings.Join(k.Keys(), ", ")), code(k.Example)})
	}
	p.table([]string{"scenario", "problem", "what happens", "keys", "example"}, rows)
	p.heading(2, "Detectors")
	rows = nil
	for _, k := range harness.Detectors() {
		rows = append(rows, []string{code(k.Name), plain(k.Doc),
			code(strings.Join(param.Names(k.Params()), ", "))})
	}
	p.table([]string{"detector", "meaning", "keys"}, rows)
	writeFaults(p)
}

var keyColumns = []string{"key", "meaning", "type and bounds", "unit", "default", "example", "explained in"}

func writeKeys(p *page, title, about string, fields []config.Field) {
	p.heading(2, title)
	p.prose(about)
	var rows [][]string
	config.EveryOf(fields, func(n config.Nested) { rows = append(rows, keyRow(n)) })
	p.table(keyColumns, rows)
}

func keyRow(n config.Nested) []string {
	kind, preset := "a block", ""
	if n.Sub == nil {
		of := config.Of(n.Field)
		kind, preset = plain(of.Name), code(n.Preset())
		if of.Section != "" {
			kind += ": see [" + strings.ToLower(of.Section) + "](#" + strings.ToLower(of.Section) + ")"
		}
		switch {
		case n.Note != "":
			preset = plain(n.Note)
		case n.Required:
			preset = "to be given"
		}
	}
	about := n.Doc
	if !strings.Contains(about, "](#") {
		about = plain(about)
	}
	return []string{code(n.Path), about, kind, n.Unit, preset, code(exampleOf(n)), see(n.See)}
}

// exampleOf is the key as a file may say it; "" of a block, whose keys have examples.
func exampleOf(n config.Nested) string {
	if n.Example == "" {
		return ""
	}
	path := strings.Split(n.Path, ".")
	text := path[len(path)-1] + ": " + n.Example
	if n.With != "" && !strings.Contains(", "+n.With, ", "+path[len(path)-1]+":") {
		text = n.With + ", " + text
	}
	return text
}

func names(k param.Kind) []string { return param.Names(k.Params()) }

// tail is keys behind others.
func tail(keys string) string {
	if keys == "" {
		return ""
	}
	return ", " + keys
}

func writeFaults(p *page) {
	p.heading(2, "Faults and lines of scripts")
	p.prose("What an event can `do`: in `faults.events`, and in `scenario.events` of a script.")
	var rows [][]string
	for _, f := range fault.All() {
		where := "both"
		if f.Script {
			where = "scripts"
		}
		name := code(f.Name)
		if f.Also != "" {
			name += " or " + code(f.Also)
		}
		rows = append(rows, []string{name, plain(f.Doc), where, code(strings.Join(f.Takes, ", "))})
	}
	p.table([]string{"do", "meaning", "in", "keys"}, rows)
	for _, part := range []struct {
		title, column string
		rows          [][]string
	}{
		{"Whom an event happens to", "who", rowsOf(fault.Choices, func(c fault.Choice) (string, string) {
			return c.Name, c.Doc
		})},
		{"What an event waits for", "on", rowsOf(fault.Triggers, func(t fault.Trigger) (string, string) {
			return t.Name, t.Doc
		})},
		{"Shapes of partitions", "shape", rowsOf(fault.Shapes, func(l fault.Layout) (string, string) {
			return l.Name, l.Doc
		})},
	} {
		p.heading(2, part.title)
		p.table([]string{fmt.Sprintf("`%s`", part.column), "meaning"}, part.rows)
	}
}

func rowsOf[T any](list []T, of func(T) (name, doc string)) (rows [][]string) {
	for _, x := range list {
		name, doc := of(x)
		rows = append(rows, []string{code(name), plain(doc)})
	}
	return rows
}
