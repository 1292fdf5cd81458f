package tree

import "github.com/conclave-bench/conclave/pkg/algo"

// Wakeup makes its receiver start, and says that its sender has.
type Wakeup struct{}

// Token carries the best rank of the part of the tree behind its sender.
type Token struct{ Best Rank }

// A Rank orders processes: by estimate, then by ID.
type Rank struct {
	Est int64
	ID  algo.ID
}

// Kind is WAKEUP.
func (Wakeup) Kind() string { return "WAKEUP" }

// Kind is TOKEN.
func (Token) Kind() string { return "TOKEN" }

// above says whether r is better than q.
func (r Rank) above(q Rank) bool { return r.Est > q.Est || r.Est == q.Est && r.ID > q.ID }
