package experiment

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// settings is the whole file decoded: every leaf by its key.
type settings struct {
	Name        string
	Problem     string
	Algorithms  []entry
	Transport   string
	Nodes       int
	Topology    graph
	Network     network
	Hosting     Hosting
	Faults      faultKeys
	Detector    detector
	Scenario    scenario
	Sweep       []dimension
	Repetitions repetitions
	Seed        uint64
	TimeLimit   time.Duration `mapstructure:"time_limit"`
	Trace       string
	Retries     int
	Allow       Allow
	Thresholds  []threshold
	Bus         Bus
}

type network struct {
	Latency     link.Latency
	Loss        loss
	Duplication float64
	Order       string
}

type faultKeys struct {
	CrashRate float64 `mapstructure:"crash_rate"`
	Downtime  link.Latency
	MaxDown   int `mapstructure:"max_down"`
	Events    []event
}

type detector struct {
	Kind                                string
	Delay, Interval, Timeout, Deviation time.Duration
	Threshold                           float64
	Window                              int
	Scope                               string
}

type scenario struct {
	Kind       string
	Initiators int
	Settle     time.Duration
	Elections  int
	Shape      string
	Duration   time.Duration
	Requests   int
	Think      link.Latency
	Hold       link.Latency
	Rate       float64
	Warmup     int
	Requesters string
	Leader     algo.ID
	Holder     algo.ID
	Crashed    []algo.ID
	Until      time.Duration
	Events     []event
	Expect     []harness.Expect
}

// Hosting is where processes live. Only the defaults are built.
type Hosting struct {
	RunAs string `mapstructure:"run_as"` // process
	Reuse bool
}

// Allow is how many trials may fail before a run counts as incomplete.
type Allow struct{ Invalid, Timeout int }

// Bus is an external NATS server; without URL the embedded one serves.
type Bus struct {
	URL         string
	Credentials string // path of a .creds file
	TLS         TLS
}

// TLS names the files of an encrypted connection; "" is none.
type TLS struct{ CA, Cert, Key string }

// decode makes settings of leaves. Nothing is converted: a leaf that does not
// fit its field is a mistake of this package.
func decode(from map[string]*leaf) (*settings, error) {
	values := map[string]any{}
	leaves(schema, "", func(key string, _ *field) {
		l := from[key]
		if l == nil || l.value == nil {
			return
		}
		words := strings.Split(key, ".")
		m := values
		for _, w := range words[:len(words)-1] {
			if m[w] == nil {
				m[w] = map[string]any{}
			}
			m = m[w].(map[string]any)
		}
		m[words[len(words)-1]] = l.value
	})
	out := &settings{}
	dec, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		ErrorUnused: true, Result: out,
	})
	if err == nil {
		err = dec.Decode(values)
	}
	if err != nil {
		return nil, fmt.Errorf("experiment: schema and settings disagree: %w", err)
	}
	return out, nil
}
