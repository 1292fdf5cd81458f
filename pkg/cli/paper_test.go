package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPaper: tables, figures and what shows them lie in a folder, in which every file that one names is
// there; a second call writes them anew, and nothing is written over what is not ours.
func TestPaper(t *testing.T) {
	t.Parallel()
	dir := sweepRun(t)
	out := filepath.Join(t.TempDir(), "paper")
	said := bench(t, "paper", dir, "--out", out).want(t, Good)
	has(t, said.out, out+": 2 tables and 2 figures; pdflatex main.tex shows all")
	text := func(name string) string {
		b, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	table := text("table-downtime_ms.tex")
	has(t, strings.Join(strings.Fields(table), " "), `\begin{table}`, `\label{tab:downtime_ms}`, "Downtime (ms): from the loss of the leader",
		"Median over trials", "n = 6", "(Westfall and Young, ", `\end{table}`, "algorithm claims to survive")
	has(t, text("table-messages_per_election.tex"), "(Westfall and Young, ")
	figure := text("figure-downtime_ms-nodes.tex")
	has(t, figure, `\includegraphics{\benchfolder/figures/downtime_ms-nodes.pdf}`, `\label{fig:downtime_ms-nodes}`,
		"Downtime against nodes: median over trials with its 95", `\input{\benchfolder/plots/downtime_ms}`)
	has(t, text("README.md"), `\newcommand{\benchfolder}{paper}`, `\input{paper/table-downtime_ms}`)
	for _, m := range regexp.MustCompile(`\\input\{([^}]*)\}`).FindAllStringSubmatch(text("main.tex"), -1) {
		if !strings.Contains(text(m[1]+".tex"), `\end{`) {
			t.Errorf("main.tex shows %s, which has nothing to show", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`\{([^}]*\.dat)\}`).FindAllStringSubmatch(text("plots/downtime_ms.tex"), -1) {
		text("plots/" + m[1])
	}
	typeset(t, out)

	bench(t, "paper", dir, "--out", out, "--metrics", "messages", "--where", "nodes=5").want(t, Good)
	has(t, text("table-messages.tex"), "Nodes 5 everywhere")
	bench(t, "paper", dir, "--out", out, "--metrics", "availability").want(t, Good)
	if strings.Contains(text("table-availability.tex"), "Westfall") {
		t.Error("a test is named that nobody made: algorithms are not ranked by their availability")
	}
	if err := os.WriteFile(filepath.Join(out, "main.tex"), []byte("\\documentclass{article}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--out " + out:                   "it has a main.tex that bench did not write; name another folder",
		"--metrics message --out " + dir: `unknown metric "message"; did you mean "messages"?`,
		"--where node=5":                 `unknown column "node"; did you mean "nodes"?`,
		"--where transport=nats":         "no cell has transport=nats",
		dir:                              "paper: 2 folders, expected one",
	} {
		r := bench(t, append([]string{"paper", dir}, strings.Fields(args)...)...).want(t, Usage)
		has(t, flat(r.errors), want)
	}
	if _, err := os.Stat(filepath.Join(dir, "paper")); err == nil {
		t.Error("a mistake wrote files")
	}
}

// typeset compiles the document of a folder, if that is possible here, and finds nothing that is wider than
// its column.
func typeset(t *testing.T, dir string) {
	t.Helper()
	latex, err := exec.LookPath("pdflatex")
	if err != nil {
		return
	}
	cmd := exec.CommandContext(t.Context(), latex, "-interaction=nonstopmode", "-halt-on-error", "main.tex")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	text := string(out)
	switch {
	case regexp.MustCompile(`File .[a-z]*\.(cls|sty)' not found`).MatchString(text):
		return
	case err != nil:
		t.Fatalf("pdflatex: %v\n%s", err, text[max(0, len(text)-3000):])
	}
	if slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
		return strings.HasPrefix(line, `Overfull \hbox`)
	}) {
		t.Errorf("something is wider than its column:\n%s", text)
	}
}

// sweepRun is a run of two algorithms of three sizes with and without loss.
func sweepRun(t *testing.T) string {
	t.Helper()
	file := write(t, "sweep.yaml", `name: sweep
problem: election
algorithms: [bully, ring-list]
transport: sim
network: {latency: 2ms}
scenario: {kind: leader-crash}
sweep:
  - {vary: nodes, over: [3, 5, 7]}
  - {vary: network.loss, over: [0, 0.05]}
repetitions: 6
seed: 1
`)
	out := t.TempDir()
	bench(t, "run", file, "--out", out, "--quiet").want(t, Good)
	return filepath.Join(out, "sweep", "latest")
}
