package harness

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/param"
)

// TestDetectors: each is declared in full, and docs/explanation/faults.md says what it does.
func TestDetectors(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/explanation/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range Detectors() {
		if k.Doc == "" || k.Watch == nil {
			t.Errorf("%s: %+v, want all that is declared of a detector", k.Name, k)
		}
		if !strings.Contains(string(page), "\n- `"+k.Name+"`: ") {
			t.Errorf("docs/explanation/faults.md, Failure detectors: nothing of `%s`", k.Name)
		}
		for _, key := range k.Params() {
			if _, follows := key.Default.(func() any); key.Doc == "" || (key.Preset() == "") != follows {
				t.Errorf("%s: key %s: %q by default %q", k.Name, key.Name, key.Doc, key.Preset())
			}
			if !strings.Contains(string(page), "`"+key.Name) {
				t.Errorf("docs/explanation/faults.md, Failure detectors: nothing of `%s`", key.Name)
			}
		}
	}
}

// TestDetectorKeys: each once, in an order that all detectors have, with those that have it.
func TestDetectorKeys(t *testing.T) {
	t.Parallel()
	keys, of := DetectorKeys()
	names := param.Names(keys)
	if sorted := slices.Sorted(slices.Values(names)); len(slices.Compact(sorted)) < len(names) {
		t.Errorf("keys %v, want each once", names)
	}
	for _, d := range Detectors() {
		own := slices.DeleteFunc(slices.Clone(keys), func(k param.Param) bool {
			return !slices.Contains(of[slices.Index(names, k.Name)], d.Name)
		})
		if !slices.Equal(param.Names(own), param.Names(d.Params())) {
			t.Errorf("%s: keys %v, want %v", d.Name, param.Names(own), param.Names(d.Params()))
		}
	}
}

// TestDetector_RoundTrip: a detector with every key set travels as JSON.
func TestDetector_RoundTrip(t *testing.T) {
	t.Parallel()
	for _, k := range Detectors() {
		want := k.New()
		for _, p := range want.Params() {
			switch v := p.At.(type) {
			case *bool:
				*v = true
			case *int:
				*v = 7
			case *float64:
				*v = 2.5
			case *time.Duration:
				*v = 7 * time.Millisecond
			default:
				t.Errorf("%s: key %s is a %T", k.Name, p.Name, v)
			}
		}
		b, err := json.Marshal(&want)
		if err != nil {
			t.Fatal(err)
		}
		var got Detector
		if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v became %+v (%v) by way of %s", want, got, err, b)
		}
	}
	if err := json.Unmarshal([]byte(`{"kind": "crystal-ball"}`), &Detector{}); err == nil ||
		err.Error() != `kind: "crystal-ball" is unknown` {
		t.Errorf("an unknown detector: %v", err)
	}
}

// TestDetector_Literal: what an experiment file says of a detector.
func TestDetector_Literal(t *testing.T) {
	t.Parallel()
	ofLeader := HeartbeatDetector(10*ms, 40*ms)
	ofLeader.beats().LeaderOnly = true
	for want, d := range map[string]Detector{
		"{kind: none}":                                                    NoDetector(),
		"{kind: perfect, delay: 10ms}":                                    PerfectDetector(10 * ms),
		"{kind: heartbeat, interval: 20ms, timeout: 100ms}":               HeartbeatDetector(20*ms, 100*ms),
		"{kind: heartbeat, interval: 10ms, timeout: 40ms, scope: leader}": ofLeader,
	} {
		if got := d.Literal(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
