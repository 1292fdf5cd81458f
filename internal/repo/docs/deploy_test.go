package docs

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
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
// deploy/check holds the manifests against the types of Kubernetes. No cluster
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

// An action is what this test needs of an action of GitHub.
type action struct {
	Inputs map[string]struct {
		Default  string
		Required bool
	}
	Runs struct{ Steps []step }
}

// A step is one of an action or of a workflow.
type step struct {
	If, Uses, Run string
	Env, With     map[string]string
}

// expression is what GitHub fills in.
var expression = regexp.MustCompile(`\$\{\{ (.*?) \}\}`)

// The scripts of the action for GitHub and of the template for GitLab, as their runners would run them: in a
// clone of a repository that bench new module has made, on a branch that is good, and then on one that does not
// build. No runner is there, and no gh: a stand-in takes down what it is asked for.
func TestGate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	slowtest.Skip(t, "it builds commands with Conclave in them")
	t.Parallel()
	p := newPlace(t)
	sh := func(dir string, env []string, script string) error {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script)
		cmd.Dir, cmd.Env = dir, append(slices.Clone(p.env), env...)
		out, err := cmd.CombinedOutput()
		if t.Logf("%s\n%s", script, out); err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return err
	}
	p.env = append(p.env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com", "RUNNER_TEMP="+t.TempDir(), "ROOT="+root(t))
	dir := t.TempDir()
	must(t, sh(dir, nil, `bench new module example.com/mine --conclave "$ROOT"
cd mine
go mod tidy
git init --quiet --initial-branch=main
git add --all
git commit --quiet --message begin
git clone --quiet . ../work
cd ../work
git checkout --quiet -b topic
echo '// more' >> main.go
git commit --quiet --all --message more
mkdir ../bin
printf '#!/bin/sh\necho "$*" > ../asked\ncat > ../body\n' > ../bin/gh
chmod +x ../bin/gh`))
	work := filepath.Join(dir, "work")
	p.env = append(p.env, "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+searched(p.env))

	var gate action
	load(t, &gate, filepath.Join(root(t), ".github", "actions", "gate", "action.yml"))
	for _, path := range []string{filepath.Join(root(t), ".github", "workflows", "ci.yml"),
		filepath.Join(work, ".github", "workflows", "gate.yml")} {
		gate.used(t, path)
	}
	values := map[string]string{
		"inputs.base || format('origin/{0}', github.base_ref)": "origin/main", "inputs.package": ".",
		"inputs.flags": "--turns 2 --threshold 1%", "inputs.files": "experiment.yaml",
		"github.token": "secret", "github.event.number": "7",
	}
	var gitlab map[string]struct {
		Script    []string
		Variables map[string]string
		Artifacts struct {
			Paths   []string
			Reports map[string]string
		}
	}
	load(t, &gitlab, filepath.Join(root(t), "deploy", "gitlab", "gate.yml"))
	job := gitlab["conclave-gate"]
	maps.Copy(job.Variables, map[string]string{"GATE_PACKAGE": ".", "GATE_FILES": "experiment.yaml"})
	written := func(says string) {
		t.Helper()
		for _, path := range append([]string{job.Artifacts.Reports["junit"]}, job.Artifacts.Paths...) {
			if _, err := os.Stat(filepath.Join(work, path)); err != nil {
				t.Error(err)
			}
		}
		text, err := os.ReadFile(filepath.Join(work, "gate", "comparison.md"))
		if must(t, err); !strings.HasPrefix(string(text), "## Conclave: "+says+"\n") {
			t.Errorf("want %q in\n%s", says, text)
		}
	}
	for _, says := range []string{"nothing is worse", "could not run"} {
		good := says == "nothing is worse"
		if !good {
			must(t, sh(work, nil, "echo more >> main.go; git commit --quiet --all --message worse"))
		}
		for _, s := range gate.Runs.Steps {
			if s.Run == "" {
				continue
			}
			always := strings.Contains(s.If, "always()")
			var env []string
			for name, value := range s.Env {
				env = append(env, name+"="+expression.ReplaceAllStringFunc(value, func(found string) string {
					is, ok := values[expression.FindStringSubmatch(found)[1]]
					if !ok {
						t.Fatalf("%s is not known here", found)
					}
					return is
				}))
			}
			if err := sh(work, env, s.Run); (err == nil) != (good || always) {
				t.Errorf("%v of\n%s", err, s.Run)
			}
		}
		written(says)
		asked, err := os.ReadFile(filepath.Join(dir, "asked"))
		if must(t, err); string(asked) != "pr comment 7 --edit-last --create-if-none --body-file -\n" {
			t.Errorf("gh was asked for %q", asked)
		}
		body, err := os.ReadFile(filepath.Join(dir, "body"))
		if must(t, err); !strings.HasPrefix(string(body), "## Conclave: "+says+"\n") {
			t.Errorf("the comment is\n%s", body)
		}

		must(t, os.RemoveAll(filepath.Join(work, "gate")))
		env := []string{"RUNNER_TEMP="}
		for name, value := range job.Variables {
			env = append(env, name+"="+value)
		}
		script := strings.ReplaceAll(strings.Join(job.Script, "\n"), "/tmp/", dir+"/")
		if err := sh(work, env, "export CI_MERGE_REQUEST_DIFF_BASE_SHA=$(git rev-parse origin/main)\n"+script); (err == nil) != good {
			t.Errorf("%v of\n%s", err, script)
		}
		written(says)
	}
}

// used says whether a workflow gives the action what it takes.
func (a *action) used(t *testing.T, path string) {
	t.Helper()
	var workflow struct {
		Jobs map[string]struct{ Steps []step }
	}
	load(t, &workflow, path)
	var found int
	for _, job := range workflow.Jobs {
		for _, s := range job.Steps {
			if !strings.Contains(s.Uses, ".github/actions/gate") {
				continue
			}
			found++
			for name := range s.With {
				if _, ok := a.Inputs[name]; !ok {
					t.Errorf("%s: the action has no input %s", path, name)
				}
			}
			for name, input := range a.Inputs {
				if input.Required && s.With[name] == "" {
					t.Errorf("%s: the action needs %s", path, name)
				}
			}
		}
	}
	if found != 1 {
		t.Errorf("%s uses the action %d times", path, found)
	}
}

// load reads a file of YAML.
func load(t *testing.T, v any, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, yaml.Unmarshal(text, v))
}
