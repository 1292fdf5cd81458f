package export

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
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A Store is a format that has the tables of a run themselves, with types, for questions over
// millions of rows. A program of its own writes it, row by row.
type Store struct {
	Name, Doc string
	Reader    string // what reads it
	Holds     string // what is in it
	Several   bool   // a folder with a file for each table, else one file
}

// Stores are they, in the order in which they are listed, behind the formats.
func Stores() []Store {
	return []Store{
		{Name: "parquet", Doc: "the tables with types, a file each: DuckDB, pandas, R",
			Reader:  "DuckDB, pandas, R, Spark",
			Holds:   "every row and column of every table of the run, with types, a file for each table",
			Several: true},
		{Name: "sqlite", Doc: "the tables with types in one database",
			Reader: "SQLite, and what reads it",
			Holds:  "every row and column of every table of the run, with types, in one database"},
	}
}

// StoreProgram writes stores. It is a module of its own, so that nobody who imports Conclave
// depends on databases.
const StoreProgram = "conclave-store"

// A StoreRequest is what the program reads from its standard input.
type StoreRequest struct {
	Version int               `json:"version"`
	Format  string            `json:"format"`
	Out     string            `json:"out"`
	About   map[string]string `json:"about"` // where the tables are from
	Tables  []results.Sheet   `json:"tables"`
}

// Request asks for the tables in out.
func (f *Store) Request(s *results.Sheets, out string) StoreRequest {
	const version = 1 // increases when the program has to change
	r := StoreRequest{version, f.Name, out, map[string]string{}, s.Tables}
	if h := s.Header; h != nil {
		r.About = map[string]string{
			"name": h.Name, "run": h.Run, "seed": strconv.FormatUint(h.Seed, 10), "config_sha256": h.Config,
		}
	}
	if m := s.Manifest; m != nil {
		r.About["version"], r.About["manifest_sha256"] = m.Tool.Version, m.Self
	}
	return r
}

// Write has the program write what is asked for. It says so if the program is built first.
func (r StoreRequest) Write(ctx context.Context, say func(text string)) error {
	request, err := json.Marshal(r)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "bench-export-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch) // in the folder for what may go
	writer, err := findStore(ctx, scratch, say)
	if err != nil {
		return err
	}
	return runToEnd(ctx, proc.Interruptible(ctx, writer), request)
}

// findStore looks for the program beside this one, and then where the system looks for programs.
// Where this one was built in a clone, it is built there.
func findStore(ctx context.Context, scratch string, say func(text string)) (string, error) {
	name := StoreProgram
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
			"go install %s/cmd/%[1]s@latest", StoreProgram, program.Core)
	}
	say("building " + StoreProgram)
	built := filepath.Join(scratch, name)
	build := proc.Interruptible(ctx, "go", "build", "-o", built, ".")
	build.Dir, build.Env = source, append(os.Environ(), "GOWORK=off") // it is a module of its own
	return built, runToEnd(ctx, build, nil)
}

// storeSource is the folder of the program's source, or "" where there is none: this program was
// installed or released. The folder in which the user stands has no say in it: it may be anybody's.
func storeSource() string {
	_, file, _, _ := runtime.Caller(0)
	dir := filepath.Join(filepath.Dir(file), "..", "..", "..", "..", "cmd", StoreProgram)
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
