package host

import (
	"encoding/json"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
)

// Key is the secret of a process on the machine's own bus, which the tests of thefts
// steal.
func (m *Machine) Key(process int) []byte { return m.identities[process-1].Secret() }

// SetPatience is for tests that wait for a host in vain.
func (r *Remote) SetPatience(d time.Duration) { r.patience = d }

// SendEnd is what a runner gets of the end of a trial.
func SendEnd(e harness.End, q Quality) (harness.End, Quality, error) {
	line, err := json.Marshal(newRemoteEnd(e, q))
	if err != nil {
		return e, q, err
	}
	var r remoteEnd
	err = json.Unmarshal(line, &r)
	e, q = r.parts()
	return e, q, err
}

// Place is the host of each process of a trial.
func (m *Machine) Place(s *harness.Setup) ([]int, error) { return m.place(s) }
