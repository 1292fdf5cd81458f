package proc

import (
	"fmt"
	"path"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/text"
)

// Epitaph says how a child ended, and what it wrote to its standard error.
func (c *Child) Epitaph() string {
	why := c.Exit().String()
	if said := strings.TrimSpace(c.Stderr()); said != "" {
		why += fmt.Sprintf(": %.2000s", said)
	}
	return why
}

// Obituary says how a child ended that runs code of plugins, and whether the plugin
// is to blame: its code alone exits, panics in a goroutine of its own, or overflows
// the stack. A signal is the machine's, or somebody's.
func (c *Child) Obituary() (why string, plugin bool) {
	exit := c.Exit()
	if limit := c.flood(); limit > 0 {
		return fmt.Sprintf("it writes more than %d MiB to its standard output or error in one trial",
			limit>>20), true
	}
	return obituary(exit, c.Stderr())
}

// mostSaid bounds what is quoted from standard error, in bytes.
const mostSaid = 250

func obituary(exit ExitStatus, stderr string) (why string, plugin bool) {
	said := Harmless(strings.TrimSpace(stderr))
	switch {
	case exit.Signal != "":
	case lastWords().MatchString(said):
		return lastSaid(said), !machineFaults().MatchString(said)
	default:
		plugin = true
		why = "it has ended its whole process: "
	}
	why += exit.String()
	if said != "" {
		why += fmt.Sprintf(": %.*s", mostSaid, said)
	}
	return why, plugin
}

var (
	// lastWords is what Go says first when a program fails.
	lastWords = text.Lazy(
		`(?m)^(panic: |fatal error: |runtime: goroutine stack exceeds|SIG[A-Z]+: )(.*)$`)
	// machineFaults are failures that no code of a plugin brings about.
	machineFaults = text.Lazy(`failed to create new OS thread|newosproc|pthread_create failed`)
	frames        = text.Lazy(`(?m)^(\S.*)\(.*\)\n\t(\S+\.go:\d+)`)
)

// lastSaid is what Go said when the program failed, and where: the same on every run,
// unlike the stack behind it.
func lastSaid(said string) string {
	at := lastWords().FindStringIndex(said)
	if overflow := strings.Index(said, "\nfatal error: stack overflow"); overflow >= 0 {
		at[0], at[1] = overflow+1, overflow+1+len("fatal error: stack overflow")
	}
	text := said[at[0]:at[1]]
	for _, f := range frames().FindAllStringSubmatch(said[at[1]:], -1) {
		if !strings.HasPrefix(f[1], "runtime.") && !strings.HasPrefix(f[1], "panic") {
			text += fmt.Sprintf(", in %s (%s)", path.Base(f[1]), path.Base(f[2]))
			break
		}
	}
	return fmt.Sprintf("%.*s", mostSaid, text)
}
