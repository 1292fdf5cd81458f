package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/report"
	drawing "github.com/conclave-bench/conclave/internal/report/figure"
)

// reportName is the file that bench report writes unless it is told another.
const reportName = "report.html"

// A reportReport says to programs what bench report wrote.
type reportReport struct {
	Schema  int      `json:"schema_version"`
	Page    string   `json:"page"`
	Bytes   int      `json:"bytes"`
	Cells   int      `json:"cells"`
	Figures []string `json:"figures"`
	Notes   []string `json:"notes"`
}

func (s *streams) reportCommand() *cobra.Command {
	var out, figures string
	var asJSON bool
	c := &cobra.Command{
		Use:   "report DIR...",
		Short: "Write an HTML report of one or more runs, and figures",
		Long: `Write one HTML file about the runs in the folders: the experiment, a table to
sort and filter, charts, violations with their diagrams, and caveats. It needs
no network. Several runs are shown side by side, with a column "run". A folder
that has only trials.csv is enough, and so is the file itself.

With --figures DIR the charts are also written as SVG, PDF and PNG, as wide as
a column of a paper.`,
		Example: `  bench report results/quickstart/latest
  bench report results/quickstart/latest --out quickstart.html --figures figures
  bench report results/quickstart/latest --out quickstart.html --json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("bench report: want one or more folders of results, as " +
					"bench report results/quickstart/latest")
			}
			return s.report(args, out, figures, asJSON)
		},
	}
	flags := c.Flags()
	flags.StringVar(&out, "out", "",
		"write the page to `FILE` (default: "+reportName+" in the run's folder, "+
			"and here if there are several)")
	flags.StringVar(&figures, "figures", "", "also write the charts as SVG, PDF and PNG into `DIR`")
	flags.BoolVar(&asJSON, "json", false, "print what was written as JSON")
	return c
}

func (s *streams) report(paths []string, out, figures string, asJSON bool) error {
	d, err := report.New(paths, report.Options{Diagram: s.brokenPromise})
	if err != nil {
		return err
	}
	if out == "" {
		out = reportPlace(d)
	}
	if err := replaceable(out); err != nil {
		return err
	}
	var page bytes.Buffer
	if err := d.WritePage(&page); err != nil {
		return err
	}
	if err := writeWhole(out, page.Bytes()); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	r := reportReport{
		Schema: 1, Page: out, Bytes: page.Len(), Cells: len(d.Cells), Figures: []string{},
		Notes: append([]string{}, d.Notes...),
	}
	if figures != "" {
		names, err := drawing.Write(d, figures)
		r.Figures = append(r.Figures, names...)
		if err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	if asJSON {
		return writeJSON(s.out, r)
	}
	fmt.Fprintf(s.out, "%s: %s of %s, %.1f MB\n", out, report.Plural(len(d.Cells), "cell", "cells"),
		report.Plural(len(d.Runs), "run", "runs"), float64(r.Bytes)/1e6)
	if figures != "" {
		fmt.Fprintf(s.out, "%s: %s\n", figures, report.Plural(len(r.Figures), "figure", "figures"))
	}
	return nil
}

// reportPlace is where the page goes that nobody has named a place for.
func reportPlace(d *report.Data) string {
	if len(d.Runs) > 1 {
		return reportName
	}
	path := d.Runs[0].Path
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		path = filepath.Dir(path)
	}
	return filepath.Join(path, reportName)
}

// replaceable refuses to write over what is no report.
func replaceable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("report: %w", err)
	case info.IsDir():
		return usage("--out %s: a folder, want a file such as %s", path, filepath.Join(path, reportName))
	case !info.Mode().IsRegular():
		return nil // a pipe or a device is written to
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	defer file.Close() // opened for reading: nothing can be lost
	text, err := io.ReadAll(io.LimitReader(file, 4096))
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if !strings.Contains(string(text), `content="`+report.Generator+`"`) {
		return usage("%s exists and is no report of bench; name another file with --out", path)
	}
	return nil
}
