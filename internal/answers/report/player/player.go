// Package player makes a page of one trial, to step through it: a space-time diagram,
// and the state of every process at each event. It is one file and needs no network. It
// knows no records: it is handed what they come to.
package player

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the page's assets
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"sync"

	"github.com/conclave-bench/conclave/internal/answers/theme"
)

// Generator is what the page says it was made by; a program that finds it may replace the
// page.
const Generator = "Conclave bench trace"

// Data is a trial. Its JSON is made to be short: columns instead of records, words as
// indexes of Words.
type Data struct {
	Title   string   `json:"title"`
	Verdict string   `json:"verdict"` // status: reason; "": not known
	Back    string   `json:"-"`       // where all trials of the run are; "": nowhere
	Notes   []string `json:"notes"`   // what is left out, or not certain
	Nodes   int      `json:"nodes"`
	First   int      `json:"first"` // number of the first event
	Open    int      `json:"open"`  // number of the event that is shown first
	// Detector: messages of failure detectors are shown until somebody says otherwise.
	Detector bool     `json:"detector"`
	Words    []string `json:"words"`
	Kinds    []string `json:"kinds"` // of messages
	Types    []Type   `json:"types"` // of events
	Fields   []Field  `json:"fields"`
	Events   Events   `json:"events"`
	Messages Messages `json:"messages"`
	Initial  []int    `json:"initial"` // process, field, word; and so on: before the first event
	Changes  []int    `json:"changes"` // event, field, word; and so on, of the event's process
	Breaches []int    `json:"breaches"`
	Bands    []Band   `json:"bands"`
}

// A Band is the time of a partition, or of flaky links.
type Band struct {
	From int64  `json:"from"` // ns
	To   int64  `json:"to"`
	Text string `json:"text"`
	// Sides are the side that each process is on, from 0; -1: that of the others. Empty: there are no sides.
	Sides []int `json:"sides"`
}

// A Type is a type of events.
type Type struct {
	Name string `json:"name"`
	Own  bool   `json:"own"` // something that its process did or noticed
	Jump Jump   `json:"jump,omitempty"`
}

// A Jump is what a reader looks for.
type Jump string

// The jumps, besides broken promises and changes of what a process names its leader.
const (
	Fault Jump = "fault" // a crash, a partition, a pause
	Entry Jump = "entry" // into the critical section
)

// A Field is a variable of every process.
type Field struct {
	Name string `json:"name"`
	Own  bool   `json:"own"` // of the algorithm; else of the trial
}

// The fields of the trial come first.
const (
	Alive   = iota // whether the process is up
	Leader         // whom it names
	Section        // whether it is in the critical section
	Trial          // how many they are
)

// Events are what happened, in order.
type Events struct {
	At      []int64  `json:"at"` // ns since the event before; of the first: since the start
	Type    []int    `json:"type"`
	Process []uint32 `json:"process"` // 0: the network's
	Text    []int    `json:"text"`    // a word: what happened
	Message []int    `json:"message"` // index; -1: none
	Holds   []int    `json:"holds"`   // a word: what its message holds; -1: nothing
}

// Messages are those that were sent or ended within the events.
type Messages struct {
	From   []uint32 `json:"from"`
	To     []uint32 `json:"to"`
	Kind   []int    `json:"kind"`
	Send   []int    `json:"send"`   // event; -1: before the first
	End    []int    `json:"end"`    // event; -1: not within the events
	Origin []int    `json:"origin"` // event that sent it; of a second copy, that of the first
	Sent   []int64  `json:"sent"`   // ns
	Ended  []int64  `json:"ended"`
	Fate   []int    `json:"fate"` // index of Fates
	Watch  []int    `json:"watch"`
}

// Fates are what becomes of messages.
var Fates = []string{"on its way", "delivered", "lost", "undeliverable"}

var (
	//go:embed assets/player.html
	pageText string
	//go:embed assets/player.css
	style string
	//go:embed assets/player.js
	ownScript string
	// Make is the function by which the scripts of pages build elements.
	//go:embed assets/make.js
	Make string
)

var script = theme.Script + "\n" + Make + "\n" + ownScript

// page is read when it is first used: this package is linked into every node process, and a
// node's start is measured time.
var page = sync.OnceValue(func() *template.Template {
	return theme.New("player", pageText, nil)
})

// Policy is the sum of the page's script, as a Content-Security-Policy names it. A page
// that opens this one from a blob must allow it.
var Policy = theme.Sum(script)

// Write writes the page.
func Write(w io.Writer, d *Data) error {
	text, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("player: %w", err)
	}
	packed, err := Pack(text)
	if err != nil {
		return fmt.Errorf("player: %w", err)
	}
	p := theme.Page{Generator: Generator, Policy: theme.Policy("form-action 'none'", Policy), Kind: "trial",
		Title: d.Title, Style: theme.CSS(style), Start: "controls", StartName: "the controls"}
	if d.Back != "" {
		p.Links = []theme.Link{{Name: "all trials of the run", Value: d.Back}}
	}
	status, reason, _ := strings.Cut(d.Verdict, ": ")
	if status != "" {
		p.States = []theme.State{{Name: status, Style: look(status)}}
	}
	return page().Execute(w, map[string]any{"Page": p, "Reason": reason, "Notes": d.Notes,
		"Script": template.JS(script), "Packed": packed})
}

// look is how the header shows a status.
func look(status string) string {
	switch status {
	case "ok":
		return "good"
	case "violation", "error":
		return "bad"
	}
	return "warn"
}

// Pack is text compressed and in base 64.
func Pack(text []byte) (string, error) { return PackFrom(bytes.NewReader(text), math.MaxInt) }

// PackFrom is what can be read compressed and in base 64; an error, as soon as that is known, if it
// is longer than room.
func PackFrom(text io.Reader, room int) (string, error) {
	packed := &limited{room: room}
	encoder := base64.NewEncoder(base64.StdEncoding, packed)
	z, _ := gzip.NewWriterLevel(encoder, gzip.BestCompression) // a level that there is
	if _, err := io.Copy(z, text); err != nil {
		return "", err
	}
	if err := errors.Join(z.Close(), encoder.Close()); err != nil {
		return "", err
	}
	return packed.String(), nil
}

type limited struct {
	strings.Builder
	room int
}

func (l *limited) Write(b []byte) (int, error) {
	if len(b) > l.room-l.Len() {
		return 0, fmt.Errorf("longer than %d bytes", l.room)
	}
	return l.Builder.Write(b)
}
