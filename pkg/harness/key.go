package harness

import (
	"fmt"
	"time"
)

// A Key is a parameter of a detector or a scenario, by its name in that block of the
// experiment file.
type Key struct {
	Name, Doc string
	// Title is what an axis along the key is called, without a unit of time; "": its name.
	Title string
	// Default is as the file would say it; if "", Note says what it follows from, and
	// Follows, if there is one, works it out when the other keys are set.
	Default, Note string
	Follows       func(p *Plan) any
	// Min and Max bound a number or a duration.
	Min, Max any
	// Choices are the words that it takes; of a bool, those for false and for true, and of a
	// whole number the one for 0.
	Choices []string
	// Tunes marks how long a silence is borne: the more, the fewer mistakes, and the later a
	// crash is noticed. "bench tune" looks for its value.
	Tunes bool
	// Of is where the value stands in a plan, a pointer. Its type is that of the key.
	Of func(p *Plan) any
}

// text is the value of k in p, as the file would say it.
func (k *Key) text(p *Plan) string {
	switch v := k.Of(p).(type) {
	case *bool:
		if *v {
			return k.Choices[1]
		}
		return k.Choices[0]
	case *time.Duration:
		return v.String()
	case *int:
		return fmt.Sprint(*v)
	case *float64:
		return fmt.Sprint(*v)
	}
	panic(fmt.Sprintf("harness: key %s is a %T, which has no text", k.Name, k.Of(p)))
}

// IsDefault says whether p has what the file need not say.
func (k *Key) IsDefault(p *Plan) bool {
	text := k.text(p)
	if d, err := time.ParseDuration(k.Default); err == nil {
		return text == d.String()
	}
	return text == k.Default
}

func named(keys []Key) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	return names
}

// A Wrong reports a value of a key, such as detector.timeout, that does not go together
// with the rest of its plan.
type Wrong func(key, format string, args ...any)
