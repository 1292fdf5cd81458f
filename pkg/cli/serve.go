package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/replay"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/internal/report/serve"
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
			p, err := s.serve(dir, port, nil)
			if err != nil {
				return err
			}
			defer p.close()
			fmt.Fprintln(s.out, p.server.URL(""))
			if err := s.out.Flush(); err != nil {
				return err
			}
			s.say("serving " + dir + " until Ctrl-C")
			return p.wait()
		},
	}
	c.Flags().IntVar(&port, "port", 0, "listen to `PORT` (default: one that is free)")
	return c
}

// pages are those that this process serves. Nil serves none.
type pages struct {
	server *serve.Server
	ended  chan error
}

// serve begins to serve the runs in dir. Measuring, unless nil, says why pages that take work
// cannot be had now.
func (s *streams) serve(dir string, port int, measuring func() string) (*pages, error) {
	if port < 0 || port > 65535 {
		return nil, usage("--port %d: want 1 to 65535, or 0 for one that is free", port)
	}
	// Each page has streams of its own, since a command and other pages go on beside it.
	quiet := func() *streams {
		return &streams{in: strings.NewReader(""), out: bufio.NewWriter(io.Discard), err: io.Discard,
			env: s.env, argv: s.argv}
	}
	server, l, err := serve.Listen(port, serve.Options{
		Dir: dir, Verdict: verdictOf, Measuring: measuring, Log: log.New(io.Discard, "", 0),
		Report: func(dir, home string) ([]byte, error) { return quiet().servedReport(dir, home) },
		Trial:  func(dir string, number int) ([]byte, error) { return quiet().servedTrial(dir, number) },
	})
	var taken *net.OpError
	if errors.As(err, &taken) && port != 0 {
		return nil, usage("--port %d: %v; leave it out, and a free one is taken", port, taken.Err)
	}
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	p := &pages{server: server, ended: make(chan error, 1)}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			p.ended <- err
		}
	}()
	return p, nil
}

// wait waits for Ctrl-C. An error says why the pages ended before it.
func (p *pages) wait() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	select {
	case <-ctx.Done():
		return nil
	case err := <-p.ended:
		return fmt.Errorf("serve: %w", err)
	}
}

func (p *pages) close() {
	if p != nil {
		_ = p.server.Close() // nothing is written that could be lost
	}
}

// servedReport is the report of a run, with the way back.
func (s *streams) servedReport(dir, home string) ([]byte, error) {
	broken := &replay.Drawings{By: s.draw}
	d, err := report.New([]string{dir}, report.Options{Diagram: broken.SVG, Player: broken.Page,
		Links: []metric.Field{{Name: "all trials", Value: "trials"}, {Name: "all runs", Value: home}}})
	if err != nil {
		return nil, err
	}
	if h, err := results.ReadHeader(dir); err == nil && h.Run != "" {
		d.Title += ", " + h.Run
	}
	var page bytes.Buffer
	err = d.WritePage(&page)
	return page.Bytes(), err
}

// servedTrial is the page to step through a trial, with the way back. It opens at the first
// broken promise.
func (s *streams) servedTrial(dir string, number int) ([]byte, error) {
	page, err := s.draw(&replay.Sketch{Dir: dir, Number: number, Formats: []string{"html"}, Back: "trials"})
	if err != nil {
		return nil, err
	}
	return page[0], nil
}

// A watched run is shown while it goes on. Nil is one that is not.
type watched struct {
	*pages
	streams *streams
	ctx     context.Context // of the run
	real    atomic.Bool     // times are being measured
}

// watch begins to show a run, if that is asked for.
func (s *streams) watch(ctx context.Context, f *runFlags, e *experiment.Experiment,
	folder *results.Folder) (*watched, error) {
	if !f.serve {
		return nil, nil
	}
	w := &watched{streams: s, ctx: ctx}
	w.real.Store(!e.Virtual())
	dir, id := folder.Dir(), filepath.Base(folder.Dir())
	if f.resume == "" {
		relative, err := filepath.Rel(f.out, dir)
		if err != nil {
			return nil, err
		}
		dir, id = f.out, filepath.ToSlash(relative)
	}
	var err error
	w.pages, err = s.serve(dir, f.port, func() string {
		if w.real.Load() {
			return "this run measures times, which the work for this page could lengthen: " +
				"look again when the run has ended"
		}
		return ""
	})
	if err != nil {
		return nil, err
	}
	s.say("watch       " + w.server.URL(id))
	return w, nil
}

// measured says that no more times are measured.
func (w *watched) measured() {
	if w != nil {
		w.real.Store(false)
	}
}

// end ends the pages: at once, or on a terminal when somebody says so.
func (w *watched) end() {
	if w == nil {
		return
	}
	defer w.close()
	if w.ctx.Err() != nil && context.Cause(w.ctx) != context.Canceled || w.streams.terminal() == nil {
		return
	}
	w.streams.say("still serving; Ctrl-C ends")
	if err := w.wait(); err != nil {
		w.streams.say(err.Error())
	}
}
