package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/param"
)

// NoDetector is none.
func NoDetector() Detector { return Detector{noDetector{}} }

func init() {
	RegisterDetector(DetectorKind{Name: "none", Doc: "no process notices a crash", Class: algo.NoDetector,
		Watch: noDetector{}})
}

type noDetector struct{}

func (noDetector) Params() []param.Param                   { return nil }
func (noDetector) takes() (bound, notice, r time.Duration) { return 0, 0, 0 }
func (noDetector) create(*Setup) detector                  { return deaf{} }
