package guest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// A Plugin says which program is an algorithm.
type Plugin struct {
	ID      string   `json:"id"`      // of the algorithm: "mutex/my-lock"
	Command []string `json:"command"` // what starts it; of a module, its file
	Dir     string   `json:"dir"`     // where it starts
	Said    string   `json:"said"`    // stands for its answer to describe; "": it was not asked yet
	Path    string   `json:"path"`    // of what is started, once it has been found
	Made    *Origin  `json:"made"`    // nil: it was not loaded yet
}

// String is the plugin as errors name it.
func (p Plugin) String() string { return p.ID + " (" + strings.Join(p.Command, " ") + ")" }

func (p *Plugin) problem() algo.Problem {
	problem, _, _ := strings.Cut(p.ID, "/")
	return algo.Problem(problem)
}

// Hosting is what runs the algorithm.
func (p *Plugin) Hosting() string {
	if p.module() {
		return metric.InModule
	}
	return metric.InProgram
}

func (p *Plugin) module() bool {
	return len(p.Command) == 1 && strings.HasSuffix(p.Command[0], ".wasm")
}

// Parse reads a plugin as a command line names it: ID=COMMAND, where the command is words, in quotes if they
// hold spaces, and starts in dir.
func Parse(text, dir string) (Plugin, error) {
	id, command, named := strings.Cut(text, "=")
	problem, name, whole := strings.Cut(id, "/")
	if !named || !whole || name == "" ||
		problem != string(algo.MutualExclusion) && problem != string(algo.Election) {
		return Plugin{}, fmt.Errorf("plugin %q: expected mutex/NAME=COMMAND or election/NAME=COMMAND, as in "+
			`mutex/my-lock="python3 my_lock.py"`, text)
	}
	words, err := split(command)
	if err == nil && len(words) == 0 {
		err = errors.New("no command")
	}
	if err != nil {
		return Plugin{}, fmt.Errorf("plugin %s: %w", id, err)
	}
	p := Plugin{ID: id, Command: words, Dir: dir}
	return p, p.find()
}

// split is the words of a command.
func split(text string) (words []string, err error) {
	var word strings.Builder
	quote, open := rune(0), false
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == ' ' || c == '\t':
			if open {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(c)
			open = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the command %s lacks a closing %c", short([]byte(text)), quote)
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}

// find finds what is started.
func (p *Plugin) find() error {
	name := p.Command[0]
	path := name
	if strings.ContainsRune(name, filepath.Separator) || p.module() {
		// The process that starts it may be in another folder.
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.Dir, path)
		}
		whole, err := filepath.Abs(path)
		if err != nil {
			return fmt.Errorf("plugin %v: %w", *p, err)
		}
		path = whole
	} else if found, err := exec.LookPath(name); err == nil {
		path = found
	} else {
		return fmt.Errorf("plugin %v: there is no program %q on the path", *p, name)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("plugin %v: %s does not exist", *p, path)
	case err != nil:
		return fmt.Errorf("plugin %v: %w", *p, err)
	case info.IsDir():
		return fmt.Errorf("plugin %v: %s is a folder", *p, path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("plugin %v: %s is no regular file", *p, path)
	case info.Mode()&0o111 == 0 && !p.module():
		return fmt.Errorf("plugin %v: %s is not executable: name the interpreter before it, or run chmod +x",
			*p, path)
	}
	p.Path = path
	return nil
}

// An Origin says what a plugin was made of, so that a run can tell whether another one is the same.
type Origin struct {
	Command []string `json:"command"`
	// Files are those that the command names, and those that the program says it consists of, with the
	// SHA-256 of each.
	Files map[string]string `json:"files"`
	// Interpreter is the first line that the program that is started prints with --version, where the command
	// names a file besides.
	Interpreter string `json:"interpreter,omitempty"`
	Hosting     string `json:"hosting"`
}

// origin is what the command names.
func (p *Plugin) origin() *Origin {
	o := &Origin{Command: p.Command, Files: map[string]string{}, Hosting: p.Hosting()}
	o.add(p.Dir, p.Command[1:])
	if len(o.Files) == 0 {
		o.add("", []string{p.Path})
	} else {
		o.Interpreter = version(p.Path)
	}
	return o
}

// add adds files, of which those count that there are.
func (o *Origin) add(dir string, names []string) {
	for _, name := range names {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, name)
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		b, err := files.Read(path, mostSource)
		if err != nil {
			continue
		}
		if relative, err := filepath.Rel(dir, path); err == nil && dir != "" && filepath.IsLocal(relative) {
			name = relative
		}
		sum := sha256.Sum256(b)
		o.Files[filepath.ToSlash(name)] = hex.EncodeToString(sum[:])
	}
}

// mostSource bounds a file of a program, in bytes.
const mostSource = 256 << 20

// version is the first line that a program prints with --version; "": none.
func version(path string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, path, "--version")
	c.WaitDelay = time.Second // what it has started may keep its output open
	out, err := c.CombinedOutput()
	if err != nil {
		return ""
	}
	line, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte("\n"))
	return proc.Harmless(string(line[:min(len(line), 200)]))
}

// Differs says in what another plugin of the same name differs; "": in nothing.
func (o *Origin) Differs(other *Origin) string {
	var names []string
	for name, sum := range o.Files {
		if other.Files[name] != sum {
			names = append(names, name)
		}
	}
	for name := range other.Files {
		if _, both := o.Files[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	switch {
	case names != nil:
		return strings.Join(slices.Compact(names), ", ") + " differs"
	case o.Interpreter != other.Interpreter:
		return fmt.Sprintf("%s instead of %s", o.Interpreter, other.Interpreter)
	}
	return ""
}
