package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
)

// generated says whether a program writes a document.
func generated(text string) bool { return strings.Contains(text, "do not edit") }

// TestPages: a page that people write is short enough to be read, and its lines are short enough for a diff.
func TestPages(t *testing.T) {
	t.Parallel()
	const most, wide = 4000, 120
	for _, d := range documents(t) {
		b, err := os.ReadFile(filepath.Join(root(t), d.name))
		must(t, err)
		text := string(b)
		if generated(text) {
			continue
		}
		if n := len(strings.Fields(text)); n > most {
			t.Errorf("%s has %d words; a page has %d at most: split it", d.name, n, most)
		}
		for i, line := range strings.Split(text, "\n") {
			if n := len([]rune(line)); n > wide && !strings.HasPrefix(strings.TrimSpace(line), "|") &&
				!strings.Contains(line, "](") && !strings.Contains(line, "http") {
				t.Errorf("%s:%d has %d characters: break it", d.name, i+1, n)
			}
		}
	}
}

// rewritten are sentences that took two readings. None comes back, in a document or in what bench prints.
var rewritten = []string{
	"at which HEAD left REF",
	"A step or a drift has the probability P that noise alone looks like it",
	"Try electors in simulation in every network that cuts may leave of a few",
	"as many plain trials would never end. Numbers are so many",
	"It splits paths: where a simulated outage has got further than most",
	"That no difference was found is no proof that there is none",
	"so that what luck",
	"how often it cries wolf",
	"What a start happens to be like then differs between rounds",
	"which no other machine has to know of",
	"print the first message at which it parts from the trial",
	"Find each algorithm's fastest time-outs at equal mistakes",
	"is the run in one piece, byte for byte",
	"Fit what handling costs in simulation to this machine",
	"had they been the best or the worst that were seen",
	"not tuned to equal",
	"A figure that fewer trials have says so, as `n=4`.",
	"the machine or the bus skewed the trial: it is repeated, and never averaged in",
	"Some stand where one may not look for them:",
	"its interval [holds nevertheless]",
	"quorums that are rebuilt round the dead",
	"shows all runs to your browser, those that go on, too",
	"which must send the same messages",
	"where handling costs what it costs on your machine",
	"a stranger connected to the bus",
	"What a data centre adds is not measured.",
	"Two values for one key on the command line are a mistake.",
	"Another metric, another axis, one level alone, or another width is a flag away",
	"How long is a group of processes without a leader after the leader crashed",
	"Of the demands above, none holds for a module of your own but the conformance kit's.",
	"Whatever judges or draws it, goes by that.",
	"With which values its promises do not hold it says in `Needs.Params`",
	"A form of an algorithm that is here already, with the same rules but for a switch",
	"whom each process that is named names in the end; 0: nobody",
	"the most live processes that held themselves leader at once",
	"a number in the message would count as the algorithm's bytes",
	"one message more is found, always, and nothing else is",
	"a mean over the others would praise the run that lost them",
	"The tests take the number of repetitions for fixed.",
	"A change below `--threshold` is told and does not fail",
	"What others did on `origin/main` meanwhile is no part of it; what you have not committed is part of head.",
	"In simulation even one is the program's doing",
	"Without more ado a run uses one machine",
	"Where processes run is the business of engines that you have",
	"and who asks for one that is being made gets the same",
	"could as well be swapped",
	"of all numbers of batches of five that one may leave out at the beginning",
	"Behind the last request that found nobody waiting, somebody always waits.",
	"It is told by the second half of the time in which requests come",
	"If slow trials spoil more easily, those that take their place flatter.",
	"but pays for that",
	"Who waits behind others waits as long as they do",
	"does the figure measure what its name says",
	"Outliers** are left out: one or two values that lie apart",
	"has not happened two hundred time-outs after",
	"and nothing moves any more",
}

// TestSentences: see rewritten.
func TestSentences(t *testing.T) {
	t.Parallel()
	for _, top := range []string{"README.md", "CONTRIBUTING.md", "docs", "pkg", "internal", "plugins"} {
		must(t, filepath.WalkDir(filepath.Join(root(t), top), func(file string, e fs.DirEntry, err error) error {
			ext := filepath.Ext(file)
			if err != nil || e.IsDir() || ext != ".md" && ext != ".go" || strings.HasSuffix(file, "_test.go") {
				return err
			}
			b, err := os.ReadFile(file)
			text := strings.Join(strings.Fields(quotes.ReplaceAllString(string(b), "")), " ")
			for _, s := range rewritten {
				if strings.Contains(text, s) {
					t.Errorf("%s: %q takes two readings", file, s)
				}
			}
			return err
		}))
	}
}

// quotes are where a string of Go ends and goes on in the next line.
var quotes = regexp.MustCompile(`" \+\n\s*"`)

// TestCounts: what documents count, the program counts alike.
func TestCounts(t *testing.T) {
	t.Parallel()
	inWords := map[int]string{10: "ten", 14: "fourteen"}
	for _, c := range []struct{ file, says string }{
		{"README.md", fmt.Sprintf("%d algorithms are built in", len(algo.All()))},
		{"docs/reference/configs.md", "`configs/elections.yaml` | " + inWords[contenders(t, "elections")] + " elections"},
		{"docs/reference/configs.md", "`configs/mutexes.yaml` | " + inWords[contenders(t, "mutexes")] + " mutexes"},
	} {
		b, err := os.ReadFile(filepath.Join(root(t), c.file))
		must(t, err)
		if !strings.Contains(string(b), c.says) {
			t.Errorf("%s does not say %q", c.file, c.says)
		}
	}
}

// contenders is how many algorithms an experiment compares.
func contenders(t *testing.T, name string) int {
	t.Helper()
	e, err := experiment.Load(filepath.Join(root(t), "configs", name+".yaml"), experiment.Overrides{})
	must(t, err)
	return len(e.Algorithms)
}
