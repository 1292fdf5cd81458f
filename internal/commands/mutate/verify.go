package mutate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
)

// A Request is what is asked of bench verify --mutants.
type Request struct {
	ID        string
	Dir       string // of the package of the algorithm
	Schedules int    // of the kit, for each mutant
	Busy      func(text string)
}

// limit is how much processor time the kit may take for one mutant. What takes longer hangs, and is noticed.
const limit = time.Minute

// Answer plants a mistake after the other into a package, and reports how many of them the conformance kit
// notices. It builds the running program anew, with all mistakes, with the go command.
func (q *Request) Answer(ctx context.Context) (*answer.Document, error) {
	info, ok := debug.ReadBuildInfo()
	if _, err := exec.LookPath("go"); err != nil || !ok || info.Path == "" {
		return nil, errors.New("bench verify --mutants builds the program anew: install Go, and build " +
			"bench with it")
	}
	dir, err := filepath.Abs(q.Dir)
	if err != nil {
		return nil, err
	}
	mutants, err := Forgetful(dir, Handlers)
	if err != nil {
		return nil, answer.Mistaken("--mutants: %v", err)
	}
	temp, err := os.MkdirTemp("", "bench-mutants-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	b := &Bench{Dir: dir, Temp: temp, Limit: limit, Main: info.Path,
		Args: []string{"verify", q.ID, "--schedules", strconv.Itoa(q.Schedules)}}
	if err := b.Build(mutants); err != nil {
		return nil, err
	}
	if got, out, err := b.Try(-1); err != nil || got != Survived {
		return nil, errors.Join(fmt.Errorf("%s fails as it is: bench verify says\n%s", q.ID, out), err)
	}
	d := answer.New("verify", "Mutants of "+q.ID)
	table := d.Table("survivors", answer.Columns(answer.Everybody, "survivor")...)
	count := map[Verdict]int{}
	for i, m := range mutants {
		q.Busy(fmt.Sprintf("mutant %d of %d, %d survived", i+1, len(mutants), count[Survived]))
		got, out, err := b.Try(i)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			return nil, fmt.Errorf("%q: %w\n%s", m.Name, err, out)
		}
		if count[got]++; got == Survived {
			table.Row(m.Name)
		}
	}
	alive := count[Noticed] + count[Survived]
	rate := float64(count[Noticed]) / float64(max(alive, 1))
	d.Add(answer.Facts{{Name: "algorithm", Value: q.ID}, {Name: "mutants", Value: alive},
		{Name: "noticed", Value: count[Noticed]}, {Name: "rate", Value: rate}})
	d.Say(fmt.Sprintf("%s: the kit notices %d of %d mutants, %.1f %%; %d more do not compile", q.ID,
		count[Noticed], alive, 100*rate, count[Stillborn]))
	return d, nil
}
