package naimitrehel

import "github.com/conclave-bench/conclave/pkg/algo"

// Req asks, on behalf of process K, for the token.
type Req struct{ K algo.ID }

// Token lets its receiver in. There is exactly one.
type Token struct{}

// Kind is REQUEST.
func (Req) Kind() string { return "REQUEST" }

// Kind is TOKEN.
func (Token) Kind() string { return "TOKEN" }
