package echoextinction

import "github.com/conclave-bench/conclave/pkg/algo"

// Token belongs to the wave of the process that is named.
type Token struct{ Wave algo.ID }

// Leader names the leader.
type Leader struct{ ID algo.ID }

// Kind is TOKEN.
func (Token) Kind() string { return "TOKEN" }

// Kind is LEADER.
func (Leader) Kind() string { return "LEADER" }
