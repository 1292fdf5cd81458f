package main

import (
	"bytes"
	_ "embed" // the findings
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed findings.yaml
var findingsFile []byte

// Findings are what scenarios in configs show: the errata of the lecture notes, and
// how each algorithm breaks.
type Findings struct {
	Errata []Erratum
	Breaks []Break
}

// An Erratum is a passage of the notes that does not hold.
type Erratum struct {
	ID, Says, Right string
	Scenario        string // file in configs
	Shows           []Shown
}

// A Break is how an algorithm fails beyond what it survives; its Spec says it in
// words.
type Break struct {
	Algorithm, Scenario string
	Shows               []Shown
}

// Shown is what one trial of a scenario comes to. A test compares it with what the
// trial does.
type Shown struct {
	As      string // which trial it is, in words; empty: the only one
	Figures []Figure
}

// A Figure is one value of a trial: its status or reason, a count of messages, by
// kind too, which process leads, how many entered, a metric, or a line of its transcript.
type Figure struct{ Name, Value string }

// UnmarshalYAML reads a block like {as: as printed, status: timeout, messages: 16}.
func (s *Shown) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: want a block, as {messages: 16}", n.Line)
	}
	for i := 0; i < len(n.Content); i += 2 {
		name, value := n.Content[i].Value, n.Content[i+1].Value
		if name == "as" {
			s.As = value
		} else {
			s.Figures = append(s.Figures, Figure{name, value})
		}
	}
	return nil
}

func readFindings() (f Findings, err error) {
	dec := yaml.NewDecoder(bytes.NewReader(findingsFile))
	dec.KnownFields(true)
	if err = dec.Decode(&f); err != nil {
		err = fmt.Errorf("findings.yaml: %w", err)
	}
	return f, err
}

// prints is what a scenario shows, in a line.
func prints(shows []Shown) string {
	var runs []string
	for _, s := range shows {
		var parts []string
		for _, f := range s.Figures {
			parts = append(parts, f.words())
		}
		text := strings.Join(parts, ", ")
		if s.As != "" {
			text = s.As + ": " + text
		}
		runs = append(runs, text)
	}
	return strings.Join(runs, "; ")
}

func (f Figure) words() string {
	switch f.Name {
	case "status", "reason":
		return f.Value
	case "transcript":
		return "`" + f.Value + "`"
	case "leader":
		return f.Value + " leads"
	case "delivered":
		return f.Value + " delivered"
	case "messages", "entries", "violations":
		one := map[string]string{"messages": "message", "entries": "entry", "violations": "violation"}
		if f.Value == "1" {
			return "1 " + one[f.Name]
		}
		return f.Value + " " + f.Name
	}
	if strings.ToUpper(f.Name) == f.Name {
		return f.Value + " " + f.Name
	}
	return "`" + f.Name + "` " + f.Value
}

// errata is the table of the lecture notes' mistakes.
func errata(out *bytes.Buffer, f Findings) {
	out.WriteString(`
## Errata of the lecture notes

Many of the algorithms come from five sets of lecture notes: **A** on the election of
sites (bully by estimate, and trees), **B** and **D** on leader election in databases
(bully and its variations, invitations, rings, quorums), **C** on distributed mutual
exclusion (Naimi-Trehel and Raynal), **E** (here EN) on the election of a coordinator
(bully and ring). Not everything they say is true. Each row names a scenario that shows the
error, and what it prints; a test runs them all.

| erratum | the notes say | but | scenario | prints |
|---|---|---|---|---|
`)
	for _, e := range f.Errata {
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s |\n", e.ID, e.Says, e.Right, scenario(e.Scenario),
			prints(e.Shows))
	}
}

// scenario is a link to a file in configs; beside a figure lies its transcript.
func scenario(file string) string {
	name := strings.TrimSuffix(file, ".yaml")
	link := fmt.Sprintf("[%s](../../configs/%s)", name, file)
	if strings.HasPrefix(name, "figures/") {
		link += fmt.Sprintf(" ([transcript](../../configs/%s.txt))", name)
	}
	return link
}
