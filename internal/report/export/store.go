package export

import (
	"strconv"

	"github.com/conclave-bench/conclave/pkg/results"
)

// A Store is a format that has the tables of a run themselves, with types, for questions over
// millions of rows. A program of its own writes it, row by row.
type Store struct {
	Name, Doc string
	Several   bool // a folder with a file for each table, else one file
}

// Stores are they, in the order in which they are listed, behind the formats.
func Stores() []Store {
	return []Store{
		{Name: "parquet", Doc: "the tables with types, a file each: DuckDB, pandas, R", Several: true},
		{Name: "sqlite", Doc: "the tables with types in one database"},
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
