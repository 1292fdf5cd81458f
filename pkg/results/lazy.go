package results

import (
	"regexp"
	"sync"
)

// lazy compiles a pattern when it is first used: this package is linked into
// every node process, and a node's start is measured time.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
