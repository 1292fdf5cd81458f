package host

import (
	"testing"

	"github.com/conclave-bench/conclave/internal/base/proc/proctest"
)

func TestMain(m *testing.M) { proctest.Main(m) }
