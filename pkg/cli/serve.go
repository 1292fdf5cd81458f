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
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/report/serve"
	"github.com/conclave-bench/conclave/internal/commands/replay"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

func (s *streams) serveCommand() *cobra.Command {
	var port int
	c := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Show the runs in a folder to your browser",
		Long: `Show the runs in DIR (default: results) to a browser on this machine, until
Ctrl-C: an index, runs in progress with intervals that narrow, the reports of
those that have ended, and every trial, to step through it.

The address has a random token, and only this machine can reach it. Whoever has
the address can read the runs; nobody can change anything. From elsewhere, use
ssh -L PORT:127.0.0.1:PORT, with --port PORT.`,
		Example: `  bench serve
  bench serve results --port 8080`,
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
				return usage("bench serve: %v; want the folder that bench run --out has made", err)
			case !info.IsDir():
				return usage("bench serve: %s is no folder", dir)
			}
			p, err := s.pages(dir, port, nil)
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
	return c
}

// pages begins to serve the runs in dir. Measuring, unless nil, says why pages that take work
// cannot be had now.
func (s *streams) pages(dir string, port int, measuring func() string) (*serve.Pages, error) {
	// Each page has streams of its own, since a command and other pages go on beside it.
	drawings := func() *replay.Drawings {
		quiet := &streams{in: strings.NewReader(""), out: bufio.NewWriter(io.Discard), err: io.Discard,
			env: s.env, argv: s.argv}
		return &replay.Drawings{By: quiet.draw}
	}
	return serve.Start(port, serve.Options{
		Dir: dir, Verdict: answer.VerdictOf, Measuring: measuring, Log: log.New(io.Discard, "", 0),
		Report: func(dir, home string) ([]byte, error) {
			by := drawings()
			d, err := report.New([]string{dir}, report.Options{Diagram: by.SVG, Player: by.Page,
				Links: []metric.Field{{Name: "all trials", Value: "trials"},
					{Name: "all runs", Value: home}}})
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
			return "this run measures times, which the work for this page could lengthen: " +
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
