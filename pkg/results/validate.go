package results

import (
	"errors"
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/internal/base/text"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Names of experiments become folders, and those of columns become identifiers
// in the languages that read the tables.
var (
	nameRule   = text.Lazy(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	columnRule = text.Lazy(`^[a-z][a-z0-9_]{0,63}$`)
)

// check says everything that is wrong with the caller's part of a header.
func (h *Header) check() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !nameRule().MatchString(h.Name) {
		wrong("name %q, expected lower-case letters, digits, '.', '_' or '-', at most 64", h.Name)
	}
	if h.Planned < 1 || h.Retries < 0 {
		wrong("%d trials planned with %d retries, expected at least 1 and 0", h.Planned, h.Retries)
	}
	if fixed := DesignColumns(); len(h.Design) < len(fixed) ||
		!slices.Equal(h.Design[:len(fixed)], fixed) {
		wrong("design columns %q, expected them to begin with %q", h.Design, fixed)
	}
	seen := map[string]bool{}
	for _, name := range slices.Concat(names(identity), []string{HostColumn}, fixedColumns(), h.Design,
		h.Metrics) {
		if !columnRule().MatchString(name) {
			wrong("column %q, expected lower snake case", name)
		}
		if seen[name] {
			wrong("column %q appears twice, expected one of each name", name)
		}
		seen[name] = true
	}
	for _, name := range undeclared(h.Metrics) {
		wrong("metric %q is not declared", name)
	}
	for _, name := range h.Design {
		if slices.Contains(names(items), name) {
			wrong("design column %q is the name of a column of %s", name, SummaryFile)
		}
	}
	return errors.Join(errs...)
}

// check says everything for which t cannot stand in the run that h describes.
func (t *Trial) check(h *Header) error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if t.Trial < 1 || t.Trial > h.Planned {
		wrong("number %d, expected 1 to %d", t.Trial, h.Planned)
	}
	if t.Cell < 1 || t.Repetition < 1 || t.Round < 0 || t.RunOrder < 1 || t.Attempts < 1 {
		wrong("cell %d, repetition %d, order %d, attempts %d: each counts from 1",
			t.Cell, t.Repetition, t.RunOrder, t.Attempts)
	}
	if t.Seed >= 1<<53 {
		wrong("seed %d, expected less than 2^53, which every reader of numbers keeps", t.Seed)
	}
	if !slices.Contains(trace.Statuses(), t.Status) {
		wrong("status %q, expected one of %q", t.Status, trace.Statuses())
	}
	named := func(f metric.Field, name string) bool { return f.Name == name }
	if !slices.EqualFunc(t.Design, h.Design, named) {
		wrong("design %v, expected the columns %q", t.Design, h.Design)
	}
	seen := map[string]bool{}
	for _, m := range t.own {
		if !m.Always() && !slices.Contains(h.Metrics, m.Name) {
			wrong("metric %q, expected one that the run was created with: %q", m.Name, h.Metrics)
		}
		if seen[m.Name] {
			wrong("metric %q appears twice", m.Name)
		}
		seen[m.Name] = true
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("trial %d: %w", t.Trial, errors.Join(errs...))
}
