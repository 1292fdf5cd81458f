package bubble_test

import (
	"os"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/cli"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

// TestMain is bench-systems, with libraries that misbehave, where the test asks for a command.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		os.Exit(cli.Bench())
	}
	os.Exit(m.Run())
}
