package conform

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// What a rule or a case comes to.
const (
	passed  = "ok"
	failed  = "FAILED"
	unknown = "unknown" // nothing that it expects can be checked here
	unread  = "not run" // it says in words what a trial needs
)

// A verdict is the answer about an algorithm while it grows.
type verdict struct {
	*answer.Document
	id    string
	table *answer.Table
	count map[string]int
}

func newVerdict(id, what, name string) *verdict {
	v := &verdict{Document: answer.New("verify", what+" of "+id), id: id, count: map[string]int{}}
	v.Add(answer.Facts{{Name: "algorithm", Value: id}})
	v.table = v.Table(name, answer.Columns(answer.Everybody, "result name text")...)
	v.table.Only = answer.Programs
	return v
}

// add says what a rule or a case came to.
func (v *verdict) add(word, name, text, line string) {
	v.count[word]++
	v.table.Row(word, name, text)
	v.Add(answer.Lines(strings.TrimRight(line, " ")))
	c := answer.Check{Group: v.id, Name: name, Failed: word == failed}
	if word != passed {
		c.Failure, c.Kind = text, word
	}
	v.Checks = append(v.Checks, c)
}

// Answer holds algorithm id against the kit. Busy is called with each rule before its turn. The error is
// that of an algorithm that cannot be run.
func Answer(id string, o Options, busy func(rule string)) (*answer.Document, error) {
	v := newVerdict(id, "Conformance", "rules")
	next := 0
	turn := func() {
		if next < len(Kit) {
			busy(Kit[next].Name)
		}
		next++
	}
	o.Progress = func(c Rule, err error) {
		if err == nil {
			v.add(passed, c.Name, c.Sentence, fmt.Sprintf("ok      %-12s %s", c.Name, c.Sentence))
		} else {
			v.add(failed, c.Name, err.Error(), fmt.Sprintf("FAILED  %-12s %v", c.Name, err))
		}
		turn()
	}
	turn()
	err := Verify(id, o)
	if unrunnable := (*Unrunnable)(nil); errors.As(err, &unrunnable) {
		return v.Document, fmt.Errorf("%s could not be run", id)
	}
	if err != nil {
		v.Exit = answer.Violated
	}
	return v.Document, nil
}

// AnswerCases runs the cases of algorithm id in a file. Busy is called with each before its turn.
func AnswerCases(id, path string, busy func(name string)) (*answer.Document, error) {
	list, others, err := ownCases(id, path)
	if err != nil {
		return nil, err
	}
	v, width, unseen := newVerdict(id, "Cases", "cases"), 0, 0
	for i := range list {
		width = max(width, len(list[i].ID))
	}
	for i := range list {
		busy(list[i].ID)
		word, unchecked, text, err := list[i].verdict()
		if err != nil {
			return nil, misread(path, err)
		}
		unseen += unchecked
		v.add(word, list[i].ID, text, fmt.Sprintf("%-7s  %-*s  %s", word, width, list[i].ID, text))
	}
	var parts []string
	for _, word := range []string{passed, failed, unknown, unread} {
		if v.count[word] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", v.count[word], word))
		}
	}
	if unseen > 0 {
		parts = append(parts, console.Plural(unseen, "expectation", "expectations")+" not checked here")
	}
	v.Say(fmt.Sprintf("%s: %s: %s%s", id, console.Plural(len(list), "case", "cases"),
		strings.Join(parts, ", "), others))
	if list[0].old {
		v.Add(answer.Note{Text: fmt.Sprintf("%s has the old format, which the next version does not read; "+
			"\"go run ./scripts/convert-cases %s\" prints it as experiments", path, path), Aside: true})
	}
	switch {
	case v.count[failed] > 0:
		v.Exit = answer.Violated
	case v.count[unknown] > 0 || v.count[unread] == len(list):
		v.Exit = answer.Incomplete
	}
	return v.Document, nil
}

// verdict runs the case. The error is of one that cannot be run.
func (c *Reference) verdict() (word string, unseen int, text string, err error) {
	if c.Words != nil {
		return unread, 0, "cannot be read: " + strings.Join(c.Words, ", "), nil
	}
	unchecked, missed := c.Run()
	if all := (Mistakes)(nil); errors.As(missed, &all) {
		return "", 0, "", missed
	}
	var notes []string
	switch word = passed; {
	case missed != nil:
		word, notes = failed, strings.Split(missed.Error(), "\n")
	case unchecked != nil && !c.Expects():
		word = unknown
	}
	if unchecked != nil {
		notes = append(notes, "not checked here: "+strings.Join(unchecked, ", "))
	}
	return word, len(unchecked), strings.Join(notes, "; "), nil
}

// ownCases is the cases of algorithm id in a file, and a remark on all others.
func ownCases(id, path string) (list []Reference, others string, err error) {
	text, err := files.Read(path, MostCases)
	if err != nil {
		if reason := (*fs.PathError)(nil); errors.As(err, &reason) {
			err = reason.Err
		}
		return nil, "", answer.Mistaken("%s: %v; --cases wants a file", path, err)
	}
	all, err := LoadCases(path, text)
	if err != nil {
		return nil, "", misread(path, err)
	}
	count, inWords := map[string]int{}, false
	var found, one Mistakes
	for i := range all {
		c := &all[i]
		if c.Algorithm != id {
			count[c.Algorithm]++
			continue
		}
		inWords = inWords || c.Words != nil
		if c.Words == nil && errors.As(c.Load(), &one) {
			found = append(found, one...)
		}
		list = append(list, *c)
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
		return nil, "", misread(path, found)
	case list == nil && rest == "":
		return nil, "", answer.Mistaken("%s: no cases; expected one of %s, with algorithm and kind "+
			"set", path, id)
	case list == nil:
		return nil, "", answer.Mistaken("%s: no case of %s; it has cases of %s", path, id, rest)
	case rest != "":
		others = fmt.Sprintf("\nnot run, %s of other algorithms: %s",
			console.Plural(len(all)-len(list), "case", "cases"), rest)
	}
	if inWords {
		others += "\nwrite what cannot be read as an experiment (docs/reference/cases.md)"
	}
	return list, others, nil
}

// misread is the error of a file that cannot be meant.
func misread(path string, err error) error {
	var all Mistakes
	if errors.As(err, &all) {
		return answer.Mistaken("%v", all.In(path))
	}
	return answer.Mistaken("%s: %v", path, err)
}
