package gate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/commits"
	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/base/program"
)

// A party is one of the two builds.
type party struct {
	name    string // base or head
	title   string // of its commit
	commit  *commits.Commit
	program string // "": it does not build
	folder  string // in which the programs of other languages start that the command line names
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
	command := proc.Interruptible(ctx, seen(c.program), slices.Concat(args, program.Flags())...)
	if len(program.Flags()) > 0 {
		command.Dir = c.folder
	}
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

// seen is a path as a party finds it, which starts in another folder if it starts programs there.
func seen(path string) string {
	if len(program.Flags()) == 0 {
		return path
	}
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

// plan is what a side would run of a file.
func (c *party) plan(ctx context.Context, file string) (*plan, error) {
	p := &plan{}
	said, err := c.ask(ctx, p, "plan", seen(file), "--json")
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
