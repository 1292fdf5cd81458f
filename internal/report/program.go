package report

import (
	"os"
	"runtime/debug"
	"strings"
	"sync"
)

// Core is the module of Conclave itself.
const Core = "github.com/conclave-bench/conclave"

// Program is how hints call this program. Conclave's own is bench, however it was started; a command of
// another module is called as its user called it, for only that one knows its algorithms.
var Program = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return called(os.Args[0], "", "")
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
