package view

import (
	"fmt"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Counting says how many trials ended with status ok, and what became of the others, as every page says it
// first: "50 of 60 trials count; 6 timed out, 4 have no verdict (3 unknown, 1 invalid)". "" if there is no
// trial.
func Counting(trials map[trace.Status]int) string {
	all, none := 0, 0
	var unjudged []string
	for _, status := range trace.Statuses() {
		n := trials[status]
		all += n
		if n > 0 && !status.Judged() {
			none += n
			unjudged = append(unjudged, fmt.Sprint(n, " ", status))
		}
	}
	if all == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %s", trials[trace.OK], console.Plural(all, "trial counts", "trials count"))
	var rest []string
	if n := trials[trace.TimedOut]; n > 0 {
		rest = append(rest, fmt.Sprint(n, " timed out"))
	}
	if n := trials[trace.Violated]; n > 0 {
		rest = append(rest, fmt.Sprint(n, " broke a promise"))
	}
	if none > 0 {
		rest = append(rest, fmt.Sprintf("%s no verdict (%s)", console.Plural(none, "has", "have"),
			strings.Join(unjudged, ", ")))
	}
	if len(rest) == 0 {
		return text
	}
	return text + "; " + strings.Join(rest, ", ")
}
