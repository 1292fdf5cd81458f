package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conclave-bench/conclave/internal/proc"
	"github.com/conclave-bench/conclave/internal/program"
	"github.com/conclave-bench/conclave/internal/report/export"
	"github.com/conclave-bench/conclave/pkg/results"
)

// exportStore has the tables of a run written as they are.
func (s *streams) exportStore(c *cobra.Command, store *export.Store, out string, args []string) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "format" && f.Name != "out" && err == nil {
			err = usage("--%s means nothing to --format %s, which has whole tables; leave it out", f.Name,
				store.Name)
		}
	})
	if err != nil {
		return err
	}
	if out == "" {
		what := "a file: --out run.db"
		if store.Several {
			what = "a folder, with a file for each table: --out DIR"
		}
		return usage("bench export: --format %s makes %s", store.Name, what)
	}
	if info, err := os.Stat(out); err == nil && info.IsDir() != store.Several {
		if store.Several {
			return usage("--out %s: a file, and --format %s wants a folder", out, store.Name)
		}
		return usage("--out %s: a folder, want a file", out)
	}
	sheets, err := results.ReadSheets(args[0])
	if err != nil {
		return err
	}
	if m := sheets.Manifest; m != nil {
		s.noteIncomplete(sheets.Path, sheets.Header, m, m.Finished)
	}
	if err := s.writeStore(store.Request(sheets, out)); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	s.say("wrote " + out)
	return nil
}

// writeStore has the program write what is asked for.
func (s *streams) writeStore(r export.StoreRequest) error {
	request, err := json.Marshal(r)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "bench-export-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch) // in the folder for what may go
	ctx, stop := s.interruptible(context.Background())
	defer stop()
	writer, err := s.findStore(ctx, scratch)
	if err != nil {
		return err
	}
	return runToEnd(ctx, proc.Interruptible(ctx, writer), request)
}

// findStore looks for the program beside this one, and then where the system looks for programs.
// Where this one was built in a clone, it is built there.
func (s *streams) findStore(ctx context.Context, scratch string) (string, error) {
	name := export.StoreProgram
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if own, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(own), name)); err == nil {
			return path, nil
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	source := storeSource()
	if _, err := exec.LookPath("go"); err != nil || source == "" {
		return "", fmt.Errorf("the program %s, which writes these formats, is not installed: "+
			"go install %s/cmd/%[1]s@latest", export.StoreProgram, program.Core)
	}
	s.say("building " + export.StoreProgram)
	built := filepath.Join(scratch, name)
	build := proc.Interruptible(ctx, "go", "build", "-o", built, ".")
	build.Dir, build.Env = source, append(os.Environ(), "GOWORK=off") // it is a module of its own
	return built, runToEnd(ctx, build, nil)
}

// storeSource is the folder of the program's source, or "" where there is none: this program was
// installed or released. The folder in which the user stands has no say in it: it may be anybody's.
func storeSource() string {
	_, file, _, _ := runtime.Caller(0)
	dir := filepath.Join(filepath.Dir(file), "..", "..", "cmd", export.StoreProgram)
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil || !filepath.IsAbs(dir) {
		return ""
	}
	return dir
}

// runToEnd runs a command of proc.Interruptible and that context. What it says when it fails is the error.
func runToEnd(ctx context.Context, c *exec.Cmd, in []byte) error {
	var said bytes.Buffer
	c.Stdin, c.Stderr = bytes.NewReader(in), &said
	err := c.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return errors.New(cmp.Or(strings.TrimSpace(proc.Harmless(said.String())), c.Path+": "+err.Error()))
	}
	return nil
}
