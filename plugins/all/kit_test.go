package all

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
)

// nightly says whether the slow tests run, too.
var nightly = os.Getenv("CONCLAVE_NIGHTLY") != ""

// TestConformance: every linked algorithm is held against the kit: by its own tests,
// and at night here as well.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, a := range algo.All() {
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			if !runsKit(t, a) {
				t.Errorf("its tests call neither algotest.Run nor Verify for %q", a.ID)
			}
			if !nightly {
				return
			}
			if err := algotest.Verify(a.ID, algotest.Options{Schedules: 100}); err != nil {
				t.Error(err)
			}
		})
	}
}

// runsKit looks into the tests of an algorithm.
func runsKit(t *testing.T, a *algo.Algorithm) bool {
	t.Helper()
	folder := strings.ReplaceAll(a.Spec.Name, "-", "")
	files, err := filepath.Glob(filepath.Join("..", string(a.Problem), folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range []string{
			"algotest.Run(t, id)", "algotest.Verify(id,", fmt.Sprintf("algotest.Run(t, %q)", a.ID),
		} {
			if strings.Contains(string(text), call) {
				return true
			}
		}
	}
	return false
}
