package host

import (
	"testing"

	"github.com/conclave-bench/conclave/internal/proc/proctest"
)

func TestMain(m *testing.M) { proctest.Main(m) }
