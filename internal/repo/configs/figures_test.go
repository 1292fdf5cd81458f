// Package configs runs what lies in configs and looks at what comes out: the
// figures of the lecture notes to the message, and that each claim shows what its
// first lines say. It is nothing but tests.
package configs

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

var rewrite = flag.Bool("rewrite", false, "write the transcripts anew; read the diff")

const folder = "../../../configs"

// load reads an experiment of the folder, with values of its keys changed.
func load(t *testing.T, name string, set ...string) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Load(filepath.Join(folder, name), experiment.Overrides{Set: set})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// names are the experiments below a folder of configs.
func names(t *testing.T, below string) (out []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, below, "*.yaml"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no experiment in %s: %v", below, err)
	}
	for _, path := range found {
		out = append(out, below+"/"+filepath.Base(path))
	}
	return out
}

// TestFigures: each figure happens message by message as its transcript says.
func TestFigures(t *testing.T) {
	t.Parallel()
	for _, name := range names(t, "figures") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := load(t, name)
			if len(e.Trials()) != 1 || len(e.Cells) != 1 {
				t.Fatalf("%d trials, want one: a figure is one course of events", len(e.Trials()))
			}
			got, verdict, err := algotest.Transcribe(e.Trials()[0].Plan)
			if err != nil {
				t.Fatal(err)
			}
			if verdict.Status != trace.OK || !e.Cells[0].Plan.InModel {
				t.Errorf("%s: %s", verdict.Status, verdict.Reason)
			}
			transcript := filepath.Join(folder, strings.TrimSuffix(name, ".yaml")+".txt")
			if *rewrite {
				if err := os.WriteFile(transcript, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(transcript)
			if err != nil || got != string(want) {
				t.Errorf("%s: got:\n%s\nwant:\n%s\n%v; if it is meant: go test ./internal/repo/configs -rewrite",
					transcript, got, want, err)
			}
		})
	}
}
