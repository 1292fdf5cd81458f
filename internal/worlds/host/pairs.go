package host

import "time"

// pairError is the worst error of a time that begins on one host's clock and ends on the other's
// during the trial; 0 for one host. It is known once compareClocks has run.
func (t *trial) pairError(from, to *site) time.Duration {
	if from == to {
		return 0
	}
	return t.siteError(from) + t.siteError(to)
}

// siteError is by how much an instant of a host's clock can be wrong by that of the lead.
func (t *trial) siteError(s *site) time.Duration { return s.after.Worst(t.start, t.start+t.end.At) }
