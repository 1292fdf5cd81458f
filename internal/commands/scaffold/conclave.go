package scaffold

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/program"
)

// A conclave says where a module of its author's own finds Conclave.
type conclave struct {
	Version string // that go.mod requires; "": the latest
	Sums    string // its lines of go.sum, if they are known: no database has those of a private commit
	Replace string // the folder that takes its place, as go.mod has it; "": none
	Commit  string // of the version; "" if it is unknown
	Private bool   // no branch of the forge is known to have the commit
}

// Ref is what a workflow checks out of the forge.
func (c conclave) Ref() string {
	switch {
	case c.Commit != "":
		return c.Commit
	case tag.MatchString(c.Version):
		return c.Version
	}
	return "main"
}

// tag is the version of a release, which has a tag of its own.
var tag = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)

// require finds the version of Conclave that a new module requires: that of this program if it was
// installed, otherwise the commit of the clone that it runs in or was built in. A folder that is named
// replaces Conclave, whatever its commit.
func (a *Scaffold) require(folder string) error {
	if folder != "" {
		dir, err := clone(folder)
		if err == nil {
			a.replace(dir)
		}
		return err
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if a.Version = installed(info); a.Version != "" {
			return nil
		}
	}
	_, source, _, _ := runtime.Caller(0) // not absolute with -trimpath
	exe, _ := os.Executable()
	for _, place := range []string{a.from, filepath.Dir(exe), filepath.Dir(source)} {
		if dir, err := clone(place); err == nil {
			return a.checkedOut(dir)
		}
	}
	a.note("this program knows neither its version nor its clone, so the module takes the latest version; " +
		"to use a clone, run this in it, or name it: --conclave FOLDER")
	return nil
}

// note tells the author something, in lines that fit a terminal.
func (a *Scaffold) note(format string, args ...any) {
	fmt.Fprintln(a.out, console.Fold("note: "+fmt.Sprintf(format, args...)))
}

// replace has a folder take the place of Conclave.
func (a *Scaffold) replace(dir string) {
	a.Version, a.Replace = "v0.0.0", dir
	if strings.ContainsAny(dir, " \t()[]{},\"'`") { // as go.mod wants it
		a.Replace = strconv.Quote(dir)
	}
}

// installed is the version of Conclave that a program was built with, if others can fetch it: a release, or
// what came as a module, which alone has a checksum.
func installed(info *debug.BuildInfo) string {
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == program.Core && m.Replace == nil && (m.Sum != "" || tag.MatchString(m.Version)) {
			return m.Version
		}
	}
	return ""
}

// checkedOut takes the commit that a clone has checked out. Go gives it its version, and keeps it in the
// cache of modules, so that it is found there even if it is not published. A folder without a history
// replaces Conclave.
func (a *Scaffold) checkedOut(dir string) error {
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	head, err := git("rev-parse", "--verify", "HEAD")
	if err != nil {
		a.replace(dir)
		a.note("%s has no history, so the module uses the folder itself", dir)
		return nil
	}
	if changed, err := git("status", "--porcelain", "--untracked-files=no"); err != nil || changed != "" {
		a.note("the module uses the commit %.12s, without the uncommitted changes in %s", head, dir)
	}
	c := exec.Command("go", "mod", "download", "-json", program.Core+"@"+head)
	c.Dir = os.TempDir() // in no module
	c.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOPRIVATE="+program.Core,
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+dir+".insteadOf", "GIT_CONFIG_VALUE_0=https://"+program.Core)
	var module struct{ Version, Sum, GoModSum, Error string }
	out, err := c.Output()
	if err := errors.Join(json.Unmarshal(out, &module), err); err != nil || module.Version == "" {
		return fmt.Errorf("new: go mod download %s@%s: %w %s; --conclave %s uses the folder itself",
			program.Core, head, err, module.Error, program.Quote(dir))
	}
	a.Version, a.Commit = module.Version, head
	a.Sums = fmt.Sprintf("%[1]s %[2]s %[3]s\n%[1]s %[2]s/go.mod %[4]s\n", program.Core, module.Version,
		module.Sum, module.GoModSum)
	if a.Private = !published(git, head); a.Private {
		a.note("no branch of %s is known to have the commit %.12s; push it before the workflow runs",
			program.Core, head)
	}
	return nil
}

// published says whether a branch of the forge has a commit, by what the clone last heard of the forge.
func published(git func(args ...string) (string, error), commit string) bool {
	remotes, _ := git("config", "--get-regexp", `^remote\..*\.url$`) // an error if there is none
	for line := range strings.Lines(remotes) {
		key, url, _ := strings.Cut(strings.TrimSpace(line), " ")
		url = strings.ReplaceAll(strings.TrimSuffix(url, ".git"), ":", "/") // as git@github.com:owner/name
		if !strings.HasSuffix(url, program.Core) {
			continue
		}
		name := strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".url")
		refs, err := git("for-each-ref", "--contains", commit, "refs/remotes/"+name)
		if err == nil && refs != "" {
			return true
		}
	}
	return false
}
