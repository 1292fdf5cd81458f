package mutate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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

// A Bench runs the tests of the package in Dir against its mutants.
type Bench struct {
	Dir   string        // absolute
	Temp  string        // where it works
	Env   []string      // of the tests, besides the own; an empty value takes a variable away
	Limit time.Duration // for the tests of one mutant
}

// Try compiles the tests once with m in the place of the file that it changes, and
// runs them until the first fails. It gives what they printed too. The zero Mutant
// is the package as it is.
func (b *Bench) Try(m Mutant) (Verdict, string, error) {
	overlay, err := b.overlay(m)
	if err != nil {
		return "", "", err
	}
	tests := filepath.Join(b.Temp, "mutant.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", tests, ".")
	build.Dir = b.Dir
	out, err := build.CombinedOutput()
	switch exit := (*exec.ExitError)(nil); {
	case errors.As(err, &exit):
		return Stillborn, string(out), nil
	case err != nil:
		return "", "", fmt.Errorf("mutate: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), b.Limit)
	defer cancel()
	run := exec.CommandContext(ctx, tests, "-test.short", "-test.failfast")
	run.Dir, run.Env = b.Dir, environment(b.Env)
	out, err = run.CombinedOutput()
	switch exit := (*exec.ExitError)(nil); {
	case errors.As(err, &exit) || ctx.Err() != nil:
		return Noticed, string(out), nil
	case err != nil:
		return "", "", fmt.Errorf("mutate: %w", err)
	}
	return Survived, string(out), nil
}

// overlay writes the file that tells the go command of the changed one.
func (b *Bench) overlay(m Mutant) (string, error) {
	replace := map[string]string{}
	if m.File != "" {
		changed := filepath.Join(b.Temp, "mutant.go")
		if err := os.WriteFile(changed, m.Source, 0o600); err != nil {
			return "", err
		}
		replace[m.File] = changed
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(b.Temp, "overlay.json")
	return file, os.WriteFile(file, text, 0o600)
}

// environment is the own one with these variables instead.
func environment(instead []string) []string {
	env := slices.Clone(os.Environ())
	for _, v := range instead {
		name, value, _ := strings.Cut(v, "=")
		env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		if value != "" {
			env = append(env, v)
		}
	}
	return env
}
