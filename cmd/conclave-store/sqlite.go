package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // SQLite in Go, so that the program is built without a C compiler
)

// join is the column that joins the tables, and that has an index for it.
const join = "trial"

// writeSQLite writes all tables into one database, and what is known of the run into the table
// run.
func writeSQLite(ctx context.Context, r *request) error {
	d, err := newDraft(r.Out)
	if err != nil {
		return err
	}
	defer d.discard()
	db, err := open(d.Name())
	if err != nil {
		return err
	}
	err = r.fill(ctx, db)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	return d.settle()
}

// open opens a new database, which nobody else sees and which is worth nothing unless it is whole.
func open(path string) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	path = "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path}).String()+
		"?_pragma=journal_mode(off)&_pragma=synchronous(off)")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

func (r *request) fill(ctx context.Context, db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	if _, err := tx.Exec("CREATE TABLE run (key TEXT PRIMARY KEY, value TEXT)"); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(r.About)) {
		if _, err := tx.Exec("INSERT INTO run VALUES (?, ?)", key, r.About[key]); err != nil {
			return err
		}
	}
	for i := range r.Tables {
		if err := r.Tables[i].writeSQLite(ctx, tx); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (t *table) writeSQLite(ctx context.Context, tx *sql.Tx) error {
	var columns []string
	indexed := false
	for _, c := range t.Columns {
		columns = append(columns, fmt.Sprintf("%q %s", c.Name, c.Type.inSQL()))
		indexed = indexed || c.Name == join
	}
	if _, err := tx.Exec(fmt.Sprintf("CREATE TABLE %q (%s)", t.Name, strings.Join(columns, ", "))); err != nil {
		return err
	}
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ")
	insert, err := tx.Prepare(fmt.Sprintf("INSERT INTO %q VALUES (%s)", t.Name, marks))
	if err != nil {
		return err
	}
	defer insert.Close() // it only frees memory
	err = t.each(ctx, func(row []any) error {
		_, err := insert.Exec(row...)
		return err
	})
	if err == nil && indexed {
		_, err = tx.Exec(fmt.Sprintf("CREATE INDEX %q ON %q (%s)", t.Name+"_"+join, t.Name, join))
	}
	return err
}

func (k kind) inSQL() string {
	switch k {
	case whole:
		return "INTEGER"
	case real:
		return "REAL"
	case truth:
		return "BOOLEAN" // 0 or 1
	}
	return "TEXT"
}
