package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/results"
)

// bases are experiments of which one has to accept an example.
var bases = []string{
	"problem: election\nalgorithms: [bully]\n", "problem: mutex\nalgorithms: [ricart-agrawala]\n",
	"problem: mutex\nalgorithms: [joung-group]\n", "problem: election\nalgorithms: [chang-roberts]\n", "",
	"algorithms: [election/bully]\n", "problem: election\n",
	"problem: election\nalgorithms: [raft]\n", "problem: mutex\nalgorithms: [raymond]\n",
	"problem: election\nalgorithms: [echo-extinction]\n",
	"problem: election\nalgorithms: [bully]\nhosting: {hosts: [lab1]}\n",
	"problem: election\nalgorithms: [bully]\nnodes: 2\n",
	"problem: election\nalgorithms: [a-library]\ntransport: bubble\n",
	"problem: mutex\nalgorithms: [a-system]\ntransport: nats\nnetwork: {wire: true}\n",
}

// linkLibrary adds a library that takes writes of clients, and a system with servers, which some keys are about.
func linkLibrary(t *testing.T) {
	t.Helper()
	err := algo.AddSubject(algo.Election, algo.Spec{Name: "a-library", Summary: "for examples of keys",
		Paper:    algo.Paper{Authors: "nobody", Title: "none", Year: 1},
		Messages: []algo.Message{algo.Raw{Name: "M"}}, Perpetual: true, Writes: true, Service: algo.Led})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { algo.Remove("election/a-library") })
	err = algo.AddService(algo.MutualExclusion, algo.Spec{Name: "a-system", Summary: "for examples of keys",
		Paper: algo.Paper{Authors: "nobody", Title: "none", Year: 1}, Perpetual: true, Servers: "servers",
		Params: []algo.Param{{Name: "servers", Type: algo.Int, Min: int64(1), Default: algo.Const(int64(3)), Doc: "servers"}},
		Ails:   func(string) error { return nil }}, func(algo.Config) algo.Live { return nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { algo.Remove("mutex/a-system") })
}

// measuredNetwork writes a run of that name in dir/results, which has measured the network of one host.
func measuredNetwork(t *testing.T, dir, name string) {
	t.Helper()
	f, err := results.Create(filepath.Join(dir, "results"), results.Header{Name: name, Planned: 1,
		Design: results.DesignColumns()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Finish(results.End{Network: &link.Matrix{Placement: "round-robin", Hosts: []link.Lodge{{Name: "lab1"}},
		Routes: []link.Route{{Part: 1, Phase: link.Before, From: "lab1", To: "lab1", Sent: 1,
			Delays: link.Percentiles([]time.Duration{time.Millisecond})}}}})
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// accepted says what is wrong with blocks of an experiment in every base; "" if one accepts them.
func accepted(t *testing.T, blocks string) (wrong string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"bench.creds", "ca.pem", "bench.pem", "bench-key.pem"} { // which examples name
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	edges := []byte("1 2\n2 3\n3 4\n4 5\n")
	if err := os.WriteFile(filepath.Join(dir, "edges.txt"), edges, 0o600); err != nil {
		t.Fatal(err)
	}
	measuredNetwork(t, dir, "real-network")
	pings(t, dir)
	for _, base := range bases {
		blocks := blocks
		if strings.Contains(base, "mutex") { // a script asks for a lock
			blocks = strings.ReplaceAll(blocks, "do: elect", "do: request")
		}
		file := filepath.Join(dir, "e.yaml")
		if err := os.WriteFile(file, []byte(base+blocks+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := experiment.Load(file, experiment.Overrides{})
		if err == nil {
			return ""
		}
		wrong += err.Error() + "\n"
	}
	return wrong
}

// pings are records of the links of five processes: a folder and a table.
func pings(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, "pings"), 0o700); err != nil {
		t.Fatal(err)
	}
	var pairs []string
	for i := 1; i <= 5; i++ {
		for j := i + 1; j <= 5; j++ {
			pair := fmt.Sprintf("%d-%d", i, j)
			pairs = append(pairs, pair)
			record := []byte(strings.Repeat("4ms\n", 1000))
			if err := os.WriteFile(filepath.Join(dir, "pings", pair+".txt"), record, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	table := strings.Join(pairs, ",") + strings.Repeat("\n4"+strings.Repeat(",4", len(pairs)-1), 1000) + "\n"
	if err := os.WriteFile(filepath.Join(dir, "pings.csv"), []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestExperiment: every key has a meaning, a default or a reason why it has none, an example and a page; and
// the program accepts each example, together with the keys that it needs.
func TestExperiment(t *testing.T) {
	linkLibrary(t)
	leaves := map[string]bool{} // those within values may have no default
	for _, k := range experiment.Keys() {
		leaves[k.Path] = true
	}
	text := written(t, "experiment.md")
	beside := map[string]string{} // of a block: what it needs beside it
	experiment.Every(func(n config.Nested) {
		if n.Doc == "" {
			t.Errorf("%s: say what it means (Doc)", n.Path)
		}
		if n.See == "" {
			t.Errorf("%s: name the page that explains it (See)", n.Path)
		}
		if !strings.Contains(text, "| `"+n.Path+"` | ") {
			t.Errorf("%s is not in the reference", n.Path)
		}
		beside[n.Path] = n.With
		switch {
		case n.Sub != nil:
			return
		case n.Example == "":
			t.Errorf("%s: give an example (Example)", n.Path)
			return
		case leaves[n.Path] && n.Default == nil && n.Note == "" && n.Path != "algorithms":
			t.Errorf("%s: say the default (Default), or what it follows from (Note)", n.Path)
		}
		blocks := exampleOf(n)
		path := strings.Split(n.Path, ".")
		for i := len(path) - 2; i >= 0; i-- {
			name, within := strings.CutSuffix(path[i], "[]")
			if blocks = "{" + blocks + "}"; within {
				blocks = "[" + blocks + "]"
			}
			blocks = name + ": " + blocks
			if with := beside[strings.TrimSuffix(strings.Join(path[:i+1], "."), "[]")]; with != "" {
				blocks = with + ", " + blocks
			}
		}
		if wrong := accepted(t, blocks); wrong != "" {
			t.Errorf("%s is refused:\n%s", blocks, wrong)
		}
	})
	for _, d := range link.Distributions() {
		blocks := "network: {latency: {distribution: " + d.Name + tail(d.Example) + "}}"
		if wrong := accepted(t, blocks); wrong != "" {
			t.Errorf("%s is refused:\n%s", blocks, wrong)
		}
	}
	for _, k := range harness.Scenarios() {
		blocks := strings.ReplaceAll(k.Example, "}, faults:", "}\nfaults:")
		if wrong := accepted(t, blocks); wrong != "" {
			t.Errorf("%s is refused:\n%s", blocks, wrong)
		}
	}
}

// TestExperiment_Schema: every key that bench schema has is in the reference, but for the parameters of
// algorithms, which have a page of their own.
func TestExperiment_Schema(t *testing.T) {
	t.Parallel()
	text := written(t, "experiment.md")
	b, err := experiment.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	var root any
	if err := json.Unmarshal(b, &root); err != nil {
		t.Fatal(err)
	}
	count := 0
	var walk func(part any)
	walk = func(part any) {
		switch part := part.(type) {
		case []any:
			for _, p := range part {
				walk(p)
			}
		case map[string]any:
			for name, p := range part {
				if properties, is := p.(map[string]any); is && name == "properties" {
					for key, of := range properties {
						count++
						if !strings.Contains(text, "."+key+"`") && !strings.Contains(text, "`"+key+"`") {
							t.Errorf("no key %s", key)
						}
						if key != "params" {
							walk(of)
						}
					}
					continue
				}
				walk(p)
			}
		}
	}
	walk(root)
	if count < 200 {
		t.Errorf("%d keys in the schema", count)
	}
}
