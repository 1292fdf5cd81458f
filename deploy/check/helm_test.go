package check

import (
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// rendered is what "helm install run" would send, by kind and name.
func rendered(values map[string]any) (objects map[string]string, err error) {
	chart, err := loader.Load("../helm/conclave")
	if err != nil {
		return nil, err
	}
	all, err := chartutil.ToRenderValues(chart, values, chartutil.ReleaseOptions{Name: "run", Namespace: "lab",
		IsInstall: true}, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(chart, all)
	if err != nil {
		return nil, err
	}
	objects = map[string]string{}
	for name, text := range files {
		if path.Ext(name) != ".yaml" {
			objects[path.Base(name)] = text
			continue
		}
		for part := range strings.SplitSeq("\n"+text, "\n---\n") {
			var is struct {
				Kind     string
				Metadata struct{ Name string }
			}
			if err := yaml.Unmarshal([]byte(part), &is); err != nil {
				return nil, fmt.Errorf("%s: %w in\n%s", name, err, part)
			}
			if is.Kind != "" {
				objects[is.Kind+"/"+is.Metadata.Name] = part
			}
		}
	}
	return objects, nil
}

// kinds are the types of Kubernetes that the chart uses.
var kinds = map[string]func() any{
	"ConfigMap":             func() any { return &core.ConfigMap{} },
	"Deployment":            func() any { return &apps.Deployment{} },
	"Job":                   func() any { return &batch.Job{} },
	"PersistentVolumeClaim": func() any { return &core.PersistentVolumeClaim{} },
	"Secret":                func() any { return &core.Secret{} },
	"Service":               func() any { return &core.Service{} },
}

// The chart, rendered by Helm's library: every field of what it sends is one that Kubernetes knows, and
// everything that a pod mounts is there. Whether a cluster admits and runs it is not tested.
func TestChart(t *testing.T) {
	text, err := os.ReadFile("../kubernetes/experiment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		values map[string]any
		want   string
		notes  string
	}{
		"workers": {map[string]any{},
			"Deployment/run-queue Deployment/run-workers Secret/run-queue Service/run-queue",
			"--queue tls://localhost:4222"},
		"workers and a claim": {map[string]any{"experiment": string(text), "storage": map[string]any{"kind": "claim", "class": "fast"}},
			"ConfigMap/run-experiment Deployment/run-queue Deployment/run-workers Job/run-run " +
				"PersistentVolumeClaim/run-results Secret/run-queue Service/run-queue", "job/run-run"},
		"shards": {map[string]any{"mode": "shards", "count": 3, "experiment": string(text), "spread": false,
			"storage": map[string]any{"kind": "claim"}},
			"ConfigMap/run-experiment Job/run-merge Job/run-shards PersistentVolumeClaim/run-results", "job/run-merge"},
	} {
		t.Run(name, func(t *testing.T) {
			objects, err := rendered(c.values)
			if err != nil {
				t.Fatal(err)
			}
			if notes := objects["NOTES.txt"]; !strings.Contains(notes, c.notes) {
				t.Errorf("the notes have no %q:\n%s", c.notes, notes)
			}
			for _, want := range strings.Fields(c.want) {
				if objects[want] == "" {
					t.Errorf("there is no %s", want)
				}
			}
			for id, text := range objects {
				kind, _, isObject := strings.Cut(id, "/")
				if !isObject {
					continue
				}
				if !strings.Contains(" "+c.want+" ", " "+id+" ") {
					t.Errorf("there is %s, which is not expected", id)
				}
				into := kinds[kind]()
				strict(t, []byte(text), into)
				var pod core.PodSpec
				switch object := into.(type) {
				case *apps.Deployment:
					pod = object.Spec.Template.Spec
					for key, value := range object.Spec.Selector.MatchLabels {
						if object.Spec.Template.Labels[key] != value {
							t.Errorf("%s does not select its own pods: %v", id, object.Spec.Template.Labels)
						}
					}
				case *batch.Job:
					pod = object.Spec.Template.Spec
				default:
					continue
				}
				mounts(t, id, &pod, objects)
			}
			if shards := objects["Job/run-shards"]; shards != "" && !strings.Contains(shards, "--shard=$(JOB_COMPLETION_INDEX)+1/3") {
				t.Errorf("the shards are\n%s", shards)
			}
			if merge := objects["Job/run-merge"]; merge != "" && !strings.Contains(merge, "/results/shards/cluster") {
				t.Errorf("the merge is\n%s", merge)
			}
		})
	}
}

// mounts looks for everything that a pod mounts.
func mounts(t *testing.T, id string, pod *core.PodSpec, objects map[string]string) {
	t.Helper()
	volumes := map[string]bool{}
	for _, v := range pod.Volumes {
		volumes[v.Name] = true
		want := ""
		switch {
		case v.ConfigMap != nil:
			want = "ConfigMap/" + v.ConfigMap.Name
		case v.Secret != nil:
			want = "Secret/" + v.Secret.SecretName
		case v.PersistentVolumeClaim != nil:
			want = "PersistentVolumeClaim/" + v.PersistentVolumeClaim.ClaimName
		}
		if want != "" && objects[want] == "" {
			t.Errorf("%s mounts %s, which is not there", id, want)
		}
	}
	for _, c := range pod.Containers {
		for _, m := range c.VolumeMounts {
			if !volumes[m.Name] {
				t.Errorf("%s: %s mounts volume %s, which is not there", id, c.Name, m.Name)
			}
		}
	}
}

// A mistake in the values is a sentence.
func TestChart_Mistakes(t *testing.T) {
	for want, values := range map[string]map[string]any{
		"mode: pods, want shards or workers":      {"mode": "pods"},
		"storage.kind: s3, want none or claim":    {"storage": map[string]any{"kind": "s3"}},
		"shards need storage":                     {"mode": "shards", "experiment": "name: x"},
		"experiment: it is empty; use --set-file": {"storage": map[string]any{"kind": "claim"}},
	} {
		if _, err := rendered(values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", values, err, want)
		}
	}
}
