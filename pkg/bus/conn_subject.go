package bus

import (
	"fmt"
	"strconv"
	"strings"
)

// The subject of what process from sends to process to in a trial is
// d.TRIAL.FROM.TO. A user may publish and subscribe only to its own.

// maxTrialName is how long the name of a trial may be, in bytes.
const maxTrialName = 64

// checkTrial says whether a trial's name can be part of a subject: in a subject,
// dots, spaces, stars and line ends have a meaning.
func checkTrial(trial string) error {
	ok := len(trial) > 0 && len(trial) <= maxTrialName
	for i := 0; i < len(trial); i++ {
		c := trial[i]
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			c == '_' || c == '-')
	}
	if !ok {
		return fmt.Errorf("trial name: %.80q: expected 1 to %d letters, digits, _ and -",
			trial, maxTrialName)
	}
	return nil
}

func subject(trial string, from, to uint32) string {
	return fmt.Sprintf("d.%s.%d.%d", trial, from, to)
}

// subjectOfAll is where process self hears everybody.
func subjectOfAll(trial string, self uint32) string {
	return fmt.Sprintf("d.%s.*.%d", trial, self)
}

// Sender is the process that a message of that subject is from. The server has
// checked it: see User.
func Sender(subject string) (from uint32, ok bool) {
	rest, ok := strings.CutPrefix(subject, "d.")
	if !ok {
		return 0, false
	}
	_, rest, ok = strings.Cut(rest, ".")
	if !ok {
		return 0, false
	}
	token, _, ok := strings.Cut(rest, ".")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(token, 10, 32)
	return uint32(n), err == nil
}
