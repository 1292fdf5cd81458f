package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// NoDetector is none.
func NoDetector() Detector { return Detector{Kind: "none"} }

func init() {
	RegisterDetector(DetectorKind{
		Name: "none", Doc: "nobody notices a crash",
		Class:  algo.NoDetector,
		Bound:  func(*Detector) time.Duration { return 0 },
		Notice: func(*Detector) time.Duration { return 0 },
		Return: func(*Detector) time.Duration { return 0 },
		create: func(*Setup) detector { return deaf{} },
	})
}
