// Package files reads the files that users name, or that somebody else has put where
// ours are expected. It reads regular files alone, for a pipe may never end and a device
// never does, and no more of them than there is room for.
package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// MiB is 2^20 bytes.
const MiB = 1 << 20

// ErrIrregular is the error of what is no regular file. A message says what it is.
var ErrIrregular = errors.New("expected a regular file")

// Open opens the regular file at path, or the one that a link there leads to, for
// reading. The error is an *fs.PathError.
func Open(path string) (*os.File, error) {
	// Before it is opened: to open a pipe waits for its writer.
	info, err := os.Stat(path)
	if err == nil {
		err = irregular(path, info)
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = irregular(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func irregular(path string, info fs.FileInfo) error {
	what := "a device"
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		what = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		what = "a pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	}
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%s, %w", what, ErrIrregular)}
}

// Read is the whole of the regular file at path, of which more than most bytes are an
// error. The error is an *fs.PathError.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading: nothing can be lost
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("larger than %d MiB", most/MiB)}
	}
	return b, err
}

// Lines passes r on, and fails at a line of more than most bytes, so that a caller that
// reads line by line never holds much more than that.
func Lines(r io.Reader, most int) io.Reader { return &lines{r: r, most: most} }

type lines struct {
	r          io.Reader
	most, size int // of the line that goes on
}

func (l *lines) Read(b []byte) (int, error) {
	n, err := l.r.Read(b)
	for rest := b[:n]; ; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			l.size += len(rest)
		} else {
			l.size += end
		}
		if l.size > l.most {
			return 0, fmt.Errorf("a line of more than %d MiB", l.most/MiB)
		}
		if end < 0 {
			return n, err
		}
		l.size, rest = 0, rest[end+1:]
	}
}

// Write makes or replaces a file so that nobody sees half of it. What is no file,
// such as a pipe or a device, cannot be replaced and is written to; a link stays one.
func Write(path string, text []byte) error {
	return Replace(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// Replace is Write of what put writes. If put fails, the file stays as it was.
func Replace(path string, put func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			return err
		}
		return errors.Join(put(f), f.Close())
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".bench-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // gone already if all went well
	err = put(file)
	if err = errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// Create makes a file that is not there yet, else the error is fs.ErrExist.
func Create(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
