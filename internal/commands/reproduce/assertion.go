package reproduce

import (
	"fmt"
	"math"
	"strings"

	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// A relation is how a measured figure is to stand to a stated one.
type relation string

// The relations, as they begin an assertion.
const (
	exactly  relation = "exactly"   // in every trial
	about    relation = "about"     // the interval contains it
	within   relation = "within"    // the interval lies within so many percent of it
	atMost   relation = "at most"   // the interval is not above it
	atLeast  relation = "at least"  // the interval is not below it
	lessThan relation = "less than" // the interval is below it
)

var relations = []relation{exactly, about, within, atMost, atLeast, lessThan}

// An assertion is a relation to a quantity: "at most 2(N-1)²", "within 5 % of 287",
// "less than label bully".
type assertion struct {
	relation relation
	room     metric.Amount // of within
	number   float64       // if formula and label are empty
	formula  string
	label    string // of another algorithm, in the cell that is otherwise the same
	text     string // as it was written
}

const ofLabel = "label "

func parseAssertion(text string) (*assertion, error) {
	a := &assertion{text: text}
	rest := text
	for _, r := range relations {
		if after, ok := strings.CutPrefix(text, string(r)+" "); ok {
			a.relation, rest = r, after
		}
	}
	if a.relation == "" {
		return nil, fmt.Errorf("%q begins with none of: %s", text, join(relations))
	}
	if a.relation == within {
		share, of, _ := strings.Cut(rest, " of ")
		p, ok := metric.ReadAmount(share)
		if !ok || !p.Percent || p.Value <= 0 {
			return nil, fmt.Errorf("%q, expected as: within 5 %% of 287", text)
		}
		a.room, rest = p, of
	}
	if label, ok := strings.CutPrefix(rest, ofLabel); ok {
		a.label = label
		return a, nil
	}
	if n, ok := metric.ReadAmount(rest); ok && !n.Percent {
		a.number = n.Value
		return a, nil
	}
	if formulas[rest] == nil {
		return nil, fmt.Errorf("%q: %q is neither a number, nor \"label LABEL\", nor a formula (has: %s)",
			text, rest, strings.Join(formulaNames(), ", "))
	}
	a.formula = rest
	return a, nil
}

func join[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = string(w)
	}
	return strings.Join(words, ", ")
}

// against is what the assertion compares with, in a cell. Measured finds the other
// cell's figure where the assertion is about one.
func (a *assertion) against(c *experiment.Cell, measured func(label string) (Estimate, error)) (
	lo, hi float64, err error) {
	switch {
	case a.label != "":
		e, err := measured(a.label)
		return e.Low, e.High, err
	case a.formula != "":
		v, err := evaluate(a.formula, c)
		return v, v, err
	}
	return a.number, a.number, nil
}

// A Verdict is what becomes of an assertion.
type Verdict string

// The verdicts. Close is said with how close.
const (
	Holds     Verdict = "holds"
	Close     Verdict = "within"
	Refuted   Verdict = "refuted"
	Undecided Verdict = "undecided" // too few trials
)

// judge compares an estimate with what lies between lo and hi. The answer is for
// the whole interval: where part of it would be right and part of it wrong, there are
// too few trials.
func (a *assertion) judge(e Estimate, lo, hi float64) Verdict {
	if math.IsNaN(e.Low) || math.IsNaN(lo) || math.IsNaN(hi) {
		return Undecided
	}
	// Sums of decimal fractions are a little off.
	slack := 1e-9 * max(math.Abs(lo), math.Abs(hi), 1)
	top := e.High
	if math.IsNaN(top) { // censored: above everything that was seen
		top = math.Inf(1)
	}
	decide := func(right, wrong bool) Verdict {
		switch {
		case right:
			return Holds
		case wrong || e.Extremes:
			return Refuted
		}
		return Undecided
	}
	switch a.relation {
	case exactly:
		return decide(e.Low >= lo-slack && top <= hi+slack, true)
	case about:
		return decide(e.Low <= hi+slack && top >= lo-slack, true)
	case atMost:
		return decide(top <= hi+slack, e.Low > hi+slack)
	case atLeast:
		return decide(e.Low >= lo-slack, top < lo-slack)
	case lessThan:
		return decide(top < lo-slack, e.Low >= hi-slack)
	}
	room := a.room.Of(hi) + slack
	if v := decide(e.Low >= lo-room && top <= hi+room, e.Low > hi+room || top < lo-room); v != Holds {
		return v
	}
	return Close
}
