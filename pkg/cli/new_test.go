package cli

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/commands/conform"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// inLanguages runs a test for each language that has a skeleton, in a folder of its own, where there is what
// runs its programs.
func inLanguages(t *testing.T, test func(t *testing.T, here *folder, language, command, ext string)) {
	t.Parallel()
	for _, l := range [][3]string{{"python", "python3", ".py"}, {"javascript", "node", ".mjs"}} {
		t.Run(l[0], func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(l[1]); err != nil {
				t.Skipf("there is no %s", l[1])
			}
			if l[0] != "python" {
				slowtest.Skip(t, "does in another language what Python does")
			}
			test(t, newFolder(t), l[0], l[1], l[2])
		})
	}
}

// A junitReport is what graders read.
type junitReport struct {
	Cases []struct {
		Name    string `xml:"name,attr"`
		Failure *struct {
			Message string `xml:"message,attr"`
		} `xml:"failure"`
	} `xml:"testsuite>testcase"`
}

// failures are the tests of a report, and the failure of each; "": it passed.
func failures(t *testing.T, path string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var report junitReport
	if err := xml.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, c := range report.Cases {
		found[c.Name] = ""
		if c.Failure != nil {
			found[c.Name] = c.Failure.Message
		}
	}
	return found
}

// TestNew_Course: what a course has runs. Its skeleton fails and says why, its broken lock breaks its promise,
// and a correct lock passes.
func TestNew_Course(t *testing.T) {
	inLanguages(t, func(t *testing.T, here *folder, language, command, ext string) {
		r := here.bench(t, "new", "course", "lock", "--language", language).want(t, Good)
		has(t, r.errors, "wrote lock/README.md", "wrote lock/my_lock"+ext, "bench verify mutex/my-lock")
		here.bench(t, "new", "course", "lock", "--language", language).want(t, Usage)
		lock := here.in("lock")
		text, workflow := lock.read(t, "README.md"), lock.read(t, ".github/workflows/grade.yml")
		verify := `bench verify mutex/my-lock --plugin mutex/my-lock="` + command + ` my_lock` + ext + `" --junit report.xml`
		has(t, text, verify, "broken_lock"+ext)
		has(t, workflow, "- run: "+verify+"\n")
		if strings.Contains(text+workflow, "<<") {
			t.Error("a template was not filled in")
		}

		grade := func(id, program string) ran {
			t.Helper()
			return lock.bench(t, "verify", id, "--plugin", id+"="+command+" "+program+ext, "--schedules", "30",
				"--junit", "report.xml")
		}
		r = grade("mutex/my-lock", "my_lock").want(t, CouldNotRun)
		has(t, r.out, "request is not written yet")
		rules := failures(t, lock.path("report.xml"))
		has(t, rules["Safety"], "request is not written yet (my_lock"+ext)
		if rules["Spec"] != "" {
			t.Errorf("the declaration of the skeleton: %s", rules["Spec"])
		}

		grade("mutex/broken-lock", "broken_lock").want(t, Violated)
		rules = failures(t, lock.path("report.xml"))
		has(t, rules["Safety"], "mutual-exclusion: ")
		if rules["Liveness"] != "" || len(rules) != len(conform.Kit) {
			t.Errorf("the rules are %q", rules)
		}

		explored := lock.bench(t, "explore", "mutex/broken-lock", "--exhaustive", "--plugin",
			"mutex/broken-lock="+command+" broken_lock"+ext).want(t, Violated)
		has(t, explored.out, "p1 receives AGREE{} from p2, enters")

		// The case of the text for teachers finds the mistake, too.
		_, after, _ := strings.Cut(text, "```yaml\n")
		cases, _, _ := strings.Cut(after, "```")
		lock.put(t, "teacher.yaml", cases)
		hidden := func(program string) ran {
			t.Helper()
			return lock.bench(t, "verify", "mutex/my-lock", "--plugin", "mutex/my-lock="+command+" "+program+ext,
				"--cases", "teacher.yaml")
		}
		has(t, hidden("broken_lock").want(t, Violated).out, "FAILED   TWO-AT-ONCE")

		// A correct lock takes the place of the skeleton.
		right, err := os.ReadFile(filepath.Join("..", "..", "kits", language, "examples", "ricart_agrawala"+ext))
		if err != nil {
			t.Fatal(err)
		}
		lock.put(t, "my_lock"+ext, strings.ReplaceAll(string(right), `"../conclave`, `"./conclave`))
		hidden("my_lock").want(t, Good)
		grade("mutex/my-lock", "my_lock").want(t, Good)
		for rule, failure := range failures(t, lock.path("report.xml")) {
			if failure != "" {
				t.Errorf("%s: %s", rule, failure)
			}
		}
	})
}

// TestNew_Language: the skeleton of an algorithm in another language says what it has yet to be told, for
// elections as well, and its experiment names it.
func TestNew_Language(t *testing.T) {
	inLanguages(t, func(t *testing.T, here *folder, language, command, ext string) {
		for id, event := range map[string]string{"mutex/two-words": "request", "election/two-words": "elect"} {
			dir, _, _ := strings.Cut(id, "/")
			here.bench(t, "new", "algorithm", id, "--language", language, "--out", dir).want(t, Good)
			in := here.in(dir)
			plugin := id + "=" + command + " two_words" + ext
			r := in.bench(t, "verify", id, "--schedules", "5", "--plugin", plugin).want(t, CouldNotRun)
			has(t, r.out, event+" is not written yet (two_words"+ext, "ok      Spec")
			has(t, in.read(t, "experiment.yaml"), "algorithms: [two-words, ",
				"--plugin "+id+`="`+command+" two_words"+ext)
		}
		here.bench(t, "new", "algorithm", "mutex/my-lock", "--language", language).want(t, Good)
		has(t, here.read(t, "my-lock/my_lock"+ext), "class MyLock")
	})
}

// TestNew_Mistakes: what cannot be meant writes nothing.
func TestNew_Mistakes(t *testing.T) {
	here := newFolder(t)
	for args, want := range map[string]string{
		"new course":                                           "expected one folder",
		"new course a b":                                       "expected one folder",
		"new course a --language java":                         "there is one in python and javascript",
		"new algorithm mutex/a --language go":                  "there is one in python and javascript",
		"new algorithm mutex/conclave --language python":       "conclave is the name of the kit",
		"new algorithm lock --language python":                 "expected one ID",
		"new algorithm mutex/a --language python --module x":   "are for Go",
		"new algorithm mutex/a --language python --conclave .": "are for Go",
		"new algorithm mutex/a --out b":                        "--out for --language",
		"new folder":                                           "expected algorithm, module or course",
	} {
		r := here.bench(t, strings.Fields(args)...).want(t, Usage)
		has(t, r.errors, want)
	}
	if left, err := os.ReadDir(here.dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestVerify_JUnit: the report is written besides, also of cases, and a file that cannot be written fails the
// command.
func TestVerify_JUnit(t *testing.T) {
	dir := t.TempDir()
	report := filepath.Join(dir, "report.xml")
	r := bench(t, "verify", "naimi-trehel", "--schedules", "5", "--junit", report).want(t, Good)
	has(t, r.out, "ok      Exhaustive")
	rules := failures(t, report)
	if len(rules) != len(conform.Kit) {
		t.Errorf("the rules are %q", rules)
	}
	for rule, failure := range rules {
		if failure != "" {
			t.Errorf("%s: %s", rule, failure)
		}
	}
	bench(t, "verify", "naimi-trehel", "--schedules", "5", "--junit", filepath.Join(dir, "no", "report.xml")).
		want(t, CouldNotRun)
}
