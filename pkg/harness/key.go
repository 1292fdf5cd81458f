package harness

// A Wrong reports a value of a key, such as detector.timeout, that does not go together
// with the rest of its plan.
type Wrong func(key, format string, args ...any)
