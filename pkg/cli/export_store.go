package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conclave-bench/conclave/internal/answers/report/export"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/pkg/results"
)

// exportStore has the tables of a run written as they are.
func (s *streams) exportStore(c *cobra.Command, store *export.Store, out string, args []string) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "format" && f.Name != "out" && err == nil {
			err = usage("--%s means nothing to --format %s, which has whole tables; leave it out", f.Name,
				store.Name)
		}
	})
	if err != nil {
		return err
	}
	if out == "" {
		what := "a file: --out run.db"
		if store.Several {
			what = "a folder, with a file for each table: --out DIR"
		}
		return usage("bench export: --format %s makes %s", store.Name, what)
	}
	if info, err := os.Stat(out); err == nil && info.IsDir() != store.Several {
		if store.Several {
			return usage("--out %s: a file, and --format %s wants a folder", out, store.Name)
		}
		return usage("--out %s: a folder, expected a file", out)
	}
	sheets, err := results.ReadSheets(args[0])
	if err != nil {
		return err
	}
	if m := sheets.Manifest; m != nil {
		s.noteIncomplete(sheets.Path, sheets.Header, m, m.Finished)
	}
	ctx, stop := s.interruptible(context.Background())
	defer stop()
	if err := store.Request(sheets, out).Write(ctx, s.say); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	s.say("wrote " + out)
	return nil
}

// noteIncomplete warns of a run that goes on or was ended early: its figures are not
// yet those that it was planned for.
func (s *streams) noteIncomplete(path string, h *results.Header, m *results.Manifest, trials int) {
	if h == nil {
		return
	}
	switch {
	case (m == nil || !m.Complete) && results.Running(path):
		s.say(fmt.Sprintf("note: the run is in progress: %d of %d trials", trials, h.Planned))
	case m == nil && trials == h.Planned:
		s.say(fmt.Sprintf("note: %s has no %s: the run is in progress or was killed, or the file "+
			"was removed; %s writes "+
			"it", path, results.ManifestFile, program.Command("run", "--resume", path)))
	case m == nil || !m.Complete:
		s.say(fmt.Sprintf("note: the run is not complete: %d of %d trials; %s continues it",
			trials, h.Planned, program.Command("run", "--resume", path)))
	}
}
