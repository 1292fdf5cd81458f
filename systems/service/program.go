package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
)

// A MissingError is of a program that is not installed.
type MissingError struct {
	Program string
	Package string // of Debian, that provides it
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s is not installed (Debian's package %s)", e.Program, e.Package)
}

// Find is the path of a program. It is given as a path, as a name, which is looked up in PATH, or as a pattern
// of paths, such as "/usr/lib/postgresql/*/bin/postgres": then the last match counts, or the name alone if
// there is no match. The error is a *MissingError.
func Find(program, pkg string) (string, error) {
	name, pattern := filepath.Base(program), strings.ContainsAny(program, "*?[")
	if hidden.Load() && (pattern || !filepath.IsAbs(program)) {
		return "", &MissingError{name, pkg}
	}
	if pattern {
		if found, err := filepath.Glob(program); err == nil && len(found) > 0 {
			return found[len(found)-1], nil
		}
		program = name
	}
	path, err := exec.LookPath(program)
	if errors.Is(err, exec.ErrNotFound) {
		return "", &MissingError{name, pkg}
	}
	return path, err
}

// Version is the word after mark in what a program says with --version. Find looks for the program.
func Version(ctx context.Context, mark, program, pkg string) (string, error) {
	path, err := Find(program, pkg)
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	_, after, found := strings.Cut(string(out), mark)
	words := strings.Fields(after)
	if !found || len(words) == 0 {
		return "", fmt.Errorf("%s --version: %w", path, cmp.Or(err, fmt.Errorf("%q", out)))
	}
	return words[0], nil
}

var hidden atomic.Bool

// Hide has Find find no program, until undo is called: for tests of what is said then.
func Hide() (undo func()) {
	hidden.Store(true)
	return func() { hidden.Store(false) }
}

// Library is a module that this program is linked with, and its version: what Facts say of a client.
func Library(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return module
	}
	for _, m := range info.Deps {
		if m.Path == module {
			return module + " " + m.Version
		}
	}
	return module
}

// Programs of ours that are the processes of servers: this program runs as one of them if the environment
// says so.
const programKey = "CONCLAVE_SERVICE_PROGRAM"

var programs = map[string]func(args []string) error{}

// Program adds a program of ours, to be called from init.
func Program(name string, run func(args []string) error) { programs[name] = run }

// Own is the command that runs a program of ours. It needs a program that calls Main.
func Own(name string, args ...string) (Command, error) {
	self, err := os.Executable()
	return Command{Name: name, Path: self, Args: args, Env: []string{programKey + "=" + name}}, err
}

// Main runs the program of ours that this process is to be, and then exits. Otherwise it does nothing. The
// function main of a program with adapters calls it first, and so does TestMain.
func Main() {
	name := os.Getenv(programKey)
	if name == "" {
		return
	}
	_ = os.Unsetenv(programKey) // what this process starts is no such program
	run := programs[name]
	if run == nil {
		run = func([]string) error { return errors.New("no such program is linked") }
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
	os.Exit(0)
}
