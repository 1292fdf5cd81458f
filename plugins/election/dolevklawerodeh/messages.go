package dolevklawerodeh

import "github.com/conclave-bench/conclave/pkg/algo"

// One goes to the next active process: the value that its sender has.
type One struct{ Value algo.ID }

// Two goes to the next active process: the value that its sender got in One, or with peterson
// the larger of that and its own.
type Two struct{ Value algo.ID }

// Kind is ONE.
func (One) Kind() string { return "ONE" }

// Kind is TWO.
func (Two) Kind() string { return "TWO" }
