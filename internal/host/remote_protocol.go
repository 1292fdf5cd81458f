package host

import (
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
)

// The protocol between a runner and a host program: lines of JSON over the
// host's standard input and output, so that ssh carries it as well as a pipe.
// The host answers each line before it is sent the next one. Input that ends is
// the runner's death, and the host's.

// protocol is the number of what follows. A host of another number is refused.
const protocol = 1

// A request is a line that a host reads: one of its fields. The first has Config.
type request struct {
	Config   *remoteConfig `json:"config,omitempty"`
	Baseline bool          `json:"baseline,omitempty"`
	Plan     *harness.Plan `json:"plan,omitempty"` // of a trial to run
}

// remoteConfig is what of a MachineConfig the runner decides.
type remoteConfig struct {
	Protocol int           `json:"protocol"`
	Nodes    int           `json:"nodes"`
	Run      string        `json:"run"`
	Ready    time.Duration `json:"ready,omitempty"`
	Limit    int64         `json:"limit,omitempty"`
	Pause    time.Duration `json:"pause,omitempty"`
}

// A reply is a line that a host writes. Lines with Records go before the End of
// a trial; all others are the answer as a whole.
type reply struct {
	About    json.RawMessage `json:"about,omitempty"` // the machine and the program: to Config
	Baseline map[string]any  `json:"baseline,omitempty"`
	Records  []byte          `json:"records,omitempty"` // see agent.AppendRecord
	End      *remoteEnd      `json:"end,omitempty"`
	Error    string          `json:"error,omitempty"` // what could not be done at all
}

// remoteEnd is an End and a Quality, and what of them JSON cannot say: an error, and NaN.
type remoteEnd struct {
	harness.End
	Quality
	Err    string   `json:"err,omitempty"`
	Busy   *float64 `json:"busy,omitempty"`
	Stolen *float64 `json:"stolen,omitempty"`
}

func newRemoteEnd(e harness.End, q Quality) *remoteEnd {
	r := &remoteEnd{End: e, Quality: q}
	if e.Err != nil {
		r.Err = e.Err.Error()
	}
	if !math.IsNaN(q.Busy) {
		r.Busy = &q.Busy
	}
	if !math.IsNaN(q.Stolen) {
		r.Stolen = &q.Stolen
	}
	return r
}

func (r *remoteEnd) parts() (harness.End, Quality) {
	e, q := r.End, r.Quality
	if r.Err != "" {
		e.Err = errors.New(r.Err)
	}
	q.Busy, q.Stolen = math.NaN(), math.NaN()
	if r.Busy != nil {
		q.Busy = *r.Busy
	}
	if r.Stolen != nil {
		q.Stolen = *r.Stolen
	}
	return e, q
}
