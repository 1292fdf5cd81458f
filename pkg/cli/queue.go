package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/queue"
	"github.com/conclave-bench/conclave/pkg/results"
)

func (s *streams) queueCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "queue",
		Short: "List and remove the runs in a queue",
		Long: `List the runs that "bench run --queue" has put into the queue of a NATS server,
and remove what nobody will resume. A run that ended early stays there for 30
days, so that --resume finds what workers have finished meanwhile.`,
		Example: `  bench queue list --join nats://127.0.0.1:4222
  bench queue remove nightly-3iehcavpwbnn --join nats://127.0.0.1:4222`,
		RunE: func(*cobra.Command, []string) error {
			return usage("bench queue: want list or remove, as bench queue list --join URL")
		},
	}
	c.AddCommand(s.queueListCommand(), s.queueRemoveCommand())
	return c
}

func (s *streams) queueListCommand() *cobra.Command {
	var j join
	var asJSON bool
	c := &cobra.Command{
		Use:   "list --join URL",
		Short: "List the runs in a queue",
		Long: `List the runs in the queue of a NATS server: when and by which build they were
announced, whether their runner is at work, how many blocks no worker has
finished, and how many results wait for the runner.

Messages that were of no use have been set aside: unreadable ones, and those
that neither the runner nor one of its workers has signed. The list names each
with the reason and its number in the stream CONCLAVE_ASIDE, from which
"nats stream get CONCLAVE_ASIDE NUMBER" gets it.

` + exitHelp("queue", "0", "1", "2"),
		Example: `  bench queue list --join nats://127.0.0.1:4222
  bench queue list --join nats://127.0.0.1:4222 --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := j.check("join"); err != nil {
				return err
			}
			list, err := queue.List(context.Background(), j.Server, s.note)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(s.out, list)
			}
			s.printQueue(list)
			return nil
		},
	}
	j.register(c, "join", "ask NATS")
	c.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	return c
}

func (s *streams) queueRemoveCommand() *cobra.Command {
	var j join
	c := &cobra.Command{
		Use:   "remove RUN... --join URL",
		Short: "Remove runs from a queue",
		Long: `Remove runs from the queue of a NATS server, with their blocks, their results,
their traces and the messages of theirs that were set aside. The folders of
their runners stay, and --resume begins anew what they lack. A run whose
runner is at work is not removed.

` + exitHelp("queue", "0", "1", "2"),
		Example: `  bench queue remove nightly-3iehcavpwbnn --join nats://127.0.0.1:4222`,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := j.check("join"); err != nil {
				return err
			}
			if len(args) == 0 {
				return usage("bench queue remove: want the names of runs; bench queue list names them")
			}
			if err := queue.Remove(context.Background(), j.Server, args, s.note); err != nil {
				return err
			}
			fmt.Fprintf(s.out, "removed %s\n", strings.Join(args, ", "))
			return nil
		},
	}
	j.register(c, "join", "ask NATS")
	return c
}

// note tells the user something while a command goes on.
func (s *streams) note(text string) { s.say("note: " + text) }

func (s *streams) printQueue(list []queue.Queued) {
	if len(list) == 0 {
		fmt.Fprintln(s.out, "no runs are in the queue")
		return
	}
	var t table
	t.column("run", false)
	t.column("announced", false)
	t.column("build", false)
	t.column("runner", false)
	t.column("blocks", true)
	t.column("results", true)
	t.column("aside", true)
	for _, q := range list {
		announced, runner := "", "away"
		if !q.Announced.IsZero() {
			announced = q.Announced.UTC().Format(time.DateTime)
		}
		if q.Runner {
			runner = "at work"
		}
		build := fmt.Sprintf("%.8s", q.Build)
		if q.Build == results.ThisSite().Tool.Binary {
			build += " (this)"
		}
		t.add(queue.Printable(q.Run), announced, build, runner, fmt.Sprint(q.Blocks), fmt.Sprint(q.Results),
			fmt.Sprint(len(q.Aside)))
	}
	t.write(s.text())
	for _, q := range list {
		for _, a := range q.Aside {
			text := fmt.Sprintf("aside       %d  %s, %d bytes, %s: %s", a.Sequence,
				a.At.UTC().Format(time.DateTime), a.Bytes, queue.Printable(a.Subject),
				queue.Printable(a.Reason))
			fmt.Fprintln(s.out, fold(text))
		}
	}
}
