package experiment

import (
	"fmt"
	"strconv"
	"strings"
)

// A Shard is a part of a plan that another machine may run. Of simulated trials, which machines do
// not change, it has those at the positions Index, Index + Of, Index + 2·Of and so on of the order of
// execution. Of trials on real nodes it has these repetitions: none is divided, so that what is compared
// with each other was measured on one machine.
type Shard struct{ Index, Of int } // 1 <= Index <= Of

const likeShard = "expected I/N, where I counts from 1 to N, as 3/8; or K+1/N, where K counts from 0"

// ParseShard reads a shard as "3/8". "2+1/8" is the same, for a script that has a number
// that counts from 0 and no shell that could add.
func ParseShard(text string) (Shard, error) {
	first, of, ok := strings.Cut(text, "/")
	first, fromZero := strings.CutSuffix(first, "+1")
	i, err := strconv.Atoi(first)
	if fromZero {
		i++
	}
	n, bad := strconv.Atoi(of)
	if !ok || err != nil || bad != nil || i < 1 || i > n {
		return Shard{}, fmt.Errorf("%q is no shard, %s", text, likeShard)
	}
	return Shard{i, n}, nil
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// has says whether a trial is in the shard.
func (s Shard) has(virtual bool, repetition, order int) bool {
	if virtual {
		return (order-s.Index)%s.Of == 0
	}
	return (repetition-s.Index)%s.Of == 0
}

// Only is e with the trials of a shard alone. Their numbers, seeds and positions in
// execution are those that they have in e.
func (e *Experiment) Only(s Shard) (*Experiment, error) {
	switch {
	case s.Index < 1 || s.Index > s.Of:
		return nil, fmt.Errorf("shard %v, %s", s, likeShard)
	case e.Until != nil:
		return nil, fmt.Errorf("shard %v: repetitions has a rule (until), by which a cell ends when the "+
			"repetitions before say so, and no shard knows them all; expected a number, as "+
			"--set repetitions=%d", s, e.Repetitions)
	}
	switch trials := len(e.Cells) * e.Repetitions; {
	case e.Virtual() && s.Of > trials:
		return nil, fmt.Errorf("shard %v: there are %d trials; expected at most %d shards, or more "+
			"repetitions", s, trials, trials)
	case !e.Virtual() && s.Of > e.Repetitions:
		return nil, fmt.Errorf("shard %v: there are %d repetitions, and each stays on one machine; "+
			"expected at most %d shards, or more repetitions", s, e.Repetitions, e.Repetitions)
	}
	part := *e
	part.Shard, part.shares = s, make([]int, len(e.Cells))
	for r := 1; r <= e.Repetitions; r++ {
		for at, cell := range e.order(r) {
			if s.has(e.Virtual(), r, (r-1)*len(e.Cells)+at+1) {
				part.shares[cell]++
			}
		}
	}
	return &part, nil
}
