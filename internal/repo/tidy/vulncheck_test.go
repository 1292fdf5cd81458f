package tidy

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestVulncheck: a hole fails, and so does whatever else goes wrong; only where
// nothing can be asked is there a warning instead.
func TestVulncheck(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs sh")
	}
	for _, test := range []struct {
		name, says string
		code, want int
	}{
		{"nothing found", "No vulnerabilities found.", 0, 0},
		{"a hole", "Vulnerability #1: GO-2026-1234", 3, 3},
		{"a hole, and a hole in the net", "Vulnerability #1: GO-2026-1234\ndial tcp: no such host", 3, 3},
		{"no database", "fetching vulnerabilities: Get \"https://vuln.go.dev\": dial tcp: no such host", 1, 0},
		{"no tool", "reading https://proxy.golang.org/x.zip: 403 Forbidden", 1, 0},
		{"a program that does not compile", "main.go:1:1: syntax error: unreachable", 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			// A function, since a program that was written a moment ago may still be open for writing in a
			// child of another test, and then cannot be run.
			const fake = `go() { printf '%s\n' "$SAYS"; return "$CODE"; }; . "$0"`
			c := exec.Command("sh", "-c", fake, filepath.Join(root(t), "scripts/vulncheck.sh"))
			c.Env = append(os.Environ(), "SAYS="+test.says, "CODE="+strconv.Itoa(test.code))
			out, err := c.CombinedOutput()
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			warned := strings.Contains(string(out), "WARNING")
			if got := c.ProcessState.ExitCode(); got != test.want || warned != (test.code > 0 && test.want == 0) ||
				!strings.Contains(string(out), test.says) {
				t.Errorf("exit code %d, want %d, warned %v: %s", got, test.want, warned, out)
			}
		})
	}
}
