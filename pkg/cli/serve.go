package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/report/export"
	"github.com/conclave-bench/conclave/internal/answers/report/serve"
	"github.com/conclave-bench/conclave/internal/answers/theme"
	"github.com/conclave-bench/conclave/internal/commands/fleet"
	"github.com/conclave-bench/conclave/internal/commands/history"
	"github.com/conclave-bench/conclave/internal/commands/replay"
	"github.com/conclave-bench/conclave/internal/runs/hub"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
)

func (s *streams) serveCommand() *cobra.Command {
	var port int
	var histories []string
	c := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Show all runs in a browser, finished and in progress",
		Long: `Serve a live web page of all runs in DIR (default: results), finished and in
progress, to a browser on this machine, until Ctrl-C: an index that compares two
runs and saves archives, curves that grow while a run goes on, reports, and
every trial step by step. The index links the trends of each --history (default:
` + defaultStore + `, here or in DIR).

The address holds a random token; anyone who has it can read the runs but
change nothing. From another machine, use ssh -L PORT:127.0.0.1:PORT with
--port PORT.`,
		Example: `  bench serve
  bench serve results --port 8080
  bench serve results --history git:refs/notes/conclave`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "results"
			switch {
			case len(args) > 1:
				return usage("bench serve: %q: takes one folder", args[1])
			case len(args) == 1:
				dir = args[0]
			}
			switch info, err := os.Stat(dir); {
			case err != nil:
				return usage("bench serve: %v; expected the folder that bench run --out has made", err)
			case !info.IsDir():
				return usage("bench serve: %s is no folder", dir)
			}
			if histories == nil {
				histories = foundHistories(dir)
			}
			p, err := s.pages(dir, port, nil, histories...)
			if err != nil {
				return err
			}
			defer func() { _ = p.Close() }() // nobody is served any more
			fmt.Fprintln(s.out, p.URL(""))
			if err := s.out.Flush(); err != nil {
				return err
			}
			s.say("serving " + dir + " until Ctrl-C")
			return p.Wait()
		},
	}
	c.Flags().IntVar(&port, "port", 0, "listen to `PORT` (default: one that is free)")
	c.Flags().StringArrayVar(&histories, "history", nil,
		"show the trends of the history at `PLACE`, a folder or git:REF; repeatable")
	return c
}

// foundHistories are the histories that are where one is usually, here or in the folder of the runs.
func foundHistories(dir string) (found []string) {
	for _, place := range []string{defaultStore, filepath.Join(dir, defaultStore)} {
		if history.Is(place) && !slices.Contains(found, place) {
			found = append(found, place)
		}
	}
	return found
}

// pages begins to serve the runs in dir, and histories. Measuring, unless nil, says why pages that take work
// cannot be had now.
func (s *streams) pages(dir string, port int, measuring func() string, histories ...string) (*serve.Pages,
	error) {
	// Each page has streams of its own, since a command and other pages go on beside it.
	drawings := func() *replay.Drawings {
		quiet := &streams{in: strings.NewReader(""), out: bufio.NewWriter(io.Discard), err: io.Discard,
			env: s.env, argv: s.argv}
		return &replay.Drawings{By: quiet.draw}
	}
	return serve.Start(port, serve.Options{
		Dir: dir, Measuring: measuring, Log: log.New(io.Discard, "", 0),
		Report: func(dir string, links ...theme.Link) ([]byte, error) {
			by := drawings()
			d, err := report.New([]string{dir},
				report.Options{Diagram: by.SVG, Player: by.Page, Links: links})
			if err != nil {
				return nil, err
			}
			if h, err := results.ReadHeader(dir); err == nil && h.Run != "" {
				d.Title += ", " + h.Run
			}
			var page bytes.Buffer
			err = d.WritePage(&page)
			return page.Bytes(), err
		},
		// It opens at the first broken promise.
		Trial: func(dir string, number int) ([]byte, error) {
			page, err := drawings().By(&replay.Sketch{Dir: dir, Number: number, Formats: []string{"html"},
				Back: "trials"})
			if err != nil {
				return nil, err
			}
			return page[0], nil
		},
		Compare: func(base, new string, links ...theme.Link) ([]byte, error) {
			d, err := compare.Runs(base, new, compare.Usual())
			if err != nil {
				return nil, err
			}
			var page bytes.Buffer
			err = d.Page(&page, links...)
			return page.Bytes(), err
		},
		Histories: histories,
		History: func(place string, links ...theme.Link) ([]byte, error) {
			return history.Trends(context.Background(), place, links...)
		},
		Archive: export.Archive,
		Prices: func() map[string]float64 {
			own, err := hub.FleetFolder()
			if err != nil {
				return nil
			}
			return fleet.Prices(filepath.Dir(string(own)))
		},
	})
}

// A watched run is shown while it goes on. Nil is one that is not.
type watched struct {
	*serve.Pages
	ctx  context.Context // of the run
	real atomic.Bool     // times are being measured
}

// watch begins to show a run at a port, beside the other runs of the folder out; "": alone.
func (s *streams) watch(ctx context.Context, port int, out string, e *experiment.Experiment,
	folder *results.Folder) (*watched, error) {
	w := &watched{ctx: ctx}
	w.real.Store(!e.Virtual())
	dir, id := folder.Dir(), filepath.Base(folder.Dir())
	if out != "" {
		relative, err := filepath.Rel(out, dir)
		if err != nil {
			return nil, err
		}
		dir, id = out, filepath.ToSlash(relative)
	}
	var err error
	w.Pages, err = s.pages(dir, port, func() string {
		if w.real.Load() {
			return "this run measures times, which rendering this page could lengthen: " +
				"look again when the run has ended"
		}
		return ""
	})
	if err != nil {
		return nil, err
	}
	s.say("watch       " + w.URL(id))
	return w, nil
}

// measured says that no more times are measured.
func (w *watched) measured() {
	if w != nil {
		w.real.Store(false)
	}
}

// end ends the pages: at once, or on a terminal when somebody says so.
func (w *watched) end(s *streams) {
	if w == nil {
		return
	}
	defer func() { _ = w.Close() }()
	if w.ctx.Err() != nil && context.Cause(w.ctx) != context.Canceled || s.terminal() == nil {
		return
	}
	s.say("still serving; Ctrl-C ends")
	if err := w.Wait(); err != nil {
		s.say(err.Error())
	}
}
