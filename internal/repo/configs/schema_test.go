package configs

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/conclave-bench/conclave/pkg/experiment"
)

const schemaFile = "experiment.schema.json"

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestSchema: the schema that editors read is that of this program, and accepts every
// experiment, each of which names it in its first line.
func TestSchema(t *testing.T) {
	t.Parallel()
	text := must(experiment.JSONSchema())
	file := filepath.Join(folder, schemaFile)
	if *rewrite {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(file); err != nil || !bytes.Equal(kept, text) {
		t.Errorf("%s is not what \"bench schema\" prints (%v): go test ./internal/repo/configs -run TestSchema -rewrite",
			file, err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaFile, must(jsonschema.UnmarshalJSON(bytes.NewReader(text)))); err != nil {
		t.Fatal(err)
	}
	s := must(c.Compile(schemaFile))
	checked := 0
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && e.Name() == "systems" { // of libraries, which systems/ links and tests
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".yaml" || strings.HasSuffix(path, ".statements.yaml") {
			return err
		}
		checked++
		data := must(os.ReadFile(path))
		way := must(filepath.Rel(filepath.Dir(path), file))
		line := "# yaml-language-server: $schema=" + filepath.ToSlash(way) + "\n"
		if !bytes.HasPrefix(data, []byte(line)) {
			t.Errorf("%s: want this first line, for editors: %s", path, line)
		}
		var v any
		if err := yaml.Unmarshal(data, &v); err != nil {
			t.Errorf("%s: %v", path, err)
		} else if err := s.Validate(v); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		return err
	})
	if err != nil || checked < 100 {
		t.Errorf("%d experiments are checked: %v", checked, err)
	}
}
