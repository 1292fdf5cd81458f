package fleet

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/base/text"
)

// A shell is a POSIX shell on a host, at the other end of one connection. The words of its command need
// no quotes, so that ssh, which joins them, and a program such as ip netns exec, which does not, are alike.
type shell struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said bytes.Buffer // on standard error
	mark string       // begins the line behind the output of a script
}

// unreachable is the error of a connection that failed.
type unreachable struct{ error }

// mostAnswer bounds what a script may answer, in bytes.
const mostAnswer = 8 * files.MiB

// shell connects to a machine.
func (s *state) shell(ctx context.Context, m *Machine) (*shell, error) {
	return open(ctx, append(strings.Fields(s.SSH), m.Target, "sh", "-s")...)
}

// open starts a shell that reads its script.
func open(ctx context.Context, words ...string) (*shell, error) {
	s := &shell{cmd: proc.Interruptible(ctx, words[0], words[1:]...), mark: "conclave-" + rand.Text()}
	s.cmd.Stderr = &s.said
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, unreachable{err}
	}
	s.in, s.out = in, bufio.NewReader(files.Lines(out, mostAnswer))
	if _, _, err := s.do("umask 077"); err != nil {
		_ = s.close() // why is what do has said
		return nil, err
	}
	return s, nil
}

// do runs a script, and returns what it prints, and its exit code. It reads nothing.
func (s *shell) do(script string) (output string, code int, err error) {
	if err := s.write("{\n" + script + "\n} </dev/null 2>&1\necho " + s.mark + " $?\n"); err != nil {
		return "", 0, err
	}
	return s.answer()
}

func (s *shell) write(text string) error {
	if _, err := io.WriteString(s.in, text); err != nil {
		return s.lost(err)
	}
	return nil
}

// answer is what comes before the next mark, and the code behind that. What a login prints comes before the
// first one.
func (s *shell) answer() (output string, code int, err error) {
	var all strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			return "", 0, s.lost(err)
		}
		if before, after, ok := strings.Cut(line, s.mark); ok {
			all.WriteString(before)
			code, err = strconv.Atoi(strings.TrimSpace(after))
			return all.String(), code, err
		}
		if all.WriteString(line); all.Len() > mostAnswer {
			return "", 0, errors.New("it answers more than 8 MiB")
		}
	}
}

// send has a script read so many bytes of content from its standard input. A script that fails has all of
// them read nevertheless, for the shell would take the rest for commands: it is no longer of use then.
func (s *shell) send(script string, content []byte) error {
	// One line, which the shell reads to its end before it says that it is ready: it may read ahead.
	if err := s.write(fmt.Sprintf("{ echo %[1]s 0; head -c %[2]d | { %[3]s; }; } 2>&1 && echo %[1]s 0 || "+
		"{ echo %[1]s 1; cat >/dev/null; exit 1; }\n", s.mark, len(content), script)); err != nil {
		return err
	}
	if _, _, err := s.answer(); err != nil {
		return err
	}
	written := make(chan error, 1)
	go func() {
		_, err := s.in.Write(content)
		written <- err
	}()
	output, code, err := s.answer()
	if err == nil && code != 0 {
		err = errors.New(text.Printable(strings.TrimSpace(output)))
	}
	if err != nil {
		_ = s.in.Close() // ends the writing, if it goes on
		why := <-written
		_ = why // the script has said it
		return err
	}
	return <-written
}

// lost is why the connection ended.
func (s *shell) lost(err error) error {
	_ = s.in.Close()
	_ = s.cmd.Wait()
	said := strings.TrimSpace(s.said.String())
	if said == "" {
		said = s.cmd.ProcessState.String()
		if err != io.EOF {
			said = err.Error()
		}
	}
	lines := strings.Split(said, "\n")
	return unreachable{fmt.Errorf("%.200s", text.Printable(lines[len(lines)-1]))}
}

// close ends the connection.
func (s *shell) close() error {
	_ = s.in.Close()
	return s.cmd.Wait()
}

// quoted is a word of a script.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
