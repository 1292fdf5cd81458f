//go:build !linux

package clock

import "time"

// ReadThrottled knows of no quota on this system.
func ReadThrottled() (time.Duration, error) { return 0, nil }
