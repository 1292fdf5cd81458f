package check

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// room is how much later than the network model says a message may be handled.
// Default time-outs are T = 3d + 20ms, and a round trip is handled twice.
const room = 10 * time.Millisecond

// outrun is why a broken promise is the machine's and not the algorithm's: a
// synchronous algorithm reckons with a largest delay, and a busy machine handled a
// message so late that its time-outs do not allow for it. "" if none was so late,
// or if the algorithm assumes nothing of the kind.
func (j *Judge) outrun() string {
	s, needs := j.setup, &j.setup.Alg.Spec.Needs
	longest := j.links.longest
	if s.Virtual || !s.InModel || needs.Synchrony != algo.Synchronous || needs.Params == nil ||
		longest <= s.Latency+room {
		return ""
	}
	net := s.Known()
	net.Latency, net.Bounded = longest, true
	for id := range algo.ID(s.Nodes) {
		if err := needs.Params(net, s.Params.Of(id+1)); err != nil {
			return fmt.Sprintf("the machine was too slow for a synchronous algorithm: a message took %v, "+
				"so that %v", longest.Round(10*time.Microsecond), err)
		}
	}
	return ""
}
