package host

import "time"

// pairError is by how much what the clocks of two hosts show can be apart from what is known of them,
// during the trial: the bounds of both add up.
func (t *trial) pairError(from, to *site) time.Duration {
	if from == to {
		return 0
	}
	end := t.start + t.end.At
	return from.after.Worst(t.start, end) + to.after.Worst(t.start, end)
}
