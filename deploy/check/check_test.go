// Package check holds what is in deploy/kubernetes against the types of Kubernetes. It is a
// module of its own, so that nobody who imports Conclave depends on those.
package check

import (
	"fmt"
	"os"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// What "kubectl apply -k" would send is what kustomize makes of the folder; every field
// of it is one that Kubernetes knows. Whether a cluster admits and runs it is not tested.
func TestManifests(t *testing.T) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "../kubernetes")
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	configs := map[string]bool{}
	var jobs []batch.Job
	for _, r := range built.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		count[r.GetKind()]++
		switch r.GetKind() {
		case "Job":
			var job batch.Job
			strict(t, text, &job)
			jobs = append(jobs, job)
		case "PersistentVolumeClaim":
			strict(t, text, &core.PersistentVolumeClaim{})
		case "ConfigMap":
			var c core.ConfigMap
			strict(t, text, &c)
			configs[c.Name] = true
			if !strings.Contains(c.Data["experiment.yaml"], "algorithms:") {
				t.Errorf("%s holds no experiment: %v", c.Name, c.Data)
			}
		default:
			t.Errorf("kind %s is not known to this test", r.GetKind())
		}
	}
	if got := fmt.Sprint(count); got != "map[ConfigMap:1 Job:2 PersistentVolumeClaim:1]" {
		t.Errorf("there are %s", got)
	}
	for _, job := range jobs {
		for _, v := range job.Spec.Template.Spec.Volumes {
			if v.ConfigMap != nil && !configs[v.ConfigMap.Name] {
				t.Errorf("%s mounts config map %s, which is not there", job.Name, v.ConfigMap.Name)
			}
		}
		if mode := job.Spec.CompletionMode; mode == nil || *mode != batch.IndexedCompletion {
			continue
		}
		want := fmt.Sprintf("--shard=$(JOB_COMPLETION_INDEX)+1/%d", *job.Spec.Completions)
		if args := fmt.Sprint(job.Spec.Template.Spec.Containers[0].Args); !strings.Contains(args, want) {
			t.Errorf("%s has arguments %s, want %s", job.Name, args, want)
		}
	}
}

// The test above can fail.
func TestManifests_Strict(t *testing.T) {
	text, err := os.ReadFile("../kubernetes/shards.yaml")
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.Replace(string(text), "completionMode:", "completionMod:", 1)
	if err := yaml.UnmarshalStrict([]byte(wrong), &batch.Job{}); err == nil {
		t.Error("a job with completionMod is accepted")
	}
}

func strict(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Errorf("%v in\n%s", err, text)
	}
}
