package guest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
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

// maxMemory bounds the memory that a program takes, in bytes.
const maxMemory = 2 << 30

// parting is how long a program may take to end.
const parting = 2 * time.Second

func startPipe(s *proc.Spawner, p *Plugin) (channel, error) {
	child, err := s.Start(proc.Command{Path: p.path, Args: p.Command[1:], Dir: p.Dir, Name: p.Command[0],
		Env: environment(), Sweep: true, Joins: settings.joins.Load()})
	if err != nil {
		return nil, err
	}
	c := &pipe{child: child, from: bufio.NewReaderSize(child.Stdout, 1<<16), watch: make(chan struct{}),
		fat: make(chan error, 1)}
	go c.weigh()
	return c, nil
}

// weigh kills a program that takes too much memory, and has reads end when it is gone, whoever else holds its
// standard output open.
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
			if n := proc.Memory(c.child.Pid()); n > maxMemory {
				c.fat <- fmt.Errorf("it takes more than %d MiB of memory", maxMemory>>20)
				c.child.Kill()
			}
		}
	}
}

func (c *pipe) call(request []byte, limit time.Duration) ([]byte, error) {
	if n := c.from.Buffered(); n > 0 {
		extra, _ := c.from.Peek(n)
		return nil, fmt.Errorf("it has written without being asked: %s", short(slices.Clone(extra)))
	}
	if _, err := c.child.Stdin.Write(request); err != nil {
		return nil, c.ended(err)
	}
	if c.gone() == nil {
		_ = c.child.Stdout.SetReadDeadline(time.Now().Add(limit))
	}
	line, err := c.line()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && c.gone() == nil:
		if len(line) > 0 {
			return nil, fmt.Errorf("it has written half a line, and no more within %v: %s", limit,
				short(line))
		}
		return nil, fmt.Errorf("it does not answer within %v", limit)
	case err != nil:
		return nil, c.ended(err)
	}
	return line, nil
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

// line reads a line, of which an error returns the beginning.
func (c *pipe) line() ([]byte, error) {
	line, err := c.from.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	c.long = append(c.long[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = c.from.ReadSlice('\n')
		if c.long = append(c.long, line...); len(c.long) > mostLine {
			return c.long, fmt.Errorf("its answer is longer than %d MiB: %s", mostLine>>20, short(c.long))
		}
	}
	return c.long, err
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
	lines := strings.Split(said, "\n")
	return strings.Join(lines[max(0, len(lines)-lastLines):], "\n")
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
