package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/conclave-bench/conclave/internal/answers/answer"
)

// TestSchema_Answers: what verbs answer is as the schema says, and the reference has it.
func TestSchema_Answers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/reference/answer.schema.json")
	if err != nil || string(text) != answer.JSONSchema {
		t.Errorf("docs/reference has another schema of answers: run scripts/generate.sh (%v)", err)
	}
	if out := bench(t, "schema", "answer").want(t, Good).out; out != answer.JSONSchema {
		t.Errorf("bench schema answer prints another one:\n%s", out)
	}
	c := jsonschema.NewCompiler()
	read, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = c.AddResource("answer.schema.json", read)
	}
	if err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("answer.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	in := func(name string) string { return filepath.Join(root, name) }
	file, broken := write(t, "small.yaml", small), violated(t)
	bench(t, "run", file, "--out", root, "--quiet").want(t, Good)
	dir := latest(t, root, "small")
	for line, code := range map[string]int{
		"version": Good, "list": Good, "describe bully": Good, "describe naimi-trehel": Good,
		"plan " + file: Good, "plan --resolved " + file: Good, "plan --detect 5% --pilot " + dir + " " + file: Good,
		"run --resume " + dir: Good, "run --quiet --out " + root + " " + file: Good,
		"compare " + dir + " " + dir: Good, "compare --over operations " + dir + " " + dir: Good,
		"compare --where loss=0 --prove 5% " + dir + " " + dir:   Good,
		"replay " + broken + " --trial 1":                        Violated,
		"replay " + dir + " --trial 1 --events":                  Good,
		"diff bully ring-list --nodes 3":                         Missed,
		"verify bully --schedules 3":                             Good,
		"explore bully --schedules 20 --out " + in("found.yaml"): Good,
		"explore naimi-trehel --exhaustive":                      Good,
		"atlas raft --graph chained --quiet":                     Good,
		"report " + dir + " --out " + in("page.html"):            Good,
		"init": Good, "init " + in("new.yaml"): Good, "schema": Good, "schema answer": Good,
		"reproduce --list --papers ../../configs/papers":                      Good,
		"new module example.com/own --out " + in("own") + " --conclave ../..": Good,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			out := bench(t, append(strings.Fields(line), "--json")...).want(t, code).out
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
			if err == nil {
				err = schema.Validate(v)
			}
			if err != nil {
				t.Fatalf("%v:\n%s", err, out)
			}
			a, err := answer.Decode([]byte(out))
			if err != nil || a.Exit != code {
				t.Fatalf("%v: exit code %d, want %d", err, a.Exit, code)
			}
			for _, table := range a.Tables {
				for _, row := range table.Rows {
					for _, c := range table.Columns {
						if v, there := row[c.Name]; !there || !fits(c.Kind, v) {
							t.Fatalf("%s: column %s of %s is %s: %v", line, c.Name, table.Name, c.Kind, v)
						}
					}
				}
			}
		})
	}
}

// fits says whether JSON has the value for a kind.
func fits(k answer.Kind, v any) bool {
	var want string
	switch k {
	case answer.Words, answer.Time:
		want = "string"
	case answer.Count, answer.Number:
		want = "float64"
	case answer.Flag:
		want = "bool"
	case answer.Figure, answer.Map:
		want = "map[string]interface {}"
	case answer.List:
		want = "[]interface {}"
	}
	return v == nil || fmt.Sprintf("%T", v) == want
}
