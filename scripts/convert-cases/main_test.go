package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/commands/conform"
)

var rewrite = flag.Bool("rewrite", false, "write the golden file anew; read the diff")

// TestConvert: the file that is written is the golden one, and its cases come out as those of the old
// form do.
func TestConvert(t *testing.T) {
	var out, notes strings.Builder
	if err := convert("testdata/old.json", &out, &notes); err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile("testdata/new.yaml", []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile("testdata/new.yaml"); err != nil || out.String() != string(want) {
		t.Errorf("%v, got\n%s\nwant\n%s", err, &out, want)
	}
	if want := "WORDS says in words what a trial needs; write it as an experiment\n"; notes.String() != want {
		t.Errorf("%q, want %q", &notes, want)
	}
	outcomes := func(path string) (all []string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list, err := conform.LoadCases("x"+path[strings.LastIndex(path, "."):], text)
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			unchecked, missed := list[i].Run()
			if _, wrong := missed.(conform.Mistakes); wrong { // their lines are those of their files
				unchecked, missed = list[i].Words, nil
			}
			all = append(all, fmt.Sprint(list[i].Algorithm, list[i].About, unchecked, missed))
		}
		return all
	}
	old, fresh := outcomes("testdata/old.json"), outcomes("testdata/new.yaml")
	if len(old) != 4 || fmt.Sprint(old) != fmt.Sprint(fresh) {
		t.Errorf("old\n%s\nnew\n%s", strings.Join(old, "\n"), strings.Join(fresh, "\n"))
	}
}

func TestConvert_Mistakes(t *testing.T) {
	path := t.TempDir() + "/old.json"
	if err := os.WriteFile(path, []byte(`{"cases": [{"id": 7}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	err := convert(path, nil, nil)
	if err == nil || !strings.HasPrefix(err.Error(), path+":1: id: number, expected") {
		t.Errorf("%v, want the place", err)
	}
	if convert(t.TempDir()+"/none.json", nil, nil) == nil {
		t.Error("it reads what is not there")
	}
}
