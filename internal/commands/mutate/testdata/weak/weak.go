// Package weak is tested badly.
package weak

// Clip is v, but 0 at least and most at most.
func Clip(v, most int) int {
	if v < 0 {
		v = 0
	}
	if v > most {
		v = most
	}
	return v
}

// Zero counts v down.
func Zero(v int) int {
	for v > 0 {
		v--
	}
	return v
}
