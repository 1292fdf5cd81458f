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

// The scripts of the action for GitHub and of the template for GitLab build one command and run it. A go that
// makes a command of a shell takes down what both are asked for, and the real command knows these flags.
func TestGate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	t.Parallel()
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Steps []struct {
				Name, Run string
				Env       map[string]string
			}
		}
	}
	load(t, &action, ".github", "actions", "gate", "action.yml")
	var gitlab map[string]struct {
		Script    []string
		Variables map[string]string
	}
	load(t, &gitlab, "deploy", "gitlab", "gate.yml")
	job := gitlab["conclave-gate"]
	job.Variables["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = "origin/main"
	scripts := map[string]string{"GitLab": strings.Join(job.Script, "\n")}
	envs := map[string]map[string]string{"GitLab": job.Variables}
	for _, step := range action.Runs.Steps {
		if step.Name != "gate" {
			continue
		}
		for name, value := range step.Env {
			for input, is := range action.Inputs {
				value = strings.ReplaceAll(value, "${{ inputs."+input+" }}", is.Default)
			}
			step.Env[name] = value
		}
		step.Env["FILES"] = "configs/ci.yaml" // it has no default
		if step.Env["BASE"] != "${{ inputs.base || format('origin/{0}', github.base_ref) }}" {
			t.Errorf("the base is %q", step.Env["BASE"])
		}
		step.Env["BASE"] = "origin/main"
		scripts["GitHub"], envs["GitHub"] = step.Run, step.Env
	}
	p := newPlace(t)
	for name, flags := range map[string]string{"GitHub": "FLAGS", "GitLab": "GATE_FLAGS"} {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/sh\necho go $* >> "+dir+"/log\n"+
			"printf '#!/bin/sh\\necho $* >> "+dir+"/log' > $3\nchmod +x $3\n"), 0o755))
		cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", strings.ReplaceAll(scripts[name], "/tmp/", dir+"/"))
		cmd.Env = append(slices.Clone(p.env), "RUNNER_TEMP="+dir, "PATH="+dir+":"+os.Getenv("PATH"))
		envs[name][flags] = "--turns 5 --threshold 1%"
		for key, value := range envs[name] {
			cmd.Env = append(cmd.Env, key+"="+value)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		log, err := os.ReadFile(filepath.Join(dir, "log"))
		must(t, err)
		const args = "gate --base origin/main --package ./cmd/bench --turns 5 --threshold 1% configs/ci.yaml"
		if want := "go build -o " + dir + "/bench github.com/conclave-bench/conclave/cmd/bench\n" + args + "\n"; string(log) != want {
			t.Errorf("%s: it ran\n%swant\n%s", name, log, want)
		}
		bench := exec.CommandContext(t.Context(), strings.SplitN(searched(p.env), ":", 2)[0]+"/bench", strings.Fields(args)...)
		bench.Dir, bench.Env = dir, p.env
		if out, err := bench.CombinedOutput(); err == nil || !strings.Contains(string(out), "no repository") {
			t.Errorf("bench %s: %v\n%s", args, err, out)
		}
	}
}

// load reads a file of YAML of the repository.
func load(t *testing.T, v any, path ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{root(t)}, path...)...))
	must(t, err)
	must(t, yaml.Unmarshal(text, v))
}
