package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/commands/outcome"
)

// writeDocument writes a document to a file, beside what the command prints.
func writeDocument(path, format string, d *answer.Document) error {
	text, err := d.In(format)
	if err != nil {
		return err
	}
	return files.Write(path, text)
}

// inText is a document as a terminal shows it.
func inText(d *answer.Document) string {
	var text strings.Builder
	if err := answer.Formats()[0].Write(&text, d); err != nil { // a builder takes everything
		panic("cli: " + err.Error())
	}
	return text.String()
}

// answering completes a command that answers with a document: its flags choose the format, and
// its exit code is that of the document. An error beside a document is told behind it.
func (s *streams) answering(c *cobra.Command,
	ask func(args []string) (*answer.Document, error)) *cobra.Command {
	var names, docs []string
	for _, f := range answer.Formats() {
		names, docs = append(names, f.Name), append(docs, f.Name+" ("+f.Doc+")")
	}
	var format, file string
	flags := c.Flags()
	flags.StringVar(&format, "format", names[0], "write `FORMAT`: "+strings.Join(docs, ", "))
	inJSON := jsonFlag(c, &format)
	if flags.Lookup("out") == nil {
		flags.StringVar(&file, "out", "", "write to `FILE` instead of standard output")
	}
	choices(c, "format", names)
	c.RunE = func(_ *cobra.Command, args []string) error {
		if err := inJSON(); err != nil {
			return err
		}
		how := answer.Named(format)
		if how == nil {
			return oneOf("format", format, names)
		}
		d, failed := ask(args)
		if d == nil {
			return failed
		}
		if failed != nil {
			d.End(answer.ExitOf(failed), failed.Error())
		} else if d.Exit != Good && d.Verdict == answer.Fine {
			d.Verdict = answer.Meaning(d.Verb, d.Exit)
		}
		if file == "" {
			d.Columns = s.columns
		}
		var text bytes.Buffer
		if err := how.Write(&text, d); err != nil {
			return err
		}
		if err := s.output(file, text.Bytes()); err != nil {
			return err
		}
		for _, text := range d.Asides(how.Name == names[0] && file == "") {
			s.say(text)
		}
		if failed != nil {
			return failed
		}
		if d.Exit != Good {
			return exit(d.Exit)
		}
		return nil
	}
	return c
}

// jsonFlag adds --json, which is short for a value of --format. What it returns lets that flag have it.
func jsonFlag(c *cobra.Command, format *string) func() error {
	var given bool
	c.Flags().BoolVar(&given, "json", false, "the same as --format json")
	return func() error {
		switch {
		case !given:
		case c.Flags().Changed("format") && *format != "json":
			return usage("%s: both --json and --format %s; leave one out", c.CommandPath(), *format)
		default:
			*format = "json"
		}
		return nil
	}
}

// working is answering for what takes long: a signal ends its context.
func (s *streams) working(c *cobra.Command,
	ask func(ctx context.Context, args []string) (*answer.Document, error)) *cobra.Command {
	return s.answering(c, func(args []string) (*answer.Document, error) {
		ctx, stop := s.interruptible(context.Background())
		defer stop()
		return ask(ctx, args)
	})
}

// violations says which promises were broken, and where, of the first of them.
func (s *streams) violations() func(where, text string) {
	told := 0
	return func(where, text string) {
		if told++; told <= outcome.MostTold {
			s.say(fmt.Sprintf("violation: %s: %s", where, text))
		}
	}
}
