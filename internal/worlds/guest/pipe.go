package guest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
)

// A pipe is a program as a child process: a line is a request, and a line its answer.
type pipe struct {
	child *proc.Child
	from  *bufio.Reader
	long  []byte // a line that is longer than the reader's buffer
	watch chan struct{}
	fat   chan error // why it was killed
}

// mostLine bounds a line, in bytes.
const mostLine = 1 << 20

// parting is how long a program may take to end.
const parting = 2 * time.Second

func startPipe(s *proc.Spawner, p *Plugin) (channel, error) {
	child, err := s.Start(proc.Command{Path: p.Path, Args: p.Command[1:], Dir: p.Dir, Name: p.Command[0],
		Env: environment(), Sweep: true, Joins: settings.joins.Load()})
	if err != nil {
		return nil, err
	}
	c := &pipe{child: child, from: bufio.NewReaderSize(child.Stdout, 1<<16), watch: make(chan struct{}),
		fat: make(chan error, 1)}
	go c.weigh()
	return c, nil
}

// weigh kills a program that takes too much memory. When the program has ended, it ends reads of its output,
// even if another process holds that open.
func (c *pipe) weigh() {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-c.watch:
			return
		case <-c.child.Done():
			// So that what it said last is read.
			_ = c.child.Stdout.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			return
		case <-tick.C:
			most := memory()
			if n := proc.Memory(c.child.Pid()); n > most {
				c.fat <- fmt.Errorf("it takes more than %d MiB of memory", most>>20)
				c.child.Kill()
				tick.Stop()
			}
		}
	}
}

func (c *pipe) call(request []byte, limit time.Duration, _ bool) ([]byte, error) {
	err := c.write(request, limit)
	if errors.Is(err, os.ErrDeadlineExceeded) && c.gone() == nil {
		return nil, fmt.Errorf("it does not read the request within %v", limit)
	}
	var line []byte
	if err == nil {
		line, err = c.line(limit)
	}
	switch extra, _ := c.from.Peek(c.from.Buffered()); {
	case err == nil && len(extra) > 0:
		return nil, fmt.Errorf("it has written more than its answer: %s", short(extra))
	case err == nil:
		return line, nil
	case errors.Is(err, os.ErrDeadlineExceeded) && c.gone() == nil:
		if len(line) > 0 {
			return nil, fmt.Errorf("it has written half a line, and no more within %v: %s", limit,
				short(line))
		}
		return nil, fmt.Errorf("it does not answer within %v", limit)
	case len(line) > 0 && !errors.Is(err, errLong):
		return nil, fmt.Errorf("%w, after half a line: %s", c.ended(err), short(line))
	}
	return nil, c.ended(err)
}

// looks is the number of parts into which the time for an answer is divided. A pause of the whole process or
// machine uses up one part at most, so that the program is not blamed for it.
const looks = 10

// patiently repeats an operation that a deadline of the file interrupts, until the time is up.
func (c *pipe) patiently(limit time.Duration, set func(time.Time) error, do func() error) error {
	for look := 1; ; look++ {
		if c.gone() == nil {
			_ = set(time.Now().Add(limit / looks))
		}
		err := do()
		if !errors.Is(err, os.ErrDeadlineExceeded) || look == looks || c.gone() != nil {
			return err
		}
	}
}

// mostAtOnce is what a pipe takes whether it is read or not, on any system, in bytes.
const mostAtOnce = 4096

func (c *pipe) write(request []byte, limit time.Duration) error {
	in := c.child.Stdin
	if len(request) <= mostAtOnce { // it has read all that came before
		_, err := in.Write(request)
		return err
	}
	err := c.patiently(limit, in.SetWriteDeadline, func() error {
		n, err := in.Write(request)
		request = request[n:]
		return err
	})
	_ = in.SetWriteDeadline(time.Time{})
	return err
}

// gone is why the child has ended; nil: it has not.
func (c *pipe) gone() error {
	select {
	case <-c.child.Done():
		return errors.New(c.child.Exit().String())
	default:
		return nil
	}
}

var errLong = fmt.Errorf("its answer is longer than %d MiB", mostLine>>20)

// line reads a line, of which an error returns the beginning.
func (c *pipe) line(limit time.Duration) (line []byte, err error) {
	c.long = c.long[:0]
	err = c.patiently(limit, c.child.Stdout.SetReadDeadline, func() (err error) {
		for {
			line, err = c.from.ReadSlice('\n')
			if err == nil && len(c.long) == 0 {
				return nil // in general, and nothing is copied
			}
			c.long = append(c.long, line...)
			if line = c.long; len(line) > mostLine {
				return fmt.Errorf("%w: %s", errLong, short(line))
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				return err
			}
		}
	})
	return line, err
}

// ended says how the program ended, if err is of that.
func (c *pipe) ended(err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, syscall.EPIPE) {
		return err
	}
	select {
	case <-c.child.Done():
	case <-time.After(parting):
		return errors.New("it has closed its standard output or input, and goes on")
	}
	select {
	case why := <-c.fat:
		return why
	default:
		return fmt.Errorf("it has ended (%v)", c.child.Exit())
	}
}

func (c *pipe) said() string {
	said := proc.Harmless(strings.TrimSpace(c.child.Stderr()))
	lines := strings.Split(said[max(0, len(said)-mostSaid):], "\n")
	lines = lines[max(0, len(lines)-lastLines):]
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.ToValidUTF8(strings.Join(lines, " | "), "")
}

// lastLines is how many lines of standard error are quoted.
const lastLines = 5

func (c *pipe) kill() {
	close(c.watch)
	c.child.Close()
}

func (c *pipe) end(request []byte) error {
	defer c.kill()
	if _, err := c.child.Stdin.Write(request); err != nil {
		return c.ended(err)
	}
	_ = c.child.Stdin.Close()
	_ = c.child.Stdout.SetReadDeadline(time.Now().Add(parting))
	rest, err := io.ReadAll(io.LimitReader(c.from, mostQuoted+1))
	switch {
	case len(rest) > 0:
		return fmt.Errorf("it writes after the end: %s", short(rest))
	case err != nil:
		return fmt.Errorf("it does not end within %v", parting)
	}
	select {
	case <-c.child.Done():
	case <-time.After(parting):
		return fmt.Errorf("it does not end within %v", parting)
	}
	if exit := c.child.Exit(); exit.Code != 0 {
		return fmt.Errorf("it ends with %v", exit)
	}
	return nil
}
