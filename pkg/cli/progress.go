package cli

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/conclave-bench/conclave/internal/commands/progress"
)

// silent is the mode of progress that shows nothing.
const silent = "none"

// progress is where a command says how far it is.
func (s *streams) progress() *progress.Place {
	return &progress.Place{W: s.err, Terminal: s.terminal(), Log: s.getenv("CI") != "",
		Above: func(w io.Writer) { s.err = w }}
}

// terminal is standard error if frames can be shown there, else nil.
func (s *streams) terminal() *os.File {
	f, ok := s.err.(*os.File)
	if ok && term.IsTerminal(int(f.Fd())) && s.getenv("TERM") != "dumb" && s.getenv("CI") == "" {
		return f
	}
	return nil
}

// busy shows in a terminal what a command does at present, until it is done.
func (s *streams) busy() (show func(what string), done func()) {
	if s.terminal() == nil {
		return func(string) {}, func() {}
	}
	return func(what string) { fmt.Fprintf(s.err, "\r\x1b[K%s", what) },
		func() { fmt.Fprint(s.err, "\r\x1b[K") }
}
