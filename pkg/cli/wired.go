package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/worlds/wire"
	"github.com/conclave-bench/conclave/pkg/config"
)

// wants finds network.wire where it is asked for, in YAML, TOML, a flag or a variable. What it finds in
// vain does no harm.
var wants = regexp.MustCompile(`(?i)(network\.|network__)wire|wire["']?\s*[:=]\s*["']?true`)

// enter has the command run where it can have a wire, if args may ask for one and this user is not root. It
// returns the exit code if that is done. Why there can be no wire, the command says itself.
func (s *streams) enter(args []string) (code int, done bool) {
	if os.Getuid() <= 0 || !s.mayWant(args) {
		return 0, false
	}
	code, done, err := wire.Enter()
	return code, done && err == nil
}

// mayWant says whether an argument, a file or a folder that args name, or a variable may ask for a wire.
func (s *streams) mayWant(args []string) bool {
	asks := func(text string) bool { return wants.MatchString(text) }
	if slices.ContainsFunc(s.env, func(v string) bool {
		return strings.HasPrefix(v, "CONCLAVE_") && asks(v)
	}) {
		return true
	}
	for _, arg := range args {
		if asks(arg) {
			return true
		}
		_, value, _ := strings.Cut(arg, "=")
		for _, name := range []string{arg, value, filepath.Join(arg, "config.resolved.yaml"),
			filepath.Join(value, "config.resolved.yaml")} {
			if text, err := files.Read(name, config.MaxSize); err == nil && asks(string(text)) {
				return true
			}
		}
	}
	return false
}
