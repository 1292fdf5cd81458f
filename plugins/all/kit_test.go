package all

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
)

// nightly says whether the slow tests run, too.
var nightly = slowtest.Night()

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
	text, id := testsOf(t, a)
	return strings.Contains(text, "algotest.Run(t, "+id+")") || strings.Contains(text, "algotest.Verify("+id+",")
}

// testsOf is the tests in the folder where an algorithm's file stands, and the constant
// that is its ID there.
func testsOf(t *testing.T, a *algo.Algorithm) (text, id string) {
	t.Helper()
	file := strings.ReplaceAll(a.Spec.Name, "-", "") + ".go"
	own, err := filepath.Glob(filepath.Join("..", string(a.Problem), "*", file))
	if err != nil || len(own) != 1 {
		t.Fatalf("%d files %s, want one: %v", len(own), file, err)
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(own[0]), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		part, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text += string(part)
	}
	found := regexp.MustCompile(`(\w+) += ` + regexp.QuoteMeta(strconv.Quote(a.ID)) + "\n").FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("its tests have no constant for %q", a.ID)
	}
	return text, found[1]
}
