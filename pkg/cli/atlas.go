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
		Short: "Try electors in every small network that cuts may leave",
		Long: `Try electors in simulation in every network that cuts may leave of a few
processes, up to their names: each graph with a marked leader, cut from the
start, a hundred time-outs long. An elector serves in a graph if a leader is
there for 97 % of the second half or more, with every seed; it never serves if
none is there, with any; otherwise it flaps. Five processes have 90 graphs,
and in 85 of them somebody reaches a majority.

Each algorithm gets a time-out of 50 ms, heartbeats every 10 ms and a latency
of 1 ms; --params and --set say otherwise. In place of algorithms there may be
an experiment FILE, whose algorithms, network and failure detector count, and
not its scenario. The same seed gives the same, so that a share that has
changed is a change of the algorithm. docs/atlas.md has the definitions.

` + answer.Explain("atlas", "0", "1", "2", "3", "130, 143"),
		Example: `  bench atlas raft --processes 3 --csv atlas.csv
  bench atlas raft --processes 4 --params pre_vote=true --svg atlas.svg
  bench atlas raft bully --graph chained --graph quorum-loss`,
		Args: cobra.ArbitraryArgs,
	}
	flags := c.Flags()
	flags.IntVar(&f.Processes, "processes", 0, "draw graphs of `N` processes (default: 5, or what FILE says)")
	flags.BoolVar(&f.Directed, "directed", false, "cut each direction of a link on its own")
	flags.IntVar(&f.Sample, "sample", 0, "draw `K` of the graphs at random (default: all)")
	flags.StringArrayVar(&f.Graphs, "graph", nil,
		"try only `GRAPH`, as \"3;1;1-2,2-3\": processes, leader, links; or the name of one; repeatable")
	flags.StringVar(&f.Outage, "outage", algo.Led.String(),
		"a leader is there by `DEFINITION`: "+strings.Join(services, ", "))
	flags.DurationVar(&f.TimeOut, "time-out", atlas.UsualTimeOut,
		"measure in units of `D`, where there is no time-out")
	flags.BoolVar(&f.Lockstep, "lockstep", false,
		"let all clocks run alike, so that failure detectors suspect at one instant")
	flags.StringArrayVar(&f.Params, "params", nil, "set a parameter with `NAME=VALUE`; repeatable")
	flags.StringArrayVar(&f.Set, "set", nil,
		"override a key of the experiment with `KEY=VALUE`, as repetitions=5; repeatable")
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
