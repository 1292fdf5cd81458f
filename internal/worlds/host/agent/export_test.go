package agent

import (
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// ParseReport is the record that a line of node id reports, nil if none; and what is
// wrong with the line.
func ParseReport(line []byte, id algo.ID, nodes int) (*trace.Record, string) {
	r := parseReport(line, id, nodes)
	return r.Record, r.Error
}
