package fault

import (
	"context"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// A failing is the state that all nodes and files of a disk look at.
type failing struct {
	mu      sync.Mutex
	state   DiskState
	changed chan struct{} // closed at the next change
}

func newFailing() *failing { return &failing{changed: make(chan struct{})} }

func (f *failing) set(s DiskState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state = s
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *failing) get() (DiskState, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state, f.changed
}

// delay waits, unless the caller is gone.
func (f *failing) delay(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return unix.EINTR
	}
}

// may is wait with the errors of the file system.
func (f *failing) may(ctx context.Context, write, grows bool) syscall.Errno {
	return fs.ToErrno(f.wait(ctx, write, grows))
}

// A node is a file or folder of the store.
type node struct {
	*fs.LoopbackNode
	failing *failing
}

// WrapChild has all nodes below fail as well.
func (n *node) WrapChild(_ context.Context, ops fs.InodeEmbedder) fs.InodeEmbedder {
	return &node{ops.(*fs.LoopbackNode), n.failing}
}

// wrap has an open file fail.
func (n *node) wrap(f fs.FileHandle) fs.FileHandle {
	if l, is := f.(*fs.LoopbackFile); is {
		return &file{l, n.failing}
	}
	return f
}

// Open implements fs.NodeOpener.
func (n *node) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if flags&unix.O_TRUNC != 0 {
		if e := n.failing.may(ctx, true, false); e != 0 {
			return nil, 0, e
		}
	}
	f, flags, e := n.LoopbackNode.Open(ctx, flags)
	return n.wrap(f), flags, e
}

// Create implements fs.NodeCreater.
func (n *node) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode,
	fs.FileHandle, uint32, syscall.Errno) {
	if e := n.failing.may(ctx, true, true); e != 0 {
		return nil, nil, 0, e
	}
	i, f, flags, e := n.LoopbackNode.Create(ctx, name, flags, mode, out)
	return i, n.wrap(f), flags, e
}

// Tmpfile implements fs.NodeTmpfiler: programs do without.
func (*node) Tmpfile(context.Context, uint32, uint32, *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32,
	syscall.Errno) {
	return nil, nil, 0, unix.EOPNOTSUPP
}

// CopyFileRange implements fs.NodeCopyFileRanger: the kernel then reads and writes.
func (*node) CopyFileRange(context.Context, fs.FileHandle, uint64, *fs.Inode, fs.FileHandle, uint64, uint64,
	uint64) (uint32, syscall.Errno) {
	return 0, unix.EOPNOTSUPP
}

// Mkdir implements fs.NodeMkdirer.
func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode,
	syscall.Errno) {
	if e := n.failing.may(ctx, true, true); e != 0 {
		return nil, e
	}
	return n.LoopbackNode.Mkdir(ctx, name, mode, out)
}

// Unlink implements fs.NodeUnlinker.
func (n *node) Unlink(ctx context.Context, name string) syscall.Errno {
	if e := n.failing.may(ctx, true, false); e != 0 {
		return e
	}
	return n.LoopbackNode.Unlink(ctx, name)
}

// Rename implements fs.NodeRenamer.
func (n *node) Rename(ctx context.Context, name string, to fs.InodeEmbedder, newName string,
	flags uint32) syscall.Errno {
	if e := n.failing.may(ctx, true, false); e != 0 {
		return e
	}
	if other, is := to.(*node); is {
		to = other.LoopbackNode
	}
	return n.LoopbackNode.Rename(ctx, name, to, newName, flags)
}

// Setattr implements fs.NodeSetattrer: it is how a file is made shorter.
func (n *node) Setattr(ctx context.Context, f fs.FileHandle, in *fuse.SetAttrIn,
	out *fuse.AttrOut) syscall.Errno {
	if e := n.failing.may(ctx, true, false); e != 0 {
		return e
	}
	return n.LoopbackNode.Setattr(ctx, f, in, out)
}

// A file is an open one.
type file struct {
	*fs.LoopbackFile
	failing *failing
}

// PassthroughFd implements fs.FilePassthroughFder: nothing passes this process by.
func (*file) PassthroughFd() (int, bool) { return 0, false }

// Write implements fs.FileWriter.
func (f *file) Write(ctx context.Context, data []byte, off int64) (uint32, syscall.Errno) {
	if e := f.failing.may(ctx, true, true); e != 0 {
		return 0, e
	}
	return f.LoopbackFile.Write(ctx, data, off)
}

// Writev implements fs.FileWritever.
func (f *file) Writev(ctx context.Context, data [][]byte, off int64) (uint32, syscall.Errno) {
	if e := f.failing.may(ctx, true, true); e != 0 {
		return 0, e
	}
	return f.LoopbackFile.Writev(ctx, data, off)
}

// Fsync implements fs.FileFsyncer.
func (f *file) Fsync(ctx context.Context, flags uint32) syscall.Errno {
	if e := f.failing.may(ctx, true, false); e != 0 {
		return e
	}
	return f.LoopbackFile.Fsync(ctx, flags)
}

// Allocate implements fs.FileAllocater.
func (f *file) Allocate(ctx context.Context, off, size uint64, mode uint32) syscall.Errno {
	if e := f.failing.may(ctx, true, true); e != 0 {
		return e
	}
	return f.LoopbackFile.Allocate(ctx, off, size, mode)
}

// Read implements fs.FileReader.
func (f *file) Read(ctx context.Context, to []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	if e := f.failing.may(ctx, false, false); e != 0 {
		return nil, e
	}
	return f.LoopbackFile.Read(ctx, to, off)
}
