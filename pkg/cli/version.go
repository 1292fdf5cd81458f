package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A build is what the linker left in this program about itself.
type build struct {
	Version string // of Conclave
	// Own is the module of a command that is not Conclave's, with its version.
	Own      string
	Revision string // of the command's module; empty if it was built outside a repository
	Dirty    bool   `json:"dirty"` // built from uncommitted changes
	Go       string
	Platform string
	// Algorithms is how many are linked in.
	Algorithms int
}

func thisBuild() build {
	b := build{Version: "unknown version", Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Algorithms: len(algo.All())}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.read(info)
	}
	return b
}

// read takes in what the linker left.
func (b *build) read(info *debug.BuildInfo) {
	b.Version, b.Own = program.Versions(info)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Dirty = s.Value == "true"
		}
	}
}

// commit is the revision in words, and whose it is.
func (b *build) commit() string {
	text := "commit unknown"
	if b.Revision != "" {
		text = fmt.Sprintf("commit %.12s", b.Revision)
	}
	if b.Dirty {
		text += " with uncommitted changes"
	}
	if b.Own != "" {
		text = b.Own + ", " + text
	}
	return text
}

func (s *streams) versionCommand() *cobra.Command {
	return s.answering(&cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Example: `  bench version
  bench version --json`,
		Args: noArguments,
	}, func([]string) (*answer.Document, error) { return versionAnswer(), nil })
}

// versionAnswer is what this program says about itself.
func versionAnswer() *answer.Document {
	b := thisBuild()
	d := answer.New("version", "conclave "+b.Version)
	d.Add(answer.Facts{
		{Name: "version", Value: b.Version, Line: "conclave " + b.Version},
		{Name: "own_module", Value: b.Own},
		{Name: "commit", Value: b.Revision, Line: b.commit()},
		{Name: "dirty", Value: b.Dirty},
		{Name: "go", Value: b.Go, Line: b.Go + " " + b.Platform},
		{Name: "platform", Value: b.Platform},
		{Name: "algorithms", Value: b.Algorithms,
			Line: console.Plural(b.Algorithms, "algorithm", "algorithms")},
	})
	return d
}

// buildText is a build: for people its beginning, and whether it is that of this program.
func buildText(build results.Tool) answer.Shown {
	text := fmt.Sprintf("%.8s", build.Binary)
	if results.ThisSite().Tool.Same(build, true) {
		text += " (this)"
	}
	return answer.Shown{Value: build.Binary, Text: text}
}
