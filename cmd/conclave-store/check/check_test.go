// Package check has the real DuckDB and the real SQLite, as Python has it, read what
// conclave-store wrote.
package check

import (
	"bytes"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
)

var folder string // has both programs

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "conclave-store-"); err == nil {
		err = errors.Join(build("../../..", "./cmd/bench"), build("..", "."))
	}
	code := 1
	if err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	os.RemoveAll(folder)
	os.Exit(code)
}

func build(module, program string) error {
	c := exec.Command("go", "build", "-o", folder+string(filepath.Separator), program)
	c.Dir, c.Stderr = module, os.Stderr
	return c.Run()
}

// program runs one of the two and returns what it says.
func program(t *testing.T, name, in string, args ...string) (said string, ok bool) {
	t.Helper()
	c := exec.Command(filepath.Join(folder, name), args...)
	c.Stdin = strings.NewReader(in)
	b, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(b), err == nil
}

// Every field of every table of runs of both problems is in both stores what it is in CSV.
func TestRuns(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"quickstart", "quickstart-mutex"} {
		out := filepath.Join(root, name)
		for _, args := range [][]string{
			{"run", "../../../configs/" + name + ".yaml", "--transport", "sim", "--out", root, "--quiet"},
			{"export", out, "--format", "parquet", "--out", out + ".parquet"},
			{"export", out, "--format", "sqlite", "--out", out + ".db"},
		} {
			if said, ok := program(t, "bench", "", args...); !ok {
				t.Fatalf("%s: %s", args, said)
			}
		}
		tables, err := filepath.Glob(filepath.Join(out, "latest", "*.csv"))
		if err != nil || len(tables) != 5 {
			t.Fatalf("tables %v, %v", tables, err)
		}
		for _, path := range tables {
			table := strings.TrimSuffix(filepath.Base(path), ".csv")
			want := readCSV(t, path)
			same(t, name+" in DuckDB, "+table, duckDB(t, filepath.Join(out+".parquet", table+".parquet")), want)
			same(t, name+" in SQLite, "+table, sqlite(t, out+".db", table), want)
		}
	}
	db := duck(t)
	var types string
	file := filepath.Join(root, "quickstart.parquet", "trials.parquet")
	err := db.QueryRow(`SELECT string_agg(column_name || ' ' || column_type, ', ') FROM (DESCRIBE SELECT trial,
		algorithm, nodes, loss, status, in_model, messages, election_ms FROM '` + file + `')`).Scan(&types)
	if want := "trial BIGINT, algorithm VARCHAR, nodes BIGINT, loss DOUBLE, status VARCHAR, in_model BOOLEAN, " +
		"messages BIGINT, election_ms DOUBLE"; err != nil || types != want {
		t.Errorf("types %q, %v, want %q", types, err, want)
	}
	// What docs/export.md asks.
	const question = `SELECT label, nodes, median(election_ms) FROM trials WHERE status = 'ok'
		GROUP BY ALL ORDER BY ALL`
	if _, err := db.Exec(strings.Replace(question, "trials", "'"+file+"'", 1)); err != nil {
		t.Error(err)
	}
	var runs int
	if err := db.QueryRow("SELECT count(*) FROM parquet_kv_metadata('" + file +
		"') WHERE decode(key) = 'conclave.run' AND length(value) > 0").Scan(&runs); err != nil || runs != 1 {
		t.Errorf("the file names %d runs, %v", runs, err)
	}
	about := sqlite(t, filepath.Join(root, "quickstart.db"), "run")
	named := func(row []string) bool { return slices.Equal(row, []string{"name", "quickstart"}) }
	if !slices.ContainsFunc(about, named) {
		t.Errorf("the table run has %v", about)
	}
}

const columns = `[{"name":"w","type":"integer"},{"name":"r","type":"real"},{"name":"b","type":"boolean"},
	{"name":"t","type":"text"}]`

// request asks for a table t of that text in out.
func request(t *testing.T, version int, format, out, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"version":%d,"format":%q,"out":%q,"about":{"seed":"1"},"tables":[{"name":"t","path":%q,
		"columns":%s}]}`, version, format, out, path, columns)
}

// What is at the ends of a type, empty, or means something to SQL stays what it is, in more rows
// than a row group has.
func TestFields(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a?b%20c 'd")
	rows := [][]string{
		{"w", "r", "b", "t"}, {"9223372036854775807", "0.1", "true", "it's \"1\"; DROP TABLE t"},
		{"-9223372036854775808", "1e-323", "false", "Ωμέγα \U0001F5F3"}, {"", "", "", ""},
		{"9007199254740993", "179769313486231570000000000000000", "", "NULL"},
	}
	for i := range 70000 {
		rows = append(rows, []string{strconv.Itoa(i), "", "", "row " + strconv.Itoa(i)})
	}
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	for format, out := range map[string]string{"parquet": dir, "sqlite": filepath.Join(dir, "t.db")} {
		for range 2 { // what is there is replaced
			if said, ok := program(t, "conclave-store", request(t, 1, format, out, b.String())); !ok {
				t.Fatalf("%s: %s", format, said)
			}
		}
	}
	rows[2][1] = "0." + strings.Repeat("0", 322) + "1" // as Go writes it without an exponent
	same(t, "DuckDB", duckDB(t, filepath.Join(dir, "t.parquet")), rows)
	same(t, "SQLite", sqlite(t, filepath.Join(dir, "t.db"), "t"), rows)
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// What does not fit is refused with its place, and nothing is written.
func TestRefused(t *testing.T) {
	for _, format := range []string{"parquet", "sqlite"} {
		for text, says := range map[string]string{
			"w,r,b,t\n1,2,true,x\n1.5,2,true,x\n": `t.csv: line 3: column w: "1.5", want a whole number`,
			"w,r,b,t\n1,two,true,x\n":             `t.csv: line 2: column r: "two", want a number`,
			"w,r,b,t\n1,2,1,x\n":                  `t.csv: line 2: column b: "1", want true or false`,
			"w,r,b,t\n1,2\n":                      `t.csv: record on line 2: wrong number of fields`,
		} {
			dir := t.TempDir()
			said, ok := program(t, "conclave-store", request(t, 1, format, filepath.Join(dir, "out"), text))
			if ok || !strings.Contains(said, says) {
				t.Errorf("%s: %q, want %q", format, said, says)
			}
			found, err := filepath.Glob(filepath.Join(dir, "out", "*"))
			hidden, _ := filepath.Glob(filepath.Join(dir, ".*"))
			if err != nil || len(found)+len(hidden) > 0 {
				t.Errorf("%s: there are %v and %v, %v", format, found, hidden, err)
			}
		}
	}
	for says, in := range map[string]string{
		"a request of version 2, and this program understands 1": request(t, 2, "sqlite", "x", ""),
		`unknown format "arrow"`:                                 request(t, 1, "arrow", "x", ""),
		"the request on standard input: EOF":                     "",
		`column "a,b", want letters, digits and underscores`: strings.Replace(request(t, 1, "sqlite", "x", ""),
			`"w"`, `"a,b"`, 1),
		`column w has type "date"`: strings.Replace(request(t, 1, "sqlite", "x", ""), `"integer"`, `"date"`, 1),
	} {
		if said, ok := program(t, "conclave-store", in); ok || !strings.Contains(said, says) {
			t.Errorf("%q, want %q", said, says)
		}
	}
}

// same compares tables field by field.
func same(t *testing.T, where string, got, want [][]string) {
	t.Helper()
	if len(got) != len(want) || len(want) < 2 {
		t.Errorf("%s: %d rows, want %d", where, len(got), len(want))
		return
	}
	for i, row := range want {
		if !slices.Equal(got[i], row) {
			t.Errorf("%s: row %d is\n%q, want\n%q", where, i, got[i], row)
			return
		}
	}
}

func readCSV(t *testing.T, path string) [][]string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func duck(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// duckDB reads a file of Parquet, columns first, as CSV has it.
func duckDB(t *testing.T, path string) (out [][]string) {
	t.Helper()
	rows, err := duck(t).Query("SELECT * FROM read_parquet('" + strings.ReplaceAll(path, "'", "''") + "')")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, columns)
	for rows.Next() {
		values := make([]any, len(columns))
		to := make([]any, len(columns))
		for i := range to {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			t.Fatal(err)
		}
		row := make([]string, len(values))
		for i, v := range values {
			switch v := v.(type) {
			case nil:
			case float64:
				row[i] = strconv.FormatFloat(v, 'f', -1, 64)
			default:
				row[i] = fmt.Sprint(v)
			}
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// pythonic prints a table as JSON, truth values as what their column says that they are.
const pythonic = `
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
columns = [c[1:3] for c in db.execute("PRAGMA table_info(" + sys.argv[2] + ")")]
kinds = {"TEXT": str, "INTEGER": int, "REAL": float, "BOOLEAN": int}
rows = db.execute("SELECT * FROM " + sys.argv[2] + " ORDER BY rowid").fetchall()
for row in rows:
    for (name, type), v in zip(columns, row):
        assert v is None or isinstance(v, kinds[type]), (name, type, v)
print(json.dumps([columns] + rows))
`

// sqlite reads a table by the SQLite that Python has.
func sqlite(t *testing.T, path, table string) (out [][]string) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal("this test wants python3, whose SQLite is the real one")
	}
	text, err := exec.Command(python, "-c", pythonic, path, table).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("%s", exit.Stderr)
		}
		t.Fatal(err)
	}
	var rows [][]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&rows); err != nil {
		t.Fatal(err)
	}
	var kinds, names []string
	for _, c := range rows[0] {
		pair := c.([]any)
		names, kinds = append(names, pair[0].(string)), append(kinds, pair[1].(string))
	}
	out = append(out, names)
	for _, values := range rows[1:] {
		row := make([]string, len(values))
		for i, v := range values {
			if v == nil {
				continue
			}
			row[i] = fmt.Sprint(v)
			switch kinds[i] {
			case "REAL":
				f, err := strconv.ParseFloat(row[i], 64)
				if err != nil {
					t.Fatal(err)
				}
				row[i] = strconv.FormatFloat(f, 'f', -1, 64)
			case "BOOLEAN":
				row[i] = fmt.Sprint(row[i] == "1")
			}
		}
		out = append(out, row)
	}
	return out
}
