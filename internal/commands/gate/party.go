package gate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/commits"
	"github.com/conclave-bench/conclave/internal/base/proc"
)

// A party is one of the two builds.
type party struct {
	name    string // base or head
	title   string // of its commit
	commit  *commits.Commit
	program string // "": it does not build
}

// String is what the party is called in a sentence.
func (c *party) String() string { return c.name + " (" + c.title + ")" }

// What a gate reads of the answers of programs, by the names of their facts and tables. The base may be
// of the time before answers were documents, with the same names.
type (
	plan struct {
		Name      string `json:"name"`
		Transport string `json:"transport"`
		Seed      uint64 `json:"seed"`
	}
	run struct {
		Dir        string  `json:"dir"`
		Exit       int     `json:"exit_code"`
		Violations []trial `json:"violations"`
		Errors     []trial `json:"errors"`
		Misses     []struct {
			Text string `json:"text"`
		} `json:"thresholds_missed"`
		Warnings []string `json:"warnings"` // before there were notes
		Notes    []struct {
			Text string `json:"text"`
			Kind string `json:"kind"`
		} `json:"notes"`
	}
	trial struct {
		Trial     int    `json:"trial"`
		Algorithm string `json:"algorithm"`
		Reason    string `json:"reason"`
	}
)

// mostTold is how many trials a program tells in words at most.
const mostTold = 10

func (r *run) warnings() []string {
	list := r.Warnings
	for _, n := range r.Notes {
		if n.Kind == "note" {
			list = append(list, n.Text)
		}
	}
	return list
}

// ask has the party's program answer into a value, and returns what it said besides.
func (c *party) ask(ctx context.Context, into any, args ...string) (said string, err error) {
	command := proc.Interruptible(ctx, c.program, args...)
	var aside bytes.Buffer
	command.Stderr = &aside
	out, err := command.Output()
	if bad := answer.Unmarshal(out, into); err == nil {
		err = bad
	}
	if command.ProcessState != nil && command.ProcessState.ExitCode() == answer.Usage {
		err = answer.Mistaken("%s", reasonOf(err, aside.String()))
	}
	return aside.String(), err
}

// plan is what a side would run of a file.
func (c *party) plan(ctx context.Context, file string) (*plan, error) {
	p := &plan{}
	said, err := c.ask(ctx, p, "plan", file, "--json")
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err == nil || answer.ExitOf(err) == answer.Usage:
		return p, err
	}
	return nil, errors.New(reasonOf(err, said))
}

// reasonOf is what a program said before it failed.
func reasonOf(err error, said string) string {
	said = strings.NewReplacer("bench: ", "", "\n  ", " ").Replace(proc.Harmless(said)) // without breaks
	return cmp.Or(strings.TrimSpace(said), err.Error())
}
