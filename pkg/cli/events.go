package cli

import (
	"io"

	"github.com/conclave-bench/conclave/internal/report/diagram"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// printEvents writes what happened, a line for each record, with its number.
func printEvents(w io.Writer, list trace.List, kinds []string) {
	_ = diagram.WriteEvents(w, list, kinds, nil) // the error stays in w until the end
}
