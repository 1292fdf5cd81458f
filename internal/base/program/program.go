// Package program says what the program that runs is: how its user calls it, and of which versions it is. It
// may be Conclave's own, or a command of another module that imports Conclave.
package program

import (
	"cmp"
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
