package variablespeeds

import "github.com/conclave-bench/conclave/pkg/algo"

// Token goes round the ring with the ID of the process that wants to lead.
type Token struct{ ID algo.ID }

// Kind is TOKEN.
func (Token) Kind() string { return "TOKEN" }
