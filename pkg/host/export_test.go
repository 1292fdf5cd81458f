package host

import (
	"encoding/json"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Key is the secret of a process on the machine's own bus, which the tests of thefts
// steal.
func (m *Machine) Key(process int) []byte { return m.identities[process-1].Secret() }

// ParseReport is the record that a line of node id reports, nil if none; and what is
// wrong with the line.
func ParseReport(line []byte, id algo.ID, nodes int) (*trace.Record, string) {
	r := parseReport(line, id, nodes)
	return r.Record, r.Error
}

// SetPatience is for tests that wait for a host in vain.
func (r *Remote) SetPatience(d time.Duration) { r.patience = d }

// EachRecord and AppendRecord are the encoding of records between a host and its
// runner.
var (
	EachRecord   = eachRecord
	AppendRecord = appendRecord
)

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
