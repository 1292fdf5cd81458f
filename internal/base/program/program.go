// Package program says what the program that runs is: how its user calls it, of which versions it is, and
// whether another one is the same program. It may be Conclave's own, or a command of another module that
// imports Conclave.
package program

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// Core is the module of Conclave itself.
const Core = "github.com/conclave-bench/conclave"

// Command is a command of this program, as its user can paste it into a shell. Conclave's own program is
// bench, however it was started; one of another module is called as its user called it, for only that one
// knows its algorithms.
func Command(words ...string) string {
	var b strings.Builder
	b.WriteString(name())
	if len(words) > 0 && slices.Contains([]string{"run", "replay", "trace"}, words[0]) {
		words = slices.Concat(words, flags)
	}
	for _, w := range words {
		b.WriteString(" " + Quote(w))
	}
	return b.String()
}

// flags are those of AddFlags.
var flags []string

// Flags are the words that were given to AddFlags.
func Flags() []string { return slices.Clone(flags) }

// AddFlags has each Command that runs algorithms end with these words as well. It is called before any
// Command.
func AddFlags(words ...string) { flags = append(flags, words...) }

var name = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return called(os.Args[0], info.Main.Path, info.Path)
})

// called is what to type for the program of a package in a module that was started as name.
func called(name, module, pkg string) string {
	switch {
	case module == Core:
		return "bench"
	case strings.Contains(name, "go-build") && pkg != "": // of go run, and gone when it has ended
		return "go run " + pkg
	}
	return Quote(name)
}

// plain is text that a shell takes for one word as it stands.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./:=@%,+-]+$`)

// Quote is text as a shell takes it for one word.
func Quote(text string) string {
	if plain.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Versions are that of Conclave and, of a program of another module, its path and version; "" of Conclave's
// own.
func Versions(info *debug.BuildInfo) (conclave, own string) {
	conclave = cmp.Or(info.Main.Version, "(devel)")
	if info.Main.Path == Core || info.Main.Path == "" {
		return conclave, ""
	}
	own, conclave = info.Main.Path+" "+conclave, "(devel)"
	for _, m := range info.Deps {
		if m.Path == Core && m.Replace == nil {
			conclave = m.Version
		}
	}
	return conclave, own
}

// A Build identifies a program: by what it was built from, where that is known, and by its file.
type Build struct {
	Source string // see Source; "": not known
	Binary string // SHA-256 of the file; "": the file cannot be read
}

// Same says whether two builds are one program: one file, or two that differ in their platforms alone.
func (b Build) Same(o Build) bool {
	return b.Binary != "" && b.Binary == o.Binary || b.Source != "" && b.Source == o.Source
}

// Remedy says what to do where the two are not the same program.
func (b Build) Remedy(o Build) string {
	if b.Source != "" && o.Source != "" {
		return "build both from the same commit, with the same version of Go and the same tags"
	}
	return "a program that was built from uncommitted changes, without version control, or of another " +
		"module is the same only as the same file: build both from a commit"
}

// Source names what a program was built from: commit or checksum of Conclave's module, version of Go, and
// tags of the build. It is the same on all platforms. It is "" if that does not say all: of a build from
// uncommitted changes, without version control, with a module from a folder, and of a program of another
// module, whose algorithms may depend on more.
func Source(info *debug.BuildInfo) string {
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	from := info.Main.Sum // of go install MODULE@VERSION
	if commit := set["vcs.revision"]; commit != "" {
		from = "commit " + commit
	}
	local := slices.ContainsFunc(info.Deps, func(m *debug.Module) bool {
		return m.Version == "(devel)" || m.Replace != nil && m.Replace.Version == ""
	})
	if info.Main.Path != Core || from == "" || set["vcs.modified"] == "true" || local {
		return ""
	}
	if tags := set["-tags"]; tags != "" {
		return fmt.Sprintf("%s, %s, tags %s", from, info.GoVersion, tags)
	}
	return fmt.Sprintf("%s, %s", from, info.GoVersion)
}
