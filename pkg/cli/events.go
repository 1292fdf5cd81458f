package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/conclave-bench/conclave/pkg/report/diagram"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// printEvents writes what happened, a line for each record, with its number.
func printEvents(w io.Writer, list trace.List, kinds []string) {
	width := len(fmt.Sprint(len(list)))
	for i := range list {
		r := &list[i]
		fmt.Fprintf(w, "%*d %12s  %s\n", width, i+1, r.At.Round(time.Microsecond),
			diagram.Sentence(r, kinds))
	}
}
