package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/conform"
	"github.com/conclave-bench/conclave/internal/files"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// verifyCases runs the cases of algorithm id in a file, a line each.
func (s *streams) verifyCases(id, path string) error {
	list, others, err := ownCases(id, path)
	if err != nil {
		return err
	}
	width := 0
	for i := range list {
		width = max(width, len(list[i].ID))
	}
	count := map[string]int{}
	unseen := 0
	for i := range list {
		word, unchecked, text, err := runCase(&list[i])
		if err != nil {
			return mistaken(path, err)
		}
		count[word]++
		unseen += unchecked
		line := fmt.Sprintf("%-7s  %-*s  %s", word, width, list[i].ID, text)
		fmt.Fprintln(s.text(), strings.TrimRight(line, " "))
		_ = s.out.Flush() // a statistical case takes its time; an error stays until the end
	}
	var parts []string
	for _, word := range []string{passed, failed, unknown, unread} {
		if count[word] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[word], word))
		}
	}
	if unseen > 0 {
		parts = append(parts, report.Plural(unseen, "expectation", "expectations")+" not checked here")
	}
	fmt.Fprintf(s.text(), "%s: %s: %s%s\n", id, report.Plural(len(list), "case", "cases"),
		strings.Join(parts, ", "), others)
	switch {
	case count[failed] > 0:
		return exit(Violated)
	case count[unknown] > 0 || count[unread] == len(list):
		return exit(Incomplete)
	}
	return nil
}

// What a case comes to.
const (
	passed  = "ok"
	failed  = "FAILED"
	unknown = "unknown" // nothing that it expects can be checked here
	unread  = "not run" // it says in words what a trial needs
)

// runCase runs a case. The error is of one that cannot be run.
func runCase(c *conform.Reference) (word string, unseen int, text string, err error) {
	if words := c.Unread(); words != nil {
		return unread, 0, "cannot be read: " + strings.Join(words, ", "), nil
	}
	unchecked, missed := c.Run()
	if all := (conform.Mistakes)(nil); errors.As(missed, &all) {
		return "", 0, "", missed
	}
	var notes []string
	switch word = passed; {
	case missed != nil:
		word = failed
		notes = append(notes, strings.Split(missed.Error(), "\n")...)
	case unchecked != nil && !c.Expects():
		word = unknown
	}
	if unchecked != nil {
		notes = append(notes, "not checked here: "+strings.Join(unchecked, ", "))
	}
	return word, len(unchecked), strings.Join(notes, "; "), nil
}

// mostCases is the size of a file of cases: thousands of them.
const mostCases = 16 * files.MiB

// ownCases is the cases of algorithm id in a file, and a remark on all others.
func ownCases(id, path string) (list []conform.Reference, others string, err error) {
	text, err := files.Read(path, mostCases)
	if err != nil {
		if reason := (*fs.PathError)(nil); errors.As(err, &reason) {
			err = reason.Err
		}
		return nil, "", usage("%s: %v; --cases wants a file", path, err)
	}
	all, err := conform.LoadCases(path, text)
	if err != nil {
		return nil, "", mistaken(path, err)
	}
	count := map[string]int{}
	var found, one conform.Mistakes
	for i := range all {
		switch c := &all[i]; {
		case c.Algorithm != id:
			count[c.Algorithm]++
		default:
			if c.Unread() == nil && errors.As(c.Load(), &one) {
				found = append(found, one...)
			}
			list = append(list, *c)
		}
	}
	var parts []string
	for _, other := range slices.Sorted(maps.Keys(count)) {
		part := fmt.Sprintf("%s %d", other, count[other])
		if _, err := algo.Lookup(other); err != nil {
			part += " (unknown here)"
		}
		parts = append(parts, part)
	}
	rest := strings.Join(parts, ", ")
	switch {
	case found != nil:
		return nil, "", mistaken(path, found)
	case list == nil && rest == "":
		return nil, "", usage("%s: no cases; want one of %s, with algorithm and kind set", path, id)
	case list == nil:
		return nil, "", usage("%s: no case of %s; it has cases of %s", path, id, rest)
	case rest != "":
		others = fmt.Sprintf("\nnot run, %s of other algorithms: %s",
			report.Plural(len(all)-len(list), "case", "cases"), rest)
	}
	if slices.ContainsFunc(list, func(c conform.Reference) bool { return c.Unread() != nil }) {
		others += "\nwrite what cannot be read as an experiment (docs/adding-an-algorithm.md)"
	}
	return list, others, nil
}

// mistaken is the usage error of a file that cannot be meant.
func mistaken(path string, err error) error {
	var all conform.Mistakes
	if !errors.As(err, &all) {
		return usage("%s: %v", path, err)
	}
	lines := make([]string, len(all))
	for i, m := range all {
		lines[i] = m.In(path)
	}
	return usage("%s", strings.Join(lines, "\n"))
}
