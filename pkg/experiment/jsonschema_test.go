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

	"github.com/conclave-bench/conclave/internal/files"
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
		data := must(files.Read(f, maxSize))
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

// unseen are the malformed files that the schema accepts: what is wrong in them lies
// in more than one value, or not in the values at all.
var unseen = map[string]string{
	"what is wrong depends on other keys": `
		churn-of-nothing churn-too-long cut-shape-too-few cut-shape-without-centre
		detector-heartbeat-keys detector-keys detector-phi-keys detector-scope-of-perfect
		detector-timeout elections-too-many events-after-the-churn events-too-late
		faults-downtime-unused faults-max-down faults-minority-of-two faults-sweep-nothing
		leader-restart-alone leader-restart-keys nodes-one-leader-crash nodes-too-many-real
		params-no-process params-list-length partition-keys partition-shape-too-few
		partition-too-long repetitions-too-many scenario-duration scenario-hold-too-long
		scenario-many-initiators scenario-meaningless-key scenario-open-without-rate scenario-settle
		scenario-too-slow scenario-warmup script-empty script-processes sweep-cell-mistake
		sweep-duplicate-cells sweep-same-cells sweep-too-large sweep-topology-path sweep-twice
		thresholds-duration topology-huge topology-order until-min-above-max until-too-many who-minority-of-two
		who-not-there`,
	"what is wrong depends on the algorithms": `
		cut-shape-without-leader detector-scope-of-mutexes events-trigger-of-elections
		events-trigger-of-mutexes events-unknown-kind nodes-needs partition-of-mutexes
		scenario-other-problem script-election-request topology-unfit until-metric-of-mutexes
		who-inside-elections who-leader-of-mutexes who-token-holder who-token-holder-of-one`,
	"numbers, or durations, do not fit each other": `
		faults-downtime-nothing labels-twice latency-order latency-places latency-quantiles
		latency-round-trips loss-burst-never loss-burst-upside-down name-device`,
	"an override is wrong, and not the file": `
		env-unknown set-faults set-part-of-sweep set-sweep-too set-twice set-unknown until-set`,
	"a file that it names is wrong": `
		bus-credentials topology-file-missing`,
	"the text is wrong, and not the value": `
		v11-octal v12-second-document v20-deep`,
}

func TestSchemaRefusesMalformedFiles(t *testing.T) {
	t.Parallel()
	s := compiled(t)
	reasons := map[string]string{}
	for reason, names := range unseen {
		for _, name := range strings.Fields(names) {
			reasons[name+".yaml"] = reason
		}
	}
	refused := 0
	for _, f := range inputs(t, "bad") {
		name := filepath.Base(f)
		err := accepts(s, f, must(files.Read(f, maxSize)))
		switch reason, listed := reasons[name]; {
		case err == nil && !listed:
			t.Errorf("%s is accepted; the loader says:\n%s", name, must(files.Read(f+".txt", maxSize)))
		case err != nil && listed:
			t.Errorf("%s is refused after all, although %s: %v", name, reason, err)
		case err != nil:
			refused++
		}
		delete(reasons, name)
	}
	if len(reasons) > 0 || refused < 80 {
		t.Errorf("%d files are refused; there are none of %v", refused, reasons)
	}
}
