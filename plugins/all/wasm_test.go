package all_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// TestWasm: what a browser needs to run an experiment, from its text to its tables, can be
// built for one, and takes no NATS along.
func TestWasm(t *testing.T) {
	if !slowtest.Night() {
		t.Skip("builds for another system; make lint does, too")
	}
	t.Parallel()
	args := []string{"list", "-deps"}
	for _, name := range []string{"pkg/sim", "pkg/check", "pkg/experiment", "pkg/results", "pkg/runner", "plugins/all"} {
		args = append(args, "github.com/conclave-bench/conclave/"+name)
	}
	run := func(args ...string) string {
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	for _, path := range strings.Fields(run(args...)) {
		if strings.Contains(path, "nats") {
			t.Errorf("%s is linked in", path)
		}
	}
	run(append([]string{"build"}, args[2:]...)...)
}
