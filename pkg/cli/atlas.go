package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/commands/atlas"
	"github.com/conclave-bench/conclave/internal/commands/progress"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// atlasFlags are the flags of bench atlas.
type atlasFlags struct {
	atlas.Request
	quiet bool
}

func (s *streams) atlasCommand() *cobra.Command {
	var f atlasFlags
	services := make([]string, 0, 3)
	for _, service := range algo.Services() {
		services = append(services, service.String())
	}
	c := &cobra.Command{
		Use:   "atlas ID...",
		Short: "Simulate elections in every small network with cut links",
		Long: `Simulate elections in every network of up to N processes, up to isomorphism,
that link cuts can produce: each graph has a marked leader and is cut from the
start. An algorithm serves in a graph if a leader is present for at least 97 %
of the second half of each trial, never serves if none is present in any, and
flaps otherwise.

Each algorithm gets a time-out of 50 ms, heartbeats every 10 ms and a latency
of 1 ms, unless --params or --set changes them. An experiment FILE in place of
ID supplies its algorithms, network and failure detector; its scenario is
ignored. docs/how-to/atlas.md has the definitions.

` + answer.Explain("atlas", "0", "1", "2", "3", "130, 143"),
		Example: `  bench atlas raft --processes 3 --csv atlas.csv
  bench atlas raft --processes 4 --params pre_vote=true --svg atlas.svg
  bench atlas raft bully --graph chained --graph quorum-loss`,
		Args: cobra.ArbitraryArgs,
	}
	flags := c.Flags()
	flags.IntVar(&f.Processes, "processes", 0, "use graphs of `N` processes (default: 5, or what FILE says)")
	flags.BoolVar(&f.Directed, "directed", false, "cut each direction of a link on its own")
	flags.IntVar(&f.Sample, "sample", 0, "draw `K` of the graphs at random (default: all)")
	flags.StringArrayVar(&f.Graphs, "graph", nil,
		"try only `GRAPH`, as \"3;1;1-2,2-3\": processes, leader, links; or the name of one; repeatable")
	flags.StringVar(&f.Outage, "outage", algo.Led.String(),
		"a leader is present by `DEFINITION`: "+strings.Join(services, ", "))
	flags.DurationVar(&f.TimeOut, "time-out", atlas.UsualTimeOut,
		"measure in units of `D`, where there is no time-out")
	flags.BoolVar(&f.Heal, "heal", false,
		"have all links come back after a hundred time-outs, and count elections from then on")
	flags.BoolVar(&f.Lockstep, "lockstep", false,
		"run all clocks in step, so that failure detectors suspect at the same instant")
	flags.StringArrayVar(&f.Params, "params", nil, "set a parameter with `NAME=VALUE`; repeatable")
	setting(c, &f.Set, "params rounds")
	flags.IntVar(&f.Workers, "workers", 0, "run `N` trials at a time (default: one per core)")
	flags.StringVar(&f.CSV, "csv", "", "write a row for each graph to `FILE`")
	flags.StringVar(&f.SVG, "svg", "", "draw all graphs, each in the colour of its class, to `FILE`")
	flags.BoolVar(&f.quiet, "quiet", false, "print only results and errors")
	choices(c, "outage", services)
	return s.working(c, func(ctx context.Context, args []string) (*answer.Document, error) {
		return s.atlas(ctx, &f, args)
	})
}

func (s *streams) atlas(ctx context.Context, f *atlasFlags, args []string) (*answer.Document, error) {
	f.Electors, f.Env, f.Violated = args, s.env, s.violations()
	f.Host = func(ctx context.Context, e *experiment.Experiment, p *harness.Plan) (check.Verdict, error) {
		o, err := programs()
		if err != nil {
			return check.Verdict{}, err
		}
		v, _, err := runner.Replay(ctx, e, &experiment.Trial{Plan: *p}, o, nil)
		return v, err
	}
	if !f.quiet {
		f.Progress = progress.Parts(s.err, "trial")
	}
	d, picture, err := atlas.Answer(ctx, &f.Request)
	if err != nil {
		return nil, err
	}
	if f.CSV != "" {
		err = writeDocument(f.CSV, "csv", d)
	}
	if f.SVG != "" && err == nil {
		err = files.Write(f.SVG, picture)
	}
	return d, err
}
