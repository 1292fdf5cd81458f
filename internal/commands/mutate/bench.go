package mutate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// A Verdict is what the tests of a package say to a mutant.
type Verdict string

// The verdicts. A mutant that hangs is noticed.
const (
	Noticed   Verdict = "noticed"
	Survived  Verdict = "survived"
	Stillborn Verdict = "does not compile"
)

// A Bench runs the tests of the package in Dir against mutants, of that package or of one
// that it uses.
type Bench struct {
	Dir  string   // absolute
	Temp string   // where it works
	Env  []string // of the tests, besides the own
	Skip string   // an expression for the tests that are left out; "": none
	// Limit is the processor time that the tests of one mutant may take, in whole seconds: on a busy machine
	// they take longer, and are not noticed for that. Tests that wait instead have ten times as long.
	Limit time.Duration
	// Main is the package of a program that is built in the place of the tests, and Args are what it is
	// called with: it notices a mutant if its exit code is 1 or 3. "": the tests.
	Main string
	Args []string
	// Took is the processor time of the last one.
	Took time.Duration

	stillborn map[int]bool
	flags     []string // of the tests
}

// Build compiles the tests once, with all these mutants in the program, since to link one
// program for each takes longer than to run its tests.
func (b *Bench) Build(mutants []Mutant) error {
	b.stillborn = map[int]bool{}
	for {
		overlay, err := b.overlay(mutants)
		if err != nil {
			return err
		}
		words := []string{"test", "-c", "-vet=off", "-gcflags=-e", "-overlay", overlay, "-o", b.program(),
			"."}
		if b.Main != "" {
			words = []string{"build", "-overlay", overlay, "-o", b.program(), b.Main}
		}
		build := exec.Command("go", words...)
		build.Dir = b.Dir
		out, err := build.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			return fmt.Errorf("mutate: %w", err)
		}
		if err == nil {
			if b.flags = b.Args; b.Main == "" {
				b.flags = b.flagsOf()
			}
			return nil
		}
		found := inMutant.FindAllSubmatch(out, -1)
		if found == nil {
			return fmt.Errorf("mutate: %s", out)
		}
		for _, number := range found {
			i, _ := strconv.Atoi(string(number[1])) // digits
			b.stillborn[i] = true
		}
	}
}

// flagsOf are those with which the program is to run. Tests of random cases, if it has some, draw the
// same ones each time, look for no smaller one, and write nothing into the checkout.
func (b *Bench) flagsOf() []string {
	flags := []string{"-test.short", "-test.failfast", "-test.skip=" + b.Skip}
	help := exec.Command(b.program(), "-help")
	help.Dir = b.Dir
	if known, _ := help.CombinedOutput(); bytes.Contains(known, []byte("-rapid.nofailfile")) {
		flags = append(flags, "-rapid.seed=1", "-rapid.shrinktime=0s", "-rapid.nofailfile")
	}
	return flags
}

// Try runs the tests with the mutant of that index, or with none if it is negative, until
// the first fails. It gives what they printed too.
func (b *Bench) Try(mutant int) (Verdict, string, error) {
	if b.stillborn[mutant] {
		return Stillborn, "", nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*b.Limit)
	defer cancel()
	// A mutant that takes all memory before its time is over takes the machine down with it.
	run := exec.CommandContext(ctx, "sh", slices.Concat(
		[]string{"-c", fmt.Sprintf(`ulimit -v 8388608; ulimit -t %d; exec "$0" "$@"`,
			int(b.Limit.Seconds())), b.program()}, b.flags)...)
	run.Dir, run.Env = b.Dir, append(append(os.Environ(), b.Env...), variable+"="+strconv.Itoa(mutant+1))
	out, err := run.CombinedOutput()
	if state := run.ProcessState; state != nil {
		b.Took = state.UserTime() + state.SystemTime()
	}
	switch exit := (*exec.ExitError)(nil); {
	case b.Main != "" && errors.As(err, &exit) && exit.Exited() && exit.ExitCode() != 1 &&
		exit.ExitCode() != 3:
		return "", string(out), fmt.Errorf("mutate: %w", err)
	case errors.As(err, &exit) || ctx.Err() != nil:
		return Noticed, string(out), nil
	case err != nil:
		return "", "", fmt.Errorf("mutate: %w", err)
	}
	return Survived, string(out), nil
}

func (b *Bench) program() string { return filepath.Join(b.Temp, "mutants.test") }

// variable of the environment says which mutant lives, counted from 1.
const variable = "MUTANT"

// inMutant is what the compiler calls a line of a mutant.
var inMutant = regexp.MustCompile(`mutant-(\d+):\d+`)

// overlay writes the file that tells the go command of the changed ones, and of one more, by
// which a process learns which mutant lives.
func (b *Bench) overlay(mutants []Mutant) (string, error) {
	replace := map[string]string{}
	put := func(file string, text []byte) error {
		changed := filepath.Join(b.Temp, fmt.Sprintf("changed-%d.go", len(replace)))
		replace[file] = changed
		return os.WriteFile(changed, text, 0o600)
	}
	for _, m := range mutants {
		if replace[m.File] != "" {
			continue
		}
		text, err := b.changed(m.File, mutants)
		if err != nil {
			return "", err
		}
		if err := put(m.File, text); err != nil {
			return "", err
		}
	}
	if len(mutants) > 0 {
		m := mutants[0]
		text := fmt.Appendf(nil, lives, m.pack, variable)
		if err := put(filepath.Join(filepath.Dir(m.File), "mutant_that_lives.go"), text); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(b.Temp, "overlay.json")
	return file, os.WriteFile(file, text, 0o600)
}

const lives = `package %s

import (
	"os"
	"strconv"
)

var mutantThatLives, _ = strconv.Atoi(os.Getenv(%q))

// mutantForgets is nothing, in the place of what a mutant forgets.
func mutantForgets[T any](T) (nothing T) { return nothing }
`

// changed is the file with its mutants, which are in order: in each function the changed
// bodies stand before its own.
func (b *Bench) changed(file string, mutants []Mutant) ([]byte, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out []byte
	at := 0
	for i, m := range mutants {
		if m.File != file || b.stillborn[i] {
			continue
		}
		if at <= m.from { // the first of its function
			out = append(out, source[at:m.from+1]...)
			at = m.from + 1
		}
		form := "/*line mutant-%d:1:1*/ if mutantThatLives == %d { func() %s %s(); return }\n"
		if m.results != "" {
			form = "/*line mutant-%d:1:1*/ if mutantThatLives == %d { return func() %s %s() }\n"
		}
		out = fmt.Appendf(out, form, i, i+1, m.results, m.body)
	}
	return append(out, source[at:]...), nil
}
