package cli

import (
	"bytes"
	"cmp"
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
	"github.com/conclave-bench/conclave/internal/report/export"
	"github.com/conclave-bench/conclave/pkg/results"
)

// exportStore has the tables of a run written as they are.
func (s *streams) exportStore(c *cobra.Command, store *export.Store, out string, args []string) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "format" && f.Name != "out" && err == nil {
			err = usage("--%s means nothing to --format %s, which has whole tables; leave it out", f.Name, store.Name)
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
	if err := writeStore(store.Request(sheets, out)); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	s.say("wrote " + out)
	return nil
}

// writeStore has the program write what is asked for.
func writeStore(r export.StoreRequest) error {
	program, err := findStore()
	if err != nil {
		return err
	}
	request, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var said bytes.Buffer
	c := exec.Command(program)
	c.Stdin, c.Stderr = bytes.NewReader(request), &said
	if err := c.Run(); err != nil {
		return errors.New(cmp.Or(strings.TrimSpace(proc.Harmless(said.String())), program+": "+err.Error()))
	}
	return nil
}

// findStore looks beside this program, and then where the system looks for programs.
func findStore() (string, error) {
	name := export.StoreProgram
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if own, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(own), name)); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("the program %s, which writes these formats, is not installed: go install "+
			"github.com/conclave-bench/conclave/cmd/%[1]s@latest; or, in a clone, make store", export.StoreProgram)
	}
	return path, nil
}
