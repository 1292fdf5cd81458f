//go:build !linux

package clock

// steered: these systems do not say it.
func steered() Steering { return Steering{} }
