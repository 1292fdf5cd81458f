package main

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/commands/advise"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// TestReal: what runs a system that bench advise knows is linked, and takes the parameters.
func TestReal(t *testing.T) {
	found := 0
	for _, s := range advise.Subjects() {
		if s.Real.Algorithm == "" {
			continue
		}
		found++
		a, err := algo.Lookup(s.Real.Algorithm)
		if err != nil {
			t.Errorf("%s: %v", s.Set.Name, err)
			continue
		}
		net := algo.Network{Nodes: 3, Latency: time.Millisecond, Bounded: true}
		of, errs := s.Algorithm.Spec.Resolve(s.Set.Params, net)
		if errs != nil {
			t.Fatal(errs)
		}
		params := map[string]any{}
		for own, name := range s.Real.Takes {
			params[own] = of[name]
		}
		if _, errs := a.Spec.Resolve(params, net); errs != nil || len(params) == 0 {
			t.Errorf("%s: %v: %v", s.Set.Name, params, errs)
		}
	}
	if found != 8 {
		t.Errorf("%d systems can be run, want 8", found)
	}
}

// TestAdvise_Check: the predicted outage of client-go and of hashicorp/raft is what their own code has.
func TestAdvise_Check(t *testing.T) {
	for _, system := range []string{"openshift", "consul"} {
		said, code := bench(t, "advise", system, "--rtt", "5ms", "--check=300", "--json", "--quiet")
		if code != 0 {
			t.Fatalf("%s: exit code %d: %s", system, code, said)
		}
		var d struct {
			Tables []struct {
				Name string
				Rows []struct {
					Measured float64 `json:"measured_ms"`
					Off      float64 `json:"off"`
				}
			}
		}
		if err := json.Unmarshal([]byte(said), &d); err != nil {
			t.Fatal(err)
		}
		rows := d.Tables[len(d.Tables)-1].Rows
		if d.Tables[len(d.Tables)-1].Name != "check" || len(rows) != 2 || math.Abs(rows[0].Off) > 0.08 ||
			rows[0].Measured < 1000 {
			t.Errorf("%s: %+v", system, rows)
		}
	}
}
