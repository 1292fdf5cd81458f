package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// fakeSbatch is sbatch but for the cluster: it writes down what it is asked for and
// prints the number of the job.
const fakeSbatch = "#!/bin/sh\necho \"$*\" >> submitted\nwc -l < submitted\n"

// deploy/slurm.sbatch submits an array and what waits for it. Their commands are run as
// Slurm would, with its variables. scripts/slurm-trial.sh does that with Slurm itself.
func TestSlurm(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	t.Parallel()
	p := newPlace(t)
	must(t, os.CopyFS(filepath.Join(p.dir, "deploy"), os.DirFS(filepath.Join(root(t), "deploy"))))
	must(t, os.WriteFile(filepath.Join(p.dir, "sbatch"), []byte(fakeSbatch), 0o755))
	sh := func(env []string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", args...)
		cmd.Dir, cmd.Env = p.dir, append(append(slices.Clone(p.env), "CONCLAVE_REPETITIONS=4"), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("sh %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	sh(nil, "deploy/slurm.sbatch", "configs/ci.yaml", "3")
	submitted, err := os.ReadFile(filepath.Join(p.dir, "submitted"))
	must(t, err)
	const job = " deploy/slurm.sbatch configs/ci.yaml 3\n"
	if want := "--parsable --array=1-3" + job + "--parsable --dependency=afterany:1" + job; string(submitted) != want {
		t.Fatalf("submitted\n%swant\n%s", submitted, want)
	}
	for task := 1; task <= 3; task++ {
		sh([]string{"SLURM_JOB_ID=" + strconv.Itoa(10+task), "SLURM_ARRAY_TASK_ID=" + strconv.Itoa(task)},
			"deploy/slurm.sbatch", "configs/ci.yaml", "3")
	}
	out := sh([]string{"SLURM_JOB_ID=20"}, "deploy/slurm.sbatch", "configs/ci.yaml", "3")
	if !strings.Contains(out, "results: results/ci/") {
		t.Errorf("the job that merges says\n%s", out)
	}
}

// A manifest is what this test needs of a job of Kubernetes.
type manifest struct {
	Spec struct {
		Completions int
		Template    struct {
			Spec struct {
				Containers []struct {
					Command, Args []string
					VolumeMounts  []struct {
						Name string
						Path string `yaml:"mountPath"`
					} `yaml:"volumeMounts"`
				}
			}
		}
	}
}

// The commands of the jobs of Kubernetes, as the manifests have them: their arguments with
// the variables filled in as a kubelet does, and their volumes where they are mounted.
// deploy/kubernetes/check holds the manifests against the types of Kubernetes. No cluster
// is there.
func TestKubernetes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of manifests are not those of Windows")
	}
	t.Parallel()
	folder := filepath.Join(root(t), "deploy", "kubernetes")
	p := newPlace(t)
	must(t, os.CopyFS(filepath.Join(p.dir, "experiment"), os.DirFS(folder)))
	run := func(m *manifest, index int) string {
		t.Helper()
		c := m.Spec.Template.Spec.Containers[0]
		if fmt.Sprint(c.Command) != "[/bench]" {
			t.Fatalf("the command is %q, and the image has /bench", c.Command)
		}
		args := slices.Clone(c.Args)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "$(JOB_COMPLETION_INDEX)", strconv.Itoa(index))
			flag, value, ok := strings.Cut(args[i], "=")
			if !ok {
				flag, value = "", args[i]
			}
			for _, v := range c.VolumeMounts {
				if rest, in := strings.CutPrefix(value, v.Path); in && (rest == "" || rest[0] == '/') {
					value = filepath.Join(p.dir, v.Name) + rest
					break
				}
			}
			if args[i] = value; ok {
				args[i] = flag + "=" + value
			}
		}
		cmd := exec.CommandContext(t.Context(), "bench", args...)
		cmd.Path = filepath.Join(strings.SplitN(searched(p.env), string(os.PathListSeparator), 2)[0], "bench")
		cmd.Err, cmd.Dir = nil, p.dir
		cmd.Env = append(slices.Clone(p.env), "JOB_COMPLETION_INDEX="+strconv.Itoa(index), "CONCLAVE_REPETITIONS=8")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("bench %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	shards := job(t, folder, "shards.yaml")
	if shards.Spec.Completions < 2 {
		t.Fatalf("%d shards", shards.Spec.Completions)
	}
	for i := range shards.Spec.Completions {
		run(shards, i)
	}
	if out := run(job(t, folder, "merge.yaml"), 0); !strings.Contains(out, "results: "+p.dir+"/results/cluster/") {
		t.Errorf("the job that merges says\n%s", out)
	}
}

func job(t *testing.T, folder, name string) *manifest {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	must(t, err)
	m := &manifest{}
	must(t, yaml.Unmarshal(text, m))
	return m
}

// searched is the value of PATH in env, in which the last one counts.
func searched(env []string) (found string) {
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, "PATH="); ok {
			found = value
		}
	}
	return found
}
