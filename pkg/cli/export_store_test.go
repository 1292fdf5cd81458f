package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/report/export"
)

// The program that writes stores gets the tables of the run, and what it says is told. What it
// writes is for cmd/conclave-store/check to read.
func TestExport_Store(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program here is a script of a shell")
	}
	dir, programs, out := smallRun(t), t.TempDir(), t.TempDir()
	here := newFolder(t)
	here.env = []string{"PATH=" + programs}
	args := []string{"export", dir, "--format", "parquet", "--out", filepath.Join(out, "new")}
	has(t, here.bench(t, args...).want(t, CouldNotRun).errors, "conclave-store, which writes these formats, is not "+
		"installed: go install github.com/conclave-bench/conclave/cmd/conclave-store@latest")

	script := filepath.Join(programs, export.StoreProgram)
	program := func(text string) {
		t.Helper()
		if err := os.WriteFile(script, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	asked := filepath.Join(out, "asked.json")
	program("read -r line; printf %s \"$line\" >" + asked + "\n")
	for _, store := range export.Stores() {
		to := filepath.Join(out, store.Name)
		has(t, here.bench(t, "export", dir, "--format", store.Name, "--out", to).want(t, Good).errors, "bench: wrote "+to)
		text, err := os.ReadFile(asked)
		if err != nil {
			t.Fatal(err)
		}
		var r export.StoreRequest
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if r.Version != 1 || r.Format != store.Name || r.Out != to || len(r.Tables) != 5 ||
			r.About["run"] != filepath.Base(dir) || r.About["seed"] != "1" || len(r.About["manifest_sha256"]) != 64 {
			t.Errorf("asked for %+v", r)
		}
		for _, table := range r.Tables {
			if b, err := os.ReadFile(table.Path); err != nil || !strings.HasPrefix(string(b), table.Columns[0].Name) {
				t.Errorf("%s: %v, begins %.20q, want column %+v", table.Path, err, b, table.Columns[0])
			}
		}
	}
	program("echo 'conclave-store: the disk is full' >&2; exit 1\n")
	has(t, here.bench(t, args...).want(t, CouldNotRun).errors, "bench: export: conclave-store: the disk is full")
	program("exit 1\n")
	has(t, here.bench(t, args...).want(t, CouldNotRun).errors, script+": exit status 1")
}

func TestExport_StoreMistakes(t *testing.T) {
	t.Parallel()
	dir, out := smallRun(t), t.TempDir()
	file := write(t, "file", "")
	for want, args := range map[string][]string{
		"--format sqlite makes a file: --out run.db":                       {"sqlite"},
		"--format parquet makes a folder, with a file for each table":      {"parquet"},
		"--out " + out + ": a folder, expected a file":                     {"sqlite", "--out", out},
		"--out " + file + ": a file, and --format parquet wants a folder":  {"parquet", "--out", file},
		"--where means nothing to --format sqlite, which has whole tables": {"sqlite", "--where", "nodes=3"},
	} {
		r := bench(t, append([]string{"export", dir, "--format"}, args...)...).want(t, Usage)
		has(t, r.errors, want)
	}
}
