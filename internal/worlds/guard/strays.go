package guard

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Strays says whether the plugin that p is a process of has started a goroutine that
// still runs, and where.
func Strays(p algo.Process) error { return stray(goroutines(), home(p)) }

// met are the algorithms that this process has run, by the package of their processes.
var met struct {
	sync.Mutex
	types sync.Map          // reflect.Type: known already
	names map[string]string // of algorithms, by package
}

// Meet notes that processes like p of the algorithm of that name run here, for Idlers.
func Meet(p algo.Process, name string) {
	t := reflect.TypeOf(p)
	if _, known := met.types.Load(t); known {
		return
	}
	met.types.Store(t, true)
	met.Lock()
	defer met.Unlock()
	if met.names == nil {
		met.names = map[string]string{}
	}
	met.names[home(p)] = name
}

// Idlers says which of the algorithms that have run here has started a goroutine that
// still runs, and where.
func Idlers() (name string, err error) {
	met.Lock()
	defer met.Unlock()
	text := goroutines()
	for folder, name := range met.names {
		if err := stray(text, folder); err != nil {
			return name, err
		}
	}
	return "", nil
}

// home is the package of p's type; "" if it has none, its code is not in this process, or it may have
// goroutines.
func home(p algo.Process) string {
	switch p.(type) {
	case algo.Guest, algo.Live:
		return ""
	}
	t := reflect.TypeOf(p)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath()
}

// goroutines is where the goroutines of this process are, or some thousands of them.
func goroutines() string {
	var b []byte
	n := 0
	for size := 32 << 10; n == len(b) && size <= 2<<20; size *= 4 { // to clear much takes longer than to look
		b = make([]byte, size)
		n = runtime.Stack(b, true)
	}
	return string(b[:n])
}

// stray says whether code of a package has started one of the goroutines of a text.
func stray(text, folder string) error {
	_, rest, found := strings.Cut(text, "\ncreated by "+folder+".")
	if folder == "" || !found {
		return nil
	}
	name, _, _ := strings.Cut(rest, " ")
	return fmt.Errorf("%s has started a goroutine that outlives its event: a plugin has none of its own",
		strings.TrimSuffix(name, "\n"))
}
