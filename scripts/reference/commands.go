package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/pkg/cli"
)

func writeCommands(p *page) {
	root := cli.Commands()
	all := commands(root)
	p.prose("Every command of `bench` with its flags, from the program's own declarations. " +
		"`bench COMMAND --help` prints the same. A word in capitals stands for a value.")
	for _, g := range groups(root) {
		var rows [][]string
		for _, c := range g.commands {
			rows = append(rows, []string{fmt.Sprintf("[`%s`](#%s)", c.CommandPath(), anchor(c)),
				plain(c.Short)})
		}
		p.table([]string{cmpTitle(g.title), "what it does"}, rows)
	}
	p.heading(2, "Flags of all commands")
	p.prose("These flags name programs in other languages that are algorithms ([the step protocol]" +
		"(protocol.md)). Only a command line names one: no experiment, run or archive starts a program.")
	writeFlags(p, root.PersistentFlags())
	p.heading(2, "Exit codes")
	p.prose("Every command ends with one of these codes. Where a command means something of its own by a " +
		"code, its section says so.")
	var rows [][]string
	for _, e := range answer.Codes {
		rows = append(rows, []string{e.Codes, e.Means})
	}
	p.table([]string{"exit code", "means"}, rows)
	for _, c := range all {
		writeCommand(p, c)
	}
	p.heading(2, "node")
	p.fence("text", cli.NodeHelp())
}

// A group is commands that help lists together.
type group struct {
	title    string
	commands []*cobra.Command
}

// groups are the groups of the commands right below the root, in the order of help.
func groups(root *cobra.Command) (out []group) {
	for _, g := range root.Groups() {
		out = append(out, group{title: strings.TrimSuffix(g.Title, ":")})
	}
	out = append(out, group{})
	for _, c := range root.Commands() {
		if !documented(c) {
			continue
		}
		at := len(out) - 1
		for i, g := range root.Groups() {
			if g.ID == c.GroupID {
				at = i
			}
		}
		out[at].commands = append(out[at].commands, c)
	}
	return out
}

func cmpTitle(title string) string {
	if title == "" {
		return "command"
	}
	return title
}

// commands are those below c and below them, each before those below it.
func commands(c *cobra.Command) (out []*cobra.Command) {
	for _, sub := range c.Commands() {
		if documented(sub) {
			out = append(append(out, sub), commands(sub)...)
		}
	}
	return out
}

// documented says whether help lists the command.
func documented(c *cobra.Command) bool { return !c.Hidden && c.Deprecated == "" }

// anchor is what links call the heading of a command.
func anchor(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

func writeCommand(p *page, c *cobra.Command) {
	level := 2
	if c.Parent().HasParent() {
		level = 3
	}
	p.heading(level, c.CommandPath())
	p.prose(plain(sentence(c.Short)))
	if c.Runnable() {
		p.fence("text", c.UseLine())
	}
	writeHelp(p, c.Long)
	writeFlags(p, c.LocalFlags())
	if c.Example != "" {
		p.fence("text", dedented(c.Example))
	}
}

// writeFlags is a table of flags, if there are some.
func writeFlags(p *page, flags *pflag.FlagSet) {
	var rows [][]string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			value, usage := pflag.UnquoteUsage(f)
			rows = append(rows, []string{code(name(f, value)), code(preset(f)), plain(usage)})
		}
	})
	if rows != nil {
		p.table([]string{"flag", "default", "meaning"}, rows)
	}
}

// name is a flag with what stands for its value.
func name(f *pflag.Flag, value string) string {
	out := "--" + f.Name
	if f.Shorthand != "" {
		out = "-" + f.Shorthand + ", " + out
	}
	if value != "" {
		out += " " + value
	}
	return out
}

// preset is the default of a flag; "" if it has none.
func preset(f *pflag.Flag) string {
	switch f.DefValue {
	case "false", "[]", "0", "0s":
		return ""
	}
	return f.DefValue
}

// writeHelp adds a long help text: lines that are indented are code, and the others paragraphs.
func writeHelp(p *page, text string) {
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		var lines []string
		isCode := func(line string) bool {
			return strings.HasPrefix(line, "  "+
				"") || strings.HasPrefix(line, "\t")
		}
		flush := func(asCode bool) {
			switch block := strings.Join(lines, "\n"); {
			case lines == nil:
			case asCode:
				p.fence("text", dedented(block))
			case strings.HasPrefix(block, "Exit codes: "):
				writeCodes(p, strings.TrimPrefix(block, "Exit codes: "))
			default: // a heading of cobra's own is none of the page
				p.prose(plain(strings.TrimLeft(block, "# ")))
			}
			lines = nil
		}
		for line := range strings.SplitSeq(part, "\n") {
			if lines != nil && isCode(line) != isCode(lines[0]) && !continues(lines, line) {
				flush(isCode(lines[0]))
			}
			lines = append(lines, line)
		}
		flush(lines != nil && isCode(lines[0]))
	}
}

// continues says whether a line that is indented belongs to the sentence before it, which was folded.
func continues(lines []string, line string) bool {
	return strings.HasPrefix(line, " ") && !strings.HasSuffix(lines[len(lines)-1], ":")
}

// writeCodes adds the exit codes of a command, as its help text has them.
func writeCodes(p *page, text string) {
	var rows [][]string
	text = strings.TrimSuffix(strings.Join(strings.Fields(text), " "), ".")
	for part := range strings.SplitSeq(text, "; ") {
		number, means, _ := strings.Cut(part, " ")
		if strings.HasSuffix(number, ",") { // 130, 143
			second, rest, _ := strings.Cut(means, " ")
			number, means = number+" "+second, rest
		}
		if strings.Trim(number, "0123456789, ") != "" && rows != nil {
			rows[len(rows)-1][1] += "; " + plain(part) // the meaning goes on
			continue
		}
		rows = append(rows, []string{number, plain(means)})
	}
	p.table([]string{"exit code", "means"}, rows)
}

// dedented is a block without the indentation that all its lines have.
func dedented(block string) string {
	lines := strings.Split(strings.ReplaceAll(strings.Trim(block, "\n"), "\t", "    "), "\n")
	least := -1
	for _, line := range lines {
		if own := len(line) - len(strings.TrimLeft(line, " ")); line != "" && (least < 0 || own < least) {
			least = own
		}
	}
	for i, line := range lines {
		lines[i] = line[min(max(least, 0), len(line)):]
	}
	return strings.Join(lines, "\n")
}
