package tokenring

// Token lets its receiver in. There is exactly one.
type Token struct{}

// Kind is TOKEN.
func (Token) Kind() string { return "TOKEN" }
