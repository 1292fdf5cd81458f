package cli

import (
	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/commands/paper"
)

func (s *streams) paperCommand() *cobra.Command {
	var q paper.Request
	var cells cellFlags
	c := &cobra.Command{
		Use:   "paper DIR",
		Short: "Write tables and figures of a run for a paper",
		Long: `Write what a paper needs of a run, ready for LaTeX: for each metric a table
that fits a column; the figures that answer the experiment's question, as PDF
and for pgfplots; captions that name the statistics, the test with its
correction, and n; and main.tex, which includes all of it in the ACM class.

Values that all cells share are in the caption. Figures outside an algorithm's
model are marked and never bold. A figure with fewer trials shows its count.`,
		Example: `  bench paper results/quickstart/latest
  bench paper results/quickstart/latest --metrics messages --out tables`,
		Args: cobra.ArbitraryArgs,
	}
	cells.add(c.Flags(), "those that answer the question")
	c.Flags().StringVar(&q.Out, "out", "", "write to `FOLDER` (default: paper in the run's folder)")
	return s.answering(c, func(args []string) (d *answer.Document, err error) {
		if len(args) != 1 {
			return nil, usage("bench paper: %d folders, expected one, as bench paper "+
				"results/quickstart/latest",
				len(args))
		}
		q.Run, q.Metrics = args[0], cells.metrics
		if q.Where, err = view.ReadWhere(cells.where); err != nil {
			return nil, err
		}
		frugal(false)
		return paper.Write(q)
	})
}
