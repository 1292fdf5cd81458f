package main

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// say adds a block.
func (p *page) say(format string, args ...any) {
	if p.out.Len() > 0 {
		p.out.WriteString("\n")
	}
	fmt.Fprintf(&p.out, format+"\n", args...)
}

// prose adds a block of text, in lines of at most 100 columns.
func (p *page) prose(text string) { p.say("%s", fold(text)) }

// heading adds one of a level; 1 is the title's.
func (p *page) heading(level int, text string) { p.say("%s %s", strings.Repeat("#", level), text) }

// fence adds a block of code.
func (p *page) fence(language, text string) {
	p.say("```%s\n%s\n```", language, strings.Trim(text, "\n"))
}

// table adds a table, whose cells are Markdown. A column in which every cell is empty is left out.
func (p *page) table(columns []string, rows [][]string) {
	var kept []int
	for i := range columns {
		for _, row := range rows {
			if row[i] != "" {
				kept = append(kept, i)
				break
			}
		}
	}
	line := func(cell func(i int) string) string {
		var out strings.Builder
		out.WriteString("|")
		for _, i := range kept {
			fmt.Fprintf(&out, " %s |", cell(i))
		}
		return out.String()
	}
	lines := []string{line(func(i int) string { return columns[i] }),
		"|" + strings.Repeat("---|", len(kept))}
	for _, row := range rows {
		lines = append(lines, line(func(i int) string {
			return strings.ReplaceAll(strings.Join(strings.Fields(row[i]), " "), "|", `\|`)
		}))
	}
	p.say("%s", strings.Join(lines, "\n"))
}

const columns = 100

// fold breaks text into lines.
func fold(text string) string {
	var out strings.Builder
	width := 0
	for _, word := range strings.Fields(text) {
		switch {
		case width > 0 && width+1+len(word) > columns:
			out.WriteString("\n")
			width = 0
		case width > 0:
			out.WriteString(" ")
			width++
		}
		out.WriteString(word)
		width += len(word)
	}
	return out.String()
}

// code is text as code; "" stays empty.
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// sentence is a phrase that begins in upper case and ends in a full stop.
func sentence(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	if name := firstWord.FindString(text); strings.ContainsAny(name, "_`=") {
		return text // a name of the language
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

var (
	firstWord = regexp.MustCompile(`^\S+`)
	command   = regexp.MustCompile(`"((?:bench|node)[ a-z][^"]*)"`)
	flagName  = regexp.MustCompile(`(^|[\s(,])(--[a-z][a-z-]*|-[a-z]\b)`)
	between   = regexp.MustCompile("`[^`]*`")
	keyName   = regexp.MustCompile(`(^|[\s(,])([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\b`)
	document  = regexp.MustCompile(`\bdocs/(\S+\.md)\b`)
)

// plain is text of a help or a declaration as Markdown: commands and flags as code, and no character with a
// meaning outside code.
func plain(text string) string {
	text = command.ReplaceAllString(text, "`$1`")
	var out strings.Builder
	at := 0
	for _, span := range append(between.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		part := text[at:span[0]]
		part = strings.NewReplacer("<", `\<`, "*", `\*`, "[", `\[`, "]", `\]`).Replace(part)
		part = keyName.ReplaceAllString(part, "$1`$2`")
		part = flagName.ReplaceAllString(part, "$1`$2`")
		out.WriteString(document.ReplaceAllString(part, "[$1](../$1)"))
		out.WriteString(text[span[0]:span[1]])
		at = span[1]
	}
	return out.String()
}

// see is a link to a page, which is named from docs/, as its declarations do: "explanation/outages.md#led";
// "" of none.
func see(to string) string {
	if to == "" {
		return ""
	}
	file, heading, _ := strings.Cut(to, "#")
	name := cmp.Or(heading, strings.TrimSuffix(path.Base(file), ".md"))
	return fmt.Sprintf("[%s](../%s)", strings.ReplaceAll(name, "-", " "), to)
}
