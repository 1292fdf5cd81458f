package harness

import (
	"fmt"
	"path"
	"runtime"
	"strconv"
	"strings"
	"unicode"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// mostBlame bounds what a plugin's panic may say, in bytes.
const mostBlame = 200

// Blame is the error of a trial whose plugin has panicked in process p with what was
// recovered. The deferred function that recovers it calls Blame itself. Unlike a
// stack, the words are the same on every run, simulated or real.
func Blame(p algo.ID, recovered any) error {
	if b, ok := recovered.(*algo.Breach); ok {
		return b
	}
	return fmt.Errorf("process %d: panic: %s, in %s", p, Panicked(recovered), origin())
}

// Panicked is what a plugin has panicked with, in one line that terminals and files of text take as
// it is; of much, the beginning.
func Panicked(recovered any) string {
	text := fmt.Sprint(recovered)
	var b strings.Builder
	for _, r := range text[:min(mostBlame, len(text))] {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// origin is where the panic that is being recovered was raised.
func origin() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs)])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") || !more {
			return fmt.Sprintf("%s (%s:%d)", path.Base(f.Function), path.Base(f.File), f.Line)
		}
	}
}
