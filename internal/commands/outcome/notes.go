package outcome

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/console"
)

// mostNoteLines is how many lines of notes a terminal gets; --notes prints all of them.
const mostNoteLines = 5

// numbers are what may differ between notes that say the same.
var numbers = regexp.MustCompile(`\d+(\.\d+)?`)

// A kin is notes that are equal but for numbers, and perhaps for the label before the first colon.
type kin struct {
	labels []string
	texts  []string // behind the label
}

// ofShard is how a note of a shard begins in a run that was merged.
var ofShard = regexp.MustCompile(`^shard \d+/\d+: `)

// withoutShards are the notes without those of shards that the whole run has, too, but for numbers.
func withoutShards(notes []string) (out []string) {
	alike := func(note string) string {
		return numbers.ReplaceAllString(ofShard.ReplaceAllString(note, ""), "#")
	}
	said := map[string]bool{}
	for _, note := range notes {
		said[alike(note)] = said[alike(note)] || !ofShard.MatchString(note)
	}
	for _, note := range notes {
		if !ofShard.MatchString(note) || !said[alike(note)] {
			out = append(out, note)
		}
	}
	return out
}

// folded has one note in place of those that are equal but for a label or numbers: with how many there
// are, the labels, and the range of each number.
func folded(notes []string) (out []string) {
	var order []string
	families := map[string]*kin{}
	for _, note := range withoutShards(notes) {
		label, text, labelled := strings.Cut(note, ": ")
		if !labelled || strings.Contains(label, " are") || strings.Contains(label, " is") {
			label, text = "", note
		}
		key := numbers.ReplaceAllString(text, "#")
		if label == "" {
			key = "\x00" + key // a note of no label is none of several labels
		}
		if families[key] == nil {
			families[key] = &kin{}
			order = append(order, key)
		}
		families[key].labels = append(families[key].labels, label)
		families[key].texts = append(families[key].texts, text)
	}
	for _, key := range order {
		out = append(out, families[key].String())
	}
	return out
}

// mostLabels is how many labels a folded note names.
const mostLabels = 3

func (k *kin) String() string {
	text := ranges(k.texts)
	var labels []string
	for _, label := range k.labels {
		if !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	if merged := ranges(labels); len(labels) > 1 && !strings.Contains(merged, "\x00") {
		labels = []string{merged} // "cell 1" and "cell 4" are "cell 1 to 4"
	}
	label := strings.Join(labels[:min(len(labels), mostLabels)], ", ")
	if more := len(labels) - mostLabels; more > 0 {
		label += fmt.Sprintf(" and %d more", more)
	}
	if label != "" {
		text = label + ": " + text
	}
	if len(k.texts) > 1 {
		text += fmt.Sprintf(" (%d alike)", len(k.texts))
	}
	return text
}

// ranges is the first of texts that are equal but for numbers, with "3 to 9" for a number that differs.
// It has a zero byte in it if they differ in anything else.
func ranges(texts []string) string {
	first := texts[0]
	at := numbers.FindAllStringIndex(first, -1)
	var out strings.Builder
	end := 0
	for i, span := range at {
		least, most := first[span[0]:span[1]], first[span[0]:span[1]]
		for _, text := range texts[1:] {
			all := numbers.FindAllString(text, -1)
			if numbers.ReplaceAllString(text, "#") != numbers.ReplaceAllString(first, "#") {
				return "\x00"
			}
			if value(all[i]) < value(least) {
				least = all[i]
			}
			if value(all[i]) > value(most) {
				most = all[i]
			}
		}
		out.WriteString(first[end:span[0]] + least)
		if most != least {
			out.WriteString(" to " + most)
		}
		end = span[1]
	}
	if len(at) == 0 && slices.ContainsFunc(texts, func(text string) bool { return text != first }) {
		return "\x00"
	}
	return out.String() + first[end:]
}

func value(number string) float64 {
	v, _ := strconv.ParseFloat(number, 64) // it is one: numbers has found it
	return v
}

// short is how many of the lines a terminal gets, the first at least.
func short(lines []string) (n int) {
	used := 0
	for _, line := range lines {
		used += 1 + strings.Count(console.Fold(line), "\n")
		if used > mostNoteLines && n > 0 {
			break
		}
		n++
	}
	return n
}
