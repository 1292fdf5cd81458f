package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/report/export"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/pkg/experiment"
)

// exportFlags are the flags of bench export.
type exportFlags struct {
	format, out, config string
	citation            string
	over, x, series     string
	quantiles           []float64
	cells               cellFlags
	size                sizeFlags
}

// cellFlags say which figures of which cells are written.
type cellFlags struct{ metrics, where []string }

// add adds the flags; usual are the metrics where none are named.
func (f *cellFlags) add(flags *pflag.FlagSet, usual string) {
	flags.StringSliceVar(&f.metrics, "metrics", nil, "`COLUMNS` of trials.csv to write (default: "+usual+")")
	flags.StringArrayVar(&f.where, "where", nil, "only cells where `COLUMN=VALUE`; repeatable: all must hold")
}

// benchConfigs are the values of --bench-config.
var benchConfigs = []string{"default", "full"}

func (s *streams) exportCommand() *cobra.Command {
	var f exportFlags
	names := export.Names()
	var about strings.Builder
	for _, format := range export.Formats() {
		fmt.Fprintf(&about, "  %-9s %s\n", format.Name, format.Doc)
	}
	for _, store := range export.Stores() {
		fmt.Fprintf(&about, "  %-9s %s\n", store.Name, store.Doc)
	}
	c := &cobra.Command{
		Use:   "export DIR",
		Short: "Write a run in the format of another tool",
		Long: `Write what a run measured in the format of another tool. DIR is the folder
of a run, or of an experiment for its latest run, or a file like trials.csv.
docs/how-to/export.md describes the formats:

` + about.String() + `
Figures are medians over trials with 95 % intervals. gobench, parquet and
sqlite have every trial, hgrm has every operation, and ro-crate has no figures.
` + export.StoreProgram + ` writes parquet and sqlite.`,
		Example: `  bench export results/quickstart/latest --format gobench
  bench export results/quickstart/latest --format latex --where nodes=5
  bench export results/quickstart/latest --format csv --over operations
  bench export results/quickstart/latest --format github --out benchmarks
  bench export results/quickstart/latest --format ro-crate`,
		Args: cobra.ArbitraryArgs,
	}
	inJSON := jsonFlag(c, &f.format)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := inJSON(); err != nil {
			return err
		}
		return s.export(c, &f, args)
	}
	flags := c.Flags()
	flags.StringVar(&f.format, "format", "", "write `FORMAT`: "+strings.Join(names, ", "))
	flags.StringVar(&f.out, "out", "",
		"write to `FILE`, or to a folder if the format has several files (default: standard output)")
	f.cells.add(flags, "the main ones; all for csv and json")
	flags.StringVarP(&f.x, "x", "x", "", "pgfplots: the `COLUMN` along the horizontal axis")
	flags.StringVar(&f.series, "series", "",
		"pgfplots: the `COLUMN` that has a line for each value (default: the algorithm)")
	f.size.add(flags, "pgfplots")
	flags.StringVar(&f.over, "over", experiment.Overs[0],
		"`WHAT` figures are over: trials; or operations: csv, json, markdown, latex")
	flags.Float64SliceVar(&f.quantiles, "quantiles", nil,
		"with --over operations: the quantiles, in `PERCENT`, as 50,99,99.9,99.99 (default: 50,95,99)")
	flags.StringVar(&f.config, "bench-config", benchConfigs[0],
		"write `AMOUNT` of configuration in gobench: "+strings.Join(benchConfigs, ", "))
	flags.StringVar(&f.citation, "citation", "",
		"ro-crate: the CITATION.cff in `FILE` names authors and licence of the run")
	choices(c, "format", names)
	choices(c, "over", experiment.Overs)
	choices(c, "bench-config", benchConfigs)
	return c
}

func (s *streams) export(c *cobra.Command, f *exportFlags, args []string) error {
	for _, store := range export.Stores() {
		if store.Name == f.format && len(args) == 1 {
			return s.exportStore(c, &store, f.out, args)
		}
	}
	format, options, err := f.parse(c, args)
	if err != nil {
		return err
	}
	frugal(false)
	run, err := export.Read(args[0])
	if err != nil {
		return err
	}
	s.noteIncomplete(run.Path, run.Header, run.Manifest, len(run.Trials))
	files, err := format.Write(run, options)
	var wrong *report.Mistake
	if errors.As(err, &wrong) {
		return usage("bench export: %s", wrong)
	}
	if err != nil {
		return err
	}
	if len(view.Filter(run.Table, options.Where).Trials) == 0 {
		s.say("note: " + view.None(options.Where))
	}
	for _, file := range files {
		for _, text := range file.Notes {
			s.say("note: " + text)
		}
	}
	return s.deliver(format, files, f.out)
}

// parse reads the flags, as far as they do not depend on the run.
func (f *exportFlags) parse(c *cobra.Command, args []string) (*export.Format, export.Options, error) {
	o := export.Options{Metrics: f.cells.metrics, Full: f.config == "full"}
	o.Draw.X, o.Draw.Series = f.x, f.series
	if len(args) != 1 {
		return nil, o, usage("bench export: %d folders, expected one, as "+
			"bench export results/quickstart/latest --format gobench", len(args))
	}
	if f.format == "" {
		return nil, o, usage("bench export: expected --format FORMAT, one of: %s",
			strings.Join(export.Names(), ", "))
	}
	format, err := export.Find(f.format)
	if err != nil {
		return nil, o, usage("bench export: %v", err)
	}
	if err := oneOf("over", f.over, experiment.Overs); err != nil {
		return nil, o, err
	}
	o.Operations, o.Quantiles = f.over == experiment.OverOperations, f.quantiles
	if len(f.quantiles) > 0 && !o.Operations {
		return nil, o, usage("--quantiles are over operations: add --over operations")
	}
	for _, q := range f.quantiles {
		if !(q > 0 && q < 100) {
			return nil, o, usage("--quantiles %v, expected percentages above 0 and below 100", q)
		}
	}
	if err := oneOf("bench-config", f.config, benchConfigs); err != nil {
		return nil, o, err
	}
	if o.Full && format.Name != "gobench" {
		return nil, o, usage("--bench-config means nothing to --format %s; leave it out", format.Name)
	}
	for _, name := range append([]string{"x", "series"}, sizeNames...) {
		if format.Name != "pgfplots" && c.Flags().Changed(name) {
			return nil, o, usage("--%s means nothing to --format %s; leave it out", name, format.Name)
		}
	}
	if f.citation != "" {
		if format.Name != "ro-crate" {
			return nil, o, usage("--citation means nothing to --format %s; leave it out", format.Name)
		}
		if o.Citation, err = export.ReadCitation(f.citation); err != nil {
			return nil, o, usage("--citation: %v", err)
		}
	}
	if err := f.size.read(&o.Draw, len(f.cells.metrics)); err != nil {
		return nil, o, err
	}
	o.Where, err = view.ReadWhere(f.cells.where)
	return format, o, err
}

// deliver writes the files to where they were asked for.
func (s *streams) deliver(format *export.Format, files []export.File, out string) error {
	if at := slices.IndexFunc(files, func(f export.File) bool { return f.Beside }); out == "" && at >= 0 {
		s.say("note: this run has caveats, which --out FILE writes beside FILE")
		files = slices.Delete(files, at, at+1)
	}
	switch {
	case out == "" && len(files) > 1:
		var names []string
		for _, f := range files[:min(len(files), 3)] {
			names = append(names, f.Name)
		}
		return usage("bench export: --format %s makes %d files (%s, ...): say where with --out DIR",
			format.Name, len(files), strings.Join(names, ", "))
	case len(files) == 0:
		return nil
	case out == "":
		_, err := s.out.Write(files[0].Data)
		return err
	case !format.Several:
		name := files[0].Name
		for _, f := range files {
			f.Name = filepath.Base(out) + strings.TrimPrefix(f.Name, name)
			if err := s.place(filepath.Dir(out), f); err != nil {
				return err
			}
		}
		return nil
	}
	if info, err := os.Stat(out); err == nil && !info.IsDir() {
		return usage("--out %s: a file, and --format %s wants a folder", out, format.Name)
	}
	for _, f := range files {
		if err := s.place(out, f); err != nil {
			return err
		}
	}
	return nil
}

// place writes a file into dir, which it makes if need be.
func (s *streams) place(dir string, f export.File) error {
	path := filepath.Join(dir, f.Name)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return usage("--out %s: a folder, expected a file", path)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if err := files.Write(path, f.Data); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	s.say("wrote " + path)
	return nil
}
