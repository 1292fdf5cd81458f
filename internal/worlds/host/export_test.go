package host

import (
	"github.com/conclave-bench/conclave/pkg/harness"
)

// Key is the secret of a process on the machine's own bus, which the tests of thefts
// steal.
func (m *Machine) Key(process int) []byte { return m.identities[process-1].Secret() }

// Place is the host of each process of a trial.
func (m *Machine) Place(s *harness.Setup) ([]int, error) { return m.place(s) }
