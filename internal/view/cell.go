package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// InModel says whether the algorithm claims to survive what the cell does to it.
func InModel(c *results.Cell) bool {
	return !slices.ContainsFunc(c.Trials, func(t *results.Trial) bool { return !t.InModel })
}

// Statuses tells how the trials of a cell ended, as "ok 5, timeout 2".
func Statuses(c *results.Cell) string {
	var parts []string
	for _, status := range trace.Statuses() {
		if n := c.Count(status); n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", status, n))
		}
	}
	text := strings.Join(parts, ", ")
	if !InModel(c) {
		text += " (in_model=false)"
	}
	return text
}
