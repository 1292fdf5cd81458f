//go:build !linux

package clock

import "time"

// ReadCPU knows nothing on this system: the share of any two results is NaN.
func ReadCPU() (CPUTimes, error) { return CPUTimes{}, nil }

// ReadThrottled knows of no quota on this system.
func ReadThrottled() (time.Duration, error) { return 0, nil }
