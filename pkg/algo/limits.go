package algo

import "fmt"

// What a plugin may ask for, the same in simulation and on real processes: real
// nodes could not carry more, and a simulation would only end later, with the
// machine's memory.
const (
	// MaxMessage is how many bytes a message may have that is sent or saved, in its
	// encoded form.
	MaxMessage = 64 << 10
	// MaxEffects is how many things one event may ask for.
	MaxEffects = 1 << 17
	// MaxTimers is how many different timers a process may have.
	MaxTimers = 1 << 14
	// MaxLine is how many bytes of a line of Logf are kept.
	MaxLine = 64 << 10
	// MaxLog is how much a process may write with Logf in one life, in bytes, where
	// each line counts lineCost bytes beside its own.
	MaxLog = 64 << 20
)

// lineCost is about what the record of a line takes beside its text.
const lineCost = 128

// cutNote ends a line that was too long.
const cutNote = "... (cut)"

// Cut is text as a trace keeps it: at most MaxLine bytes of it.
func Cut(text string) string {
	if len(text) > MaxLine {
		return text[:MaxLine-len(cutNote)] + cutNote
	}
	return text
}

// A Breach is what a Stepper panics with when a plugin breaks the contract between
// them. It says by which process and how.
type Breach struct{ text string }

func (b *Breach) Error() string { return b.text }

// BreachOf is the breach of a process whose code is not in this program, with the text of err.
func BreachOf(err error) *Breach { return &Breach{err.Error()} }

// breach panics.
func breach(format string, args ...any) { panic(&Breach{fmt.Sprintf(format, args...)}) }

// TooManyTimers is the breach of a process with more than MaxTimers timers.
func TooManyTimers(p ID) *Breach {
	return &Breach{fmt.Sprintf("process %d has more than %d timers of different names: a name is to be "+
		"used again", p, MaxTimers)}
}

// Weigh is the kind of m, which process p of a sends or saves, and how many bytes its encoding has:
// verb says which of the two. It panics with a Breach if m is not the algorithm's, or is too large.
func (a *Algorithm) Weigh(p ID, verb string, m Message) (kind uint8, bytes int) {
	kind, ok := a.Codec.KindOf(m)
	if m == nil {
		breach("process %d %s nil, which is no message", p, verb)
	}
	if !ok {
		breach("process %d %s a %s, which the Spec of %s does not declare", p, verb, m.Kind(), a.ID)
	}
	bytes = a.Codec.Size(kind, m)
	if bytes > MaxMessage {
		breach("process %d %s a %s of %d bytes: at most %d are allowed", p, verb, m.Kind(), bytes, MaxMessage)
	}
	return kind, bytes
}

// Pack is the encoding of m, which is weighed. It is good until the next Pack.
func (b *Buffer) Pack(a *Algorithm, kind uint8, m Message) []byte {
	b.packed = a.Codec.Append(b.packed[:0], kind, m)
	return b.packed
}
