// Package check has the real DuckDB and the real SQLite read what conclave-store wrote.
package check

import (
	"bytes"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
	_ "github.com/mattn/go-sqlite3"
)

var folder string // has both programs, one beside the other

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

// start runs one of the two and returns what it says.
func start(t *testing.T, in, dir, program string, args ...string) (said string, ended *os.ProcessState) {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir, c.Stdin = dir, strings.NewReader(in)
	b, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(b), c.ProcessState
}

// bench runs the command in a folder.
func bench(t *testing.T, dir string, args ...string) (said string) {
	t.Helper()
	said, ended := start(t, "", dir, filepath.Join(folder, "bench"), args...)
	if !ended.Success() {
		t.Fatalf("bench %s: %s", strings.Join(args, " "), said)
	}
	return said
}

// store runs the program that writes.
func store(t *testing.T, request string) (said string, ended *os.ProcessState) {
	t.Helper()
	return start(t, request, "", filepath.Join(folder, "conclave-store"))
}

// Every field of every table of runs of both problems is in both stores what it is in CSV.
func TestRuns(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"quickstart", "quickstart-mutex"} {
		out := filepath.Join(root, name)
		bench(t, "../../..", "run", "configs/"+name+".yaml", "--transport", "sim", "--out", root, "--quiet")
		bench(t, "", "export", out, "--format", "parquet", "--out", out+".parquet")
		bench(t, "", "export", out, "--format", "sqlite", "--out", out+".db")
		tables, err := filepath.Glob(filepath.Join(out, "latest", "*.csv"))
		if err != nil || len(tables) != 5 {
			t.Fatalf("tables %v, %v", tables, err)
		}
		for _, path := range tables {
			table := strings.TrimSuffix(filepath.Base(path), ".csv")
			want := readCSV(t, path)
			same(t, name+" in DuckDB, "+table, inParquet(t, filepath.Join(out+".parquet", table+".parquet")), want)
			same(t, name+" in SQLite, "+table, inSQLite(t, out+".db", table), want)
		}
	}
	trials := filepath.Join(root, "quickstart.parquet", "trials.parquet")
	types := ask(t, open(t, "duckdb", ""), `SELECT column_type FROM (DESCRIBE SELECT trial, algorithm, nodes, loss, status,
		in_model, messages, election_ms FROM '`+trials+`')`)
	if got, want := strings.Fields(fmt.Sprint(slices.Concat(types[1:]...))), []string{"[BIGINT", "VARCHAR", "BIGINT",
		"DOUBLE", "VARCHAR", "BOOLEAN", "BIGINT", "DOUBLE]"}; !slices.Equal(got, want) {
		t.Errorf("types %q, want %q", got, want)
	}
	wantAbout := []string{"name", "quickstart"}
	about := ask(t, open(t, "duckdb", ""), "SELECT decode(key)[10:], decode(value) FROM parquet_kv_metadata('"+trials+
		"') WHERE starts_with(decode(key), 'conclave.') ORDER BY ALL")[1:]
	if !slices.ContainsFunc(about, func(row []string) bool { return slices.Equal(row, wantAbout) }) {
		t.Errorf("the metadata has %q", about)
	}
	same(t, "the table run", inSQLite(t, filepath.Join(root, "quickstart.db"), "run")[1:], about)
}

// The commands of docs/how-to/export.md print what it says. There, nothing is beside bench: it builds the
// program from the clone that it is from.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/how-to/export.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(text), "\n## parquet and sqlite")
	part, _, _ = strings.Cut(part, "\n## ")
	dir := t.TempDir()
	bench(t, "../../..", "run", "configs/quickstart.yaml", "--transport", "sim", "--out", filepath.Join(dir, "results"))
	alone := filepath.Join(dir, "bench")
	if err := os.Link(filepath.Join(folder, "bench"), alone); err != nil {
		t.Fatal(err)
	}
	exports := regexp.MustCompile(`(?m)^bench (export .*)`).FindAllStringSubmatch(part, -1)
	for _, line := range exports {
		said, ended := start(t, "", dir, alone, strings.Fields(line[1])...)
		if !ended.Success() || !strings.HasPrefix(said, "bench: building conclave-store\nbench: wrote ") {
			t.Errorf("%s: %s", line[1], said)
		}
	}
	questions := regexp.MustCompile(`(?m)^\$ (duckdb -csv -c|sqlite3 -header -csv (\S+)) "([^"]*)"\n((?:[^$\x60].*\n)*)`).
		FindAllStringSubmatch(part, -1)
	for _, q := range questions {
		driver, file := "duckdb", ""
		if q[2] != "" {
			driver, file = "sqlite3", filepath.Join(dir, q[2])
		}
		db := open(t, driver, file)
		question := strings.ReplaceAll(q[3], "FROM '", "FROM '"+filepath.ToSlash(dir)+"/") // it is asked elsewhere
		var columns []string                                                               // as the engine prints them
		for _, name := range ask(t, db, question)[0] {
			columns = append(columns, fmt.Sprintf("CAST(%q AS VARCHAR) AS %[1]q", name))
		}
		rows := ask(t, db, "SELECT "+strings.Join(columns, ", ")+" FROM ("+question+")")
		if got := writeCSV(t, rows); got != q[4] {
			t.Errorf("%s\nprints\n%sand docs/how-to/export.md has\n%s", q[3], got, q[4])
		}
	}
	if len(exports) != 2 || len(questions) != 2 {
		t.Errorf("docs/how-to/export.md has %d exports and %d questions", len(exports), len(questions))
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
	text := writeCSV(t, rows)
	for format, out := range map[string]string{"parquet": dir, "sqlite": filepath.Join(dir, "t.db")} {
		for range 2 { // what is there is replaced
			if said, ended := store(t, request(t, 1, format, out, text)); !ended.Success() {
				t.Fatalf("%s: %s", format, said)
			}
		}
	}
	rows[2][1] = "0." + strings.Repeat("0", 322) + "1" // as Go writes it without an exponent
	same(t, "DuckDB", inParquet(t, filepath.Join(dir, "t.parquet")), rows)
	same(t, "SQLite", inSQLite(t, filepath.Join(dir, "t.db"), "t"), rows)
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
			said, ended := store(t, request(t, 1, format, filepath.Join(dir, "out"), text))
			if ended.Success() || !strings.Contains(said, says) {
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
		if said, ended := store(t, in); ended.Success() || !strings.Contains(said, says) {
			t.Errorf("%q, want %q", said, says)
		}
	}
}

// same compares tables field by field.
func same(t *testing.T, where string, got, want [][]string) {
	t.Helper()
	if len(got) != len(want) {
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

func writeCSV(t *testing.T, rows [][]string) string {
	t.Helper()
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// inParquet reads a file by DuckDB.
func inParquet(t *testing.T, path string) [][]string {
	t.Helper()
	return ask(t, open(t, "duckdb", ""), "SELECT * FROM read_parquet('"+strings.ReplaceAll(path, "'", "''")+"')")
}

// inSQLite reads a table, of which every field has the type of its column.
func inSQLite(t *testing.T, path, table string) [][]string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "link.db") // a name that the driver does not take for options
	if err := os.Link(path, file); err != nil {
		t.Fatal(err)
	}
	db := open(t, "sqlite3", file)
	if ok := ask(t, db, "PRAGMA integrity_check"); ok[1][0] != "ok" {
		t.Errorf("%s: %q", path, ok)
	}
	for _, c := range ask(t, db, "SELECT name, lower(type) FROM pragma_table_info('"+table+"')")[1:] {
		want := strings.Replace(c[1], "boolean", "integer", 1)
		for _, got := range ask(t, db, fmt.Sprintf("SELECT DISTINCT typeof(%q) FROM %q", c[0], table))[1:] {
			if got[0] != want && got[0] != "null" {
				t.Errorf("%s: %s is declared as %s, and has %s", table, c[0], c[1], got[0])
			}
		}
	}
	return ask(t, db, fmt.Sprintf("SELECT * FROM %q ORDER BY rowid", table))
}

func open(t *testing.T, driver, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// ask returns the answer, the names of the columns first, with fields as CSV has them.
func ask(t *testing.T, db *sql.DB, question string) (out [][]string) {
	t.Helper()
	rows, err := db.Query(question)
	if err != nil {
		t.Fatalf("%s: %v", question, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, columns)
	values, to := make([]any, len(columns)), make([]any, len(columns))
	for i := range to {
		to[i] = &values[i]
	}
	for rows.Next() {
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
