package experiment

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/conclave-bench/conclave/internal/base/files"

	"github.com/conclave-bench/conclave/pkg/config"
)

// compiled is the schema of experiment files as an editor reads it.
func compiled(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(must(JSONSchema())))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("experiment.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("experiment.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// accepts says what an editor marks in a file; text that is no YAML it marks too.
func accepts(s *jsonschema.Schema, path string, data []byte) error {
	var v any
	read := yaml.Unmarshal
	if filepath.Ext(path) == ".toml" {
		read = toml.Unmarshal
	}
	if err := read(data, &v); err != nil {
		return err
	}
	return s.Validate(asJSON(v))
}

// asJSON is v with texts for keys, as JSON has them: YAML takes a process for one.
func asJSON(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = asJSON(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = asJSON(v[key])
		}
	case map[any]any:
		out := map[string]any{}
		for key := range v {
			out[fmt.Sprint(key)] = asJSON(v[key])
		}
		return out
	}
	return v
}

func TestSchemaAcceptsGoodFiles(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	for _, f := range inputs(t, "good") {
		data := must(files.Read(f, config.MaxSize))
		if err := accepts(s, f, data); err != nil {
			t.Errorf("%s: %v", f, err)
		}
		if err := accepts(s, "resolved.yaml", must(mustLoad(t, f).Resolved())); err != nil {
			t.Errorf("%s, resolved: %v", f, err)
		}
	}
	if err := accepts(s, "template.yaml", []byte(Template())); err != nil {
		t.Errorf("template: %v", err)
	}
}

// The schema never refuses what the loader accepts.
func TestSchemaAcceptsWhatLoads(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	rapid.Check(t, func(r *rapid.T) {
		d := draw(r)
		if err := accepts(s, "drawn.yaml", []byte(d.text)); err != nil {
			t.Fatalf("%s\n%v", d.text, err)
		}
		if err := accepts(s, "resolved.yaml", d.load(r).resolved); err != nil {
			t.Fatalf("%s\n%v", d.text, err)
		}
	})
	for _, text := range []string{
		"algorithms: [{name: bully, params: {reply: off, est: [1, 2, 3, 4, 5], t_answer: 1s}}]",
		"network: {latency: {distribution: normal, mean: 1ms, sigma: 1ms}}",
		"network: {latency: {distribution: lognormal, median: 1ms, sigma: 1}}",
		"topology: {kind: file, edges: [[1, 2], [2, 3], [3, 4], [4, 5]]}\nalgorithms: [any]",
		"faults: {events: [{at: 1s, do: partition, shape: bridge, who: [1, 2]}]}",
		"scenario: {kind: script, events: [{at: 0s, do: elect, node: 1}], expect: {sent: 1}}",
		"sweep: [{zip: [{vary: params.level, over: [1, 2]}, {vary: network.latency.mean, over: [1ms, 2ms]}]}]",
		"sweep: [{vary: network, over: [{loss: 0}, {loss: 0.5}]}]\nx-mine: &a {b: c}",
		"repetitions: {max: 20, until: {metric: election_ms, ci: 5%}}",
		"thresholds: [{metric: election_ms, max: 5ms, where: {nodes: 5}}]",
	} {
		head := bully
		if strings.Contains(text, "algorithms") {
			head = "problem: election\n"
		}
		if _, err := Parse("x.yaml", []byte(head+text), Overrides{}); err != nil {
			t.Errorf("%s is no experiment: %v", text, err)
		}
		if err := accepts(s, "x.yaml", []byte(head+text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What an editor marks: keys that there are not, and values of the wrong type, beyond
// their bounds, or of no such word. What lies in more than one value it does not.
func TestSchemaRefusesWhatOneValueShows(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	for _, text := range []string{
		"nodez: 5", "nodes: five", "nodes: 0", "nodes: 2.5", "name: ../x", "transport: tcp",
		"failures: {crash_rate: 1}", "hosting: {run_as: thread}", "hosting: {reuse: 1}",
		"network: {los: 0.1}", "network: {loss: 2}", "network: {latency: 5}", "network: {latency: fast}",
		"network: {latency: {distribution: unifrom}}", "network: {latency: {mean: 1ms}}",
		"network: {latency: {distribution: constant, mean: 1}}", "network: {loss: {burst: {p_enter: 0.1}}}",
		"topology: circle", "topology: {kind: ring, size: 3}", "detector: {kind: magic}",
		"scenario: {kind: chaos}", "scenario: {initiators: some}", "scenario: {hold: 5}",
		"faults: {downtime: never}", "faults: {events: {}}", "faults: {events: [{at: 1s}]}",
		"faults: {events: [{at: 1s, do: crsh, who: 1}]}", "faults: {events: [{at: 1, do: crash, who: 1}]}",
		"faults: {events: [{at: 1s, do: crash, who: nobody}]}", "faults: {events: [{at: 1s, do: elect}]}",
		"faults: {events: [{at: 1s, do: cut, groups: [1]}]}", "scenario: {events: [{at: 1s, do: Request!}]}",
		"sweep: [nodes]", "sweep: [{vary: nodes}]", "sweep: [{vary: node, over: [1]}]",
		"sweep: [{vary: seed, over: [1]}]", "sweep: [{zip: []}, {very: nodes, over: [1]}]",
		"repetitions: 0", "repetitions: {max: 10}", "repetitions: {max: 10, until: {metric: x, ci: 5%}}",
		"thresholds: [{metric: x, max: 1}]", "thresholds: [{metric: election_ms, stat: p5, max: 1}]",
		"bus: {url: 'nats://me:secret@host:4222'}", "allow: {invalid: -1}", "trace: some", "x: 1",
	} {
		if accepts(s, "x.yaml", []byte(bully+text)) == nil {
			t.Errorf("%s is accepted", text)
		}
	}
	for _, text := range []string{
		"", "algorithms: bully", "algorithms: []", "algorithms: [bullly]", "algorithms: [{label: x}]",
		"algorithms: [{name: bully, params: {t_anser: 1s}}]", "algorithms: [{name: bully, params: {suppress: 5}}]",
	} {
		if accepts(s, "x.yaml", []byte("problem: election\n"+text)) == nil {
			t.Errorf("%s is accepted", text)
		}
	}
	refused := 0
	for _, f := range inputs(t, "bad") {
		if accepts(s, f, must(files.Read(f, config.MaxSize))) != nil {
			refused++
		}
	}
	if refused < 80 {
		t.Errorf("%d malformed files are refused, want 80", refused)
	}
}
