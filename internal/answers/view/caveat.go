package view

import (
	"fmt"

	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Caveat is what a reader has to know of a cell before he relies on its figures.
type Caveat struct {
	Kind      CaveatKind
	Trials    int // that it is about
	AllTrials int // of the cell
}

// A CaveatKind is why a cell has one.
type CaveatKind int

// The kinds, in the order in which they are shown. Time-outs are none: such trials count, as longer than
// all others.
const (
	OutsideModel CaveatKind = iota
	Unjudged
	Broken
)

// CaveatTexts are the kinds in words. A page puts in the numbers itself.
var CaveatTexts = []string{
	OutsideModel: "outside the algorithm's model",
	Unjudged:     "%d of %d trials have no verdict",
	Broken:       "%d of %d trials broke a promise",
}

// MoreThanClaimed explains the first of them.
const MoreThanClaimed = "conditions exceed what the algorithm claims to survive"

func (c Caveat) String() string {
	if c.Kind == OutsideModel {
		return CaveatTexts[c.Kind]
	}
	return fmt.Sprintf(CaveatTexts[c.Kind], c.Trials, c.AllTrials)
}

// CaveatOf is the one of a kind, of 0 trials if there is no cause for it.
func CaveatOf(c *results.Cell, kind CaveatKind) Caveat {
	out := Caveat{Kind: kind, AllTrials: c.Size()}
	switch kind {
	case OutsideModel:
		out.Trials = c.Beyond()
	case Unjudged:
		out.Trials = c.Unjudged()
	case Broken:
		out.Trials = c.Count(trace.Violated)
	}
	return out
}

// Caveats are those of a cell; none if all its trials count and are within the algorithm's model.
func Caveats(c *results.Cell) (out []Caveat) {
	for kind := range CaveatTexts {
		if caveat := CaveatOf(c, CaveatKind(kind)); caveat.Trials > 0 {
			out = append(out, caveat)
		}
	}
	return out
}
