package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Codes are what the exit codes mean: in general, and to commands that mean something of
// their own by them. docs/reference/commands.md and the help texts say it in these words.
var Codes = []struct {
	Codes   string
	verdict [2]string // what a run is called that ended so, and how bench serve shows that
	Means   string
	to      map[string]string
}{
	{"0", [2]string{"ok", "good"}, "good", map[string]string{
		"compare":   "nothing is worse, or with --prove, all is proved",
		"diff":      "the same",
		"bisect":    "the same at both",
		"gate":      "nothing is worse",
		"history":   "done; analyze: nothing is worse, unless blessed",
		"explore":   "nothing found, or only beyond the model",
		"prove":     "no schedule breaks a promise, or only beyond the model",
		"reproduce": "every verdict is what its study expects",
	}},
	{"1", [2]string{"could not run", "bad"}, "could not run", nil},
	{"2", [2]string{"could not run", "bad"},
		"usage or configuration; every error in the file is reported with its line",
		map[string]string{"run": "usage or configuration", "compare": "usage", "explore": "usage",
			"prove": "usage",
			"diff":  "usage or configuration", "bisect": "usage or configuration",
			"gate": "usage or configuration", "history": "usage or configuration",
			"reproduce": "usage or configuration", "tune": "usage or configuration",
			"advise": "usage, records that cannot be read, or nothing keeps the budget",
			"rare":   "usage or configuration", "atlas": "usage or configuration",
			"calibrate": "usage", "twin": "usage"}},
	{"3", [2]string{"violation", "bad"}, "a promise was broken within the model", map[string]string{
		"gate": "the working tree breaks a promise within the model"}},
	{"4", [2]string{"threshold missed", "bad"}, "a threshold was missed; `bench compare`, `bench gate`: " +
		"something is worse; `bench diff`, `bench bisect`: the trials differ; `bench reproduce`: a verdict " +
		"is not the expected one", map[string]string{
		"run":       "a threshold was missed",
		"compare":   "something is worse",
		"diff":      "they differ",
		"bisect":    "the commit was found",
		"gate":      "something is worse, or misses a threshold",
		"history":   "something is worse and not blessed",
		"reproduce": "a verdict is not the expected one",
	}},
	{"5", [2]string{"incomplete", "warn"}, "incomplete or unknown: more invalid or timed-out trials " +
		"than allowed; `bench compare --prove`: neither proved nor refuted",
		map[string]string{
			"run":     "more invalid, timed-out or undecided trials than the experiment allows",
			"compare": "with --prove, something is neither proved nor refuted",
			"bisect":  "several commits remain, which cannot be tested",
			"gate": "more invalid, timed-out or undecided trials than the experiment allows; with " +
				"--prove, something is neither proved nor refuted",
			"history": "some commits were skipped",
			"prove":   "the search stopped before it had seen every schedule",
			"tune":    "for some algorithm no setting was found",
			"rare":    "one of the bounds was not reached by any path",
		}},
	{"130, 143", [2]string{"interrupted", "warn"}, "interrupted; finished trials are kept",
		map[string]string{"advise": "interrupted; what is known is printed",
			"diff": "interrupted", "bisect": "interrupted", "gate": "interrupted",
			"history": "interrupted; what was added is kept"}},
}

// VerdictOf is what a run is called that ended with a code, and whether that is good, bad, or neither: warn.
func VerdictOf(code int) (name, style string) {
	for _, e := range Codes {
		if slices.Contains(strings.Split(e.Codes, ", "), strconv.Itoa(code)) {
			return e.verdict[0], e.verdict[1]
		}
	}
	return strconv.Itoa(code), "bad"
}

// Meaning is what a code says of a command.
func Meaning(command string, code int) string {
	for _, e := range Codes {
		if slices.Contains(strings.Split(e.Codes, ", "), strconv.Itoa(code)) {
			return cmp.Or(e.to[command], e.Means)
		}
	}
	return fmt.Sprintf("exit code %d", code)
}

// Explain says what those codes mean that a command can end with.
func Explain(command string, codes ...string) string {
	var parts []string
	for _, e := range Codes {
		if slices.Contains(codes, e.Codes) {
			parts = append(parts, e.Codes+" "+cmp.Or(e.to[command], e.Means))
		}
	}
	text := "Exit codes:"
	width := len(text)
	for _, word := range strings.Fields(strings.Join(parts, "; ") + ".") {
		if width+1+len(word) > 78 {
			text, width = text+"\n"+word, len(word)
			continue
		}
		text, width = text+" "+word, width+1+len(word)
	}
	return text
}
