package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/runs/queue"
	"github.com/conclave-bench/conclave/pkg/results"
)

func (s *streams) queueCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "queue",
		Short: "List and remove the runs in a queue",
		Long: `List the runs that "bench run --queue" has put into the queue of a NATS server,
and remove those that will not be resumed. An interrupted run stays there for 30
days, so that --resume finds what workers have finished meanwhile.`,
		Example: `  bench queue list --join nats://127.0.0.1:4222
  bench queue remove nightly-3iehcavpwbnn --join nats://127.0.0.1:4222`,
		RunE: func(*cobra.Command, []string) error {
			return usage("bench queue: expected list or remove, as bench queue list --join URL")
		},
	}
	c.AddCommand(s.queueListCommand(), s.queueRemoveCommand())
	return c
}

func (s *streams) queueListCommand() *cobra.Command {
	var asked askedQueue
	c := &cobra.Command{
		Use:   "list {--join URL | --hub HOST:PORT}",
		Short: "List the runs in a queue",
		Long: `List the runs in the queue of a NATS server or a hub: when and by which build
they were announced, whether their runner is active, how many blocks are
unfinished, and how many results wait for the runner.

Unreadable messages, and those not signed by the runner or one of its workers,
are listed with the reason and their number in the stream CONCLAVE_ASIDE:
"nats stream get CONCLAVE_ASIDE NUMBER" prints one.

` + answer.Explain("queue", "0", "1", "2"),
		Example: `  bench queue list --join nats://127.0.0.1:4222
  bench queue list --hub lab1:7000 --json`,
		Args: cobra.NoArgs,
	}
	asking(c, &asked)
	return s.answering(c, func([]string) (*answer.Document, error) {
		j, err := asked.server()
		if err != nil {
			return nil, err
		}
		list, err := queue.List(context.Background(), j, s.note)
		if err != nil {
			return nil, err
		}
		return queued(list), nil
	})
}

func (s *streams) queueRemoveCommand() *cobra.Command {
	var asked askedQueue
	c := &cobra.Command{
		Use:   "remove RUN... {--join URL | --hub HOST:PORT}",
		Short: "Remove runs from a queue",
		Long: `Remove runs from the queue of a NATS server or a hub, with their blocks, their
results, their traces and their set-aside messages. The folders of their runners
stay, and --resume reruns what they lack. A run whose runner is active is not
removed.

` + answer.Explain("queue", "0", "1", "2"),
		Example: `  bench queue remove nightly-3iehcavpwbnn --join nats://127.0.0.1:4222`,
	}
	asking(c, &asked)
	return s.answering(c, func(args []string) (*answer.Document, error) {
		j, err := asked.server()
		if err != nil {
			return nil, err
		}
		if len(args) == 0 {
			return nil, usage("bench queue remove: expected the names of runs; bench queue list names them")
		}
		if err := queue.Remove(context.Background(), j, args, s.note); err != nil {
			return nil, err
		}
		d := answer.New("queue remove", "Runs that were removed from the queue")
		d.Add(answer.Facts{{Name: "removed", Value: args, Line: "removed " + strings.Join(args, ", ")}})
		return d, nil
	})
}

// note tells the user something while a command goes on.
func (s *streams) note(text string) { s.say("note: " + text) }

// queued is the runs in a queue, and the messages that were set aside.
func queued(list []queue.Queued) *answer.Document {
	d := answer.New("queue list", "Runs in the queue")
	runs := d.Table("runs",
		answer.Column{Name: "run", Kind: answer.Words},
		answer.Column{Name: "announced", Kind: answer.Time},
		answer.Column{Name: "build", Kind: answer.Words},
		answer.Column{Name: "runner", Kind: answer.Flag},
		answer.Column{Name: "blocks", Kind: answer.Count},
		answer.Column{Name: "results", Kind: answer.Count},
		answer.Column{Name: "aside", Kind: answer.Count})
	runs.Empty = "no runs are in the queue"
	aside := answer.Table{Name: "aside", Only: answer.Programs, Columns: []answer.Column{
		{Name: "run", Kind: answer.Words}, {Name: "sequence", Kind: answer.Count},
		{Name: "at", Kind: answer.Time},
		{Name: "subject", Kind: answer.Words}, {Name: "bytes", Kind: answer.Count},
		{Name: "reason", Kind: answer.Words}}}
	var lines []answer.Block
	for _, q := range list {
		if q.Foreign {
			lines = append(lines, answer.Text(fmt.Sprintf("note        %s is of another build, which "+
				"divides work in another way; continue it with that build, or remove it",
				queue.Printable(q.Run))))
		}
		runner := answer.Shown{Value: q.Runner, Text: "away"}
		if q.Runner {
			runner.Text = "at work"
		}
		build := buildText(results.Tool{Binary: q.Build})
		runs.Row(queue.Printable(q.Run), q.Announced, build, runner, q.Blocks, q.Results, len(q.Aside))
		for _, a := range q.Aside {
			subject, reason := queue.Printable(a.Subject), queue.Printable(a.Reason)
			aside.Row(queue.Printable(q.Run), a.Sequence, a.At, subject, a.Bytes, reason)
			lines = append(lines, answer.Text(fmt.Sprintf("aside       %d  %s, %d bytes, %s: %s", a.Sequence,
				a.At.UTC().Format(time.DateTime), a.Bytes, subject, reason)))
		}
	}
	d.Add(&aside)
	d.Add(lines...)
	return d
}
