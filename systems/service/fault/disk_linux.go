package fault

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/systems/service"
)

// A Disk is a folder that shows another, the store, through a file system that can fail. A child process
// serves it. Programs that wait for a disk that is hung end only when that child has.
type Disk struct {
	at     string
	child  *proc.Child
	answer *bufio.Reader
}

const program = "disk"

func init() { service.Program(program, serve) }

// Mount has the folder at show the folder store. Both exist, and the caller may mount: as root, or in a user
// namespace with a mount namespace of its own, which the programs that use the disk share.
func Mount(spawner *proc.Spawner, store, at string) (*Disk, error) {
	own, err := service.Own(program, store, at)
	if err != nil {
		return nil, err
	}
	child, err := spawner.Start(proc.Command{Path: own.Path, Args: own.Args,
		Env: append(os.Environ(), own.Env...)})
	if err != nil {
		return nil, err
	}
	d := &Disk{at: at, child: child, answer: bufio.NewReader(child.Stdout)}
	err = d.heard()
	if err == nil {
		// Before it asks, the kernel believes that the folder is root's, who may be nobody in this namespace.
		_, err = os.Stat(at)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mount a file system in user space (FUSE): %w", err), d.Close())
	}
	return d, nil
}

// heard waits for the child's answer.
func (d *Disk) heard() error {
	line, err := d.answer.ReadString('\n')
	if err != nil {
		return fmt.Errorf("%w: %s", err, proc.Harmless(d.child.Epitaph()))
	}
	if line = strings.TrimSpace(line); line != done {
		return errors.New(line)
	}
	return nil
}

// done is the answer of the child to what it has done.
const done = "done"

// Set has the disk be in a state, at once. What hangs when it is hung no longer is done then.
func (d *Disk) Set(s DiskState) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if _, err := d.child.Stdin.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("the process of the disk: %w", err)
	}
	return d.heard()
}

// Close ends the file system. What waits for it fails.
func (d *Disk) Close() error {
	d.child.Close()
	// What the child was killed in the middle of is still mounted, and dead.
	if err := unix.Unmount(d.at, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("unmount %s: %w", d.at, err)
	}
	return nil
}

// serve is the child: it mounts, and takes states from its standard input until that ends.
func serve(args []string) error {
	if len(args) != 2 {
		return errors.New("expected a store and a folder")
	}
	in, out := proc.Streams(os.Stdin, os.Stdout)
	f := newFailing()
	root, err := fs.NewLoopbackRoot(args[0])
	if err != nil {
		return err
	}
	server, err := fs.Mount(args[1], &node{root.(*fs.LoopbackNode), f}, &fs.Options{
		MountOptions: fuse.MountOptions{DirectMountStrict: true, FsName: "conclave", Name: "conclave",
			AllowOther: os.Getuid() == 0}})
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(out, done) // the parent has gone otherwise, and so does this process
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var s DiskState
		answer := done
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			answer = err.Error()
		} else {
			f.set(s)
		}
		_, _ = fmt.Fprintln(out, answer)
	}
	f.set(DiskState{})
	return server.Unmount()
}

// wait is what an operation that changes something does first.
func (f *failing) wait(ctx context.Context, write, grows bool) error {
	s, changed := f.get()
	for s.Hung {
		select {
		case <-changed:
			s, changed = f.get()
		case <-ctx.Done():
			return unix.EINTR
		}
	}
	if s.Full && grows {
		return unix.ENOSPC
	}
	if s.Slow > 0 && write {
		return f.delay(ctx, s.Slow)
	}
	return nil
}
