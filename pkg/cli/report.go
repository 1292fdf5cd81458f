package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/report"
	drawing "github.com/conclave-bench/conclave/internal/answers/report/figure"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/commands/replay"
)

// reportName is the file that bench report writes by default.
const reportName = "report.html"

func (s *streams) reportCommand() *cobra.Command {
	var f reportFlags
	c := &cobra.Command{
		Use:   "report DIR...",
		Short: "Write an HTML report of one or more runs, and figures",
		Long: `Write one HTML file about the runs in the folders: the experiment, the ranking,
a table to sort and filter, charts, violations with their diagrams, and caveats.
It needs no network. Several runs are shown side by side. A folder that has only
trials.csv is enough, and so is the file itself.

--figures DIR also writes the few charts that answer the experiment's question,
as SVG, PDF and PNG, as wide as a column of a paper. --metrics, --x, --series
and --where choose others, and --all writes every chart.`,
		Example: `  bench report results/quickstart/latest
  bench report results/quickstart/latest --figures out --metrics messages
  bench report results/quickstart/latest --figures figures --all --json`,
		Args: cobra.ArbitraryArgs,
	}
	flags := c.Flags()
	flags.StringVar(&f.out, "out", "",
		"write the page to `FILE` (default: "+reportName+" in the run's folder, "+
			"and here if there are several)")
	flags.StringVar(&f.figures, "figures", "", "also write charts as SVG, PDF and PNG into `DIR`")
	flags.StringSliceVar(&f.draw.Metrics, "metrics", nil,
		"of figures: draw these `COLUMNS` of trials.csv (default: those that answer the question)")
	// The letter is there for the shell: cobra completes no long flag of one letter.
	flags.StringVarP(&f.draw.X, "x", "x", "", "of figures: the `COLUMN` along the horizontal axis")
	flags.StringVar(&f.draw.Series, "series", "",
		"of figures: the `COLUMN` that has a line for each value (default: the algorithm)")
	flags.StringArrayVar(&f.where, "where", nil,
		"of figures: only cells where `COLUMN=VALUE`; repeatable: all must hold")
	f.size.add(flags, "of figures")
	flags.BoolVar(&f.draw.All, "all", false, "of figures: write every chart")
	return s.answering(c, func(args []string) (*answer.Document, error) {
		if len(args) == 0 {
			return nil, usage("bench report: expected one or more folders of results, as " +
				"bench report results/quickstart/latest")
		}
		if err := f.figured(c); err != nil {
			return nil, err
		}
		return s.report(args, &f)
	})
}

// reportFlags are the flags of bench report.
type reportFlags struct {
	out, figures string
	where        []string
	draw         drawing.Options
	size         sizeFlags
}

// figured reads the flags of figures.
func (f *reportFlags) figured(c *cobra.Command) (err error) {
	if f.figures == "" {
		for _, name := range append([]string{"metrics", "x", "series", "where", "all"}, sizeNames...) {
			if c.Flags().Changed(name) {
				return usage("--%s means nothing without --figures DIR, the folder of the figures", name)
			}
		}
		return nil
	}
	o := &f.draw
	if o.All && (len(o.Metrics) > 0 || o.X != "" || o.Series != "") {
		return usage("--all draws everything: leave it out, or --metrics, --x and --series")
	}
	if o.Where, err = view.ReadWhere(f.where); err != nil {
		return err
	}
	return f.size.read(o, len(o.Metrics))
}

func (s *streams) report(paths []string, f *reportFlags) (*answer.Document, error) {
	frugal(false)
	broken := &replay.Drawings{By: s.draw}
	d, err := report.New(paths, report.Options{Diagram: broken.SVG, Player: broken.Page})
	if err != nil {
		return nil, err
	}
	out := f.out
	if out == "" {
		out = reportPlace(d)
	}
	if err := replaceable("report", out, report.Generator); err != nil {
		return nil, err
	}
	var page bytes.Buffer
	if err := d.WritePage(&page); err != nil {
		return nil, err
	}
	if err := files.Write(out, page.Bytes()); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	a := d.Document(out, page.Len())
	if f.figures != "" {
		where := slices.Clone(f.draw.Where)
		names, instead, err := drawing.Write(d, f.figures, f.draw)
		var wrong *report.Mistake
		if errors.As(err, &wrong) {
			return nil, usage("bench report: %s", wrong)
		}
		if err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
		a.Add(answer.Facts{{Name: "figures", Value: f.figures,
			Line: f.figures + ": " + console.Plural(len(names), "figure", "figures")}})
		for _, name := range names {
			a.Add(answer.File{Name: "figure", Path: filepath.Join(f.figures, name)})
		}
		for _, text := range instead {
			text = "no figure of " + text
			a.Add(answer.Note{Text: text, Line: "note: " + text, Aside: true})
		}
		if len(names)+len(instead) == 0 && len(where) > 0 {
			text := "note: no figure: " + view.None(where)
			a.Add(answer.Note{Text: "no figure: " + view.None(where), Line: text, Aside: true})
		}
	}
	return a, broken.Failed
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

// replaceable refuses to write over what the command has not made, as its page's generator
// tells.
func replaceable(command, path, generator string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", command, err)
	case info.IsDir():
		return usage("--out %s: a folder, expected a file such as %s", path,
			filepath.Join(path, command+".html"))
	case !info.Mode().IsRegular():
		return nil // a pipe or a device is written to
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	defer file.Close() // opened for reading: nothing can be lost
	text, err := io.ReadAll(io.LimitReader(file, 4096))
	if err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	if !strings.Contains(string(text), `content="`+generator+`"`) {
		return usage("%s exists and is no %s of bench; name another file with --out", path, command)
	}
	return nil
}
