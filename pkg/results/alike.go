package results

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// numbers are the processes, times and counts of a reason.
var numbers = regexp.MustCompile(`[0-9]+(\.[0-9]+)?(ms|µs|ns|h|m|s)?([0-9.]+(ms|µs|ns|h|m|s))*`)

// mostWords is how long what a reason repeats for each of several processes is at most, in words.
const mostWords = 3

// Alike is a reason without what trials differ in that failed for the same reason: numbers, and how many
// processes a list has. It is a key, not a text to show.
func Alike(reason string) string {
	var out []string
	for _, word := range strings.Fields(numbers.ReplaceAllString(reason, "0")) {
		if word = strings.TrimRight(word, ",;."); word == "" {
			continue
		}
		out = append(out, word)
		for k := 1; k <= mostWords && 2*k <= len(out); k++ {
			if end := len(out) - k; slices.Equal(out[end:], out[end-k:end]) {
				out = out[:end]
				break
			}
		}
	}
	return strings.Join(out, " ")
}

// MostAlike is how many traces trace.KeepFailures keeps of trials that failed alike.
const MostAlike = 10

// Firsts are the trials whose traces trace.KeepFailures keeps: of those that failed alike, the ones with the
// lowest numbers. That depends on neither the order in which trials end nor on who runs them: what is not
// among the firsts of a part of the run is not among those of the whole. The zero value has none.
type Firsts struct {
	mu sync.Mutex
	// numbers are sorted, by status and reason.
	numbers map[string][]int
	of      map[int]string // the key of the last failure of each trial that is kept
}

// Admit takes in a failed attempt at a trial. It says whether the trial is among the firsts of those that
// failed alike, and which trial, if any, it has replaced so that no trace of that one is kept.
func (f *Firsts) Admit(trial int, status trace.Status, reason string) (ok bool, replaced int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.numbers == nil {
		f.numbers, f.of = map[string][]int{}, map[int]string{}
	}
	key := string(status) + ": " + Alike(reason)
	list := f.numbers[key]
	at, known := slices.BinarySearch(list, trial)
	if !known && at == MostAlike {
		delete(f.of, trial) // of an earlier attempt that failed otherwise
		return false, 0
	}
	f.of[trial] = key
	if known {
		return true, 0
	}
	list = slices.Insert(list, at, trial)
	if len(list) > MostAlike {
		if last := list[MostAlike]; f.of[last] == key {
			delete(f.of, last)
			replaced = last
		}
		list = list[:MostAlike]
	}
	f.numbers[key] = list
	return true, replaced
}

// keeps says whether the trace of the last failure of a trial is kept.
func (f *Firsts) keeps(trial int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.of[trial]
	return ok
}

// Traced says of how many trials with a status traces were kept, where that is not all of them.
type Traced struct {
	Status trace.Status `json:"status"`
	Trials int          `json:"trials"`
	Kept   int          `json:"kept"`
}

// LeftOut says in a sentence of which trials traces were left out.
func LeftOut(traced []Traced) string {
	var parts []string
	kept := 0
	for _, t := range traced {
		parts = append(parts, fmt.Sprintf("%d of %d %s", t.Kept, t.Trials, t.Status))
		kept += t.Kept
	}
	if len(traced) == 1 && kept == MostAlike {
		return fmt.Sprintf("traces: the first %s trials are kept; trace: all keeps all", parts[0])
	}
	return fmt.Sprintf("traces: %s trials are kept, the first %d of each reason; trace: all keeps all",
		strings.Join(parts, ", "), MostAlike)
}
