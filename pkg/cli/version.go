package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// A build is what the linker left in this program about itself.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"commit"` // empty if it was built outside a repository
	Dirty    bool   `json:"dirty"`  // built from uncommitted changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// Algorithms is how many are linked in.
	Algorithms int `json:"algorithms"`
}

func thisBuild() build {
	b := build{Version: "unknown version", Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Algorithms: len(algo.All())}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if b.Version = info.Main.Version; b.Version == "" {
		b.Version = "(devel)"
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Dirty = s.Value == "true"
		}
	}
	return b
}

// commit is the revision in words.
func (b *build) commit() string {
	switch {
	case b.Revision == "":
		return "commit unknown"
	case b.Dirty:
		return fmt.Sprintf("commit %.12s with uncommitted changes", b.Revision)
	}
	return fmt.Sprintf("commit %.12s", b.Revision)
}

func (s *streams) versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Example: `  bench version
  bench version --json`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			if asJSON {
				return writeJSON(s.out, b)
			}
			fmt.Fprintf(s.out, "conclave %s\n%s\n%s %s\n%s\n", b.Version, b.commit(), b.Go, b.Platform,
				report.Plural(b.Algorithms, "algorithm", "algorithms"))
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return c
}
