package guard

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Strays says whether the plugin that p is a process of has started a goroutine that
// still runs, and where.
func Strays(p algo.Process) error {
	t := reflect.TypeOf(p)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var b []byte
	n := 0
	for size := 32 << 10; n == len(b) && size <= 2<<20; size *= 4 { // to clear much takes longer than to look
		b = make([]byte, size)
		n = runtime.Stack(b, true)
	}
	text := string(b[:n])
	_, rest, found := strings.Cut(text, "\ncreated by "+t.PkgPath()+".")
	if t.PkgPath() == "" || !found {
		return nil
	}
	name, _, _ := strings.Cut(rest, " ")
	return fmt.Errorf("%s has started a goroutine that outlives its event: a plugin has none of its own",
		strings.TrimSuffix(name, "\n"))
}
