package hub

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
)

// joinPrefix is in the names of folders with a program that was downloaded, and fetched how they begin.
const (
	joinPrefix = "join-"
	fetched    = "conclave-" + joinPrefix
)

// leastRate is the slowest transfer that a download waits for, in bytes per second.
const leastRate = 32 << 10

// Fetch downloads the program of the hub for this platform into a folder of its own, checks it, and
// returns its path. The path is "" if this program, whose SHA-256 is ours, is that one. Say receives
// what a user should know meanwhile. Remove removes the folder.
func (m *Member) Fetch(ctx context.Context, programs map[string]Program, ours string, say func(string)) (
	path string, remove func(), err error) {
	want, there := programs[Platform]
	if !there {
		return "", nil, mistaken("the hub at %s has no program for %s (it has: %s); start it with "+
			"--programs DIR, a folder with the archives of its release", m.Address, Platform,
			strings.Join(slices.Sorted(maps.Keys(programs)), ", "))
	}
	if want.SHA256 == ours {
		return "", nil, nil
	}
	dir, mine, err := agent.MakeDir(os.TempDir(), joinPrefix)
	if err != nil {
		return "", nil, noRoom(want, err)
	}
	remove = func() { _ = os.RemoveAll(dir); _ = mine.Close() }
	defer func() {
		if err != nil {
			remove()
		}
	}()
	say(fmt.Sprintf("the hub has another program than this one: fetching it, %.1f MB",
		float64(want.Size)/1e6))
	path = filepath.Join(dir, "bench")
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return "", nil, noRoom(want, err)
	}
	err = m.download(ctx, out, want)
	if err = errors.Join(err, out.Close()); err != nil {
		return "", nil, err
	}
	return path, remove, nil
}

// noRoom says what to do about a folder into which nothing can be written.
func noRoom(want Program, err error) error {
	return mistaken("the program of the hub cannot be kept in %s: %v; it takes %.1f MB: free them, or name "+
		"another folder with TMPDIR", os.TempDir(), err, float64(want.Size)/1e6)
}

// A writing notes that what was written could not be.
type writing struct {
	io.Writer
	failed error
}

func (w *writing) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.failed = err
	return n, err
}

func (m *Member) download(ctx context.Context, out io.Writer, want Program) error {
	pair, err := m.pair()
	if err != nil {
		return err
	}
	c, err := ask(ctx, m.Address, pin(m.Hub), pair, http.MethodGet, "/program/"+Platform, nil, nil)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(dialTime + time.Duration(want.Size)*time.Second/leastRate))
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	sum, disk := sha256.New(), &writing{Writer: out}
	n, err := io.Copy(io.MultiWriter(sum, disk), io.LimitReader(c.answer.Body, want.Size+1))
	switch {
	case disk.failed != nil:
		return noRoom(want, disk.failed)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("fetch the program of the hub at %s: %w", m.Address, err)
	case n != want.Size || hex.EncodeToString(sum.Sum(nil)) != want.SHA256:
		return mistaken("the program that came from the hub at %s is damaged, and is removed; join again",
			m.Address)
	}
	return nil
}

// Pass writes the credentials into a pipe, for the program that reads its other end (ReadMember).
func (m *Member) Pass() (*os.File, error) {
	data, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	_, err = w.Write(data) // a pipe holds 64 KiB, or 16 KiB on macOS; these are 2
	return r, errors.Join(err, w.Close())
}

// Resume reads the credentials that Pass has written, in the program that Fetch has downloaded. Remove
// removes that program.
func Resume(file *os.File) (m *Member, remove func(), err error) {
	remove = func() {}
	exe, err := os.Executable()
	if dir := filepath.Dir(exe); err == nil && strings.HasPrefix(filepath.Base(dir), fetched) {
		mine, err := agent.KeepDir(dir)
		if err != nil {
			return nil, remove, err
		}
		remove = func() { _ = os.RemoveAll(dir); _ = mine.Close() }
	}
	m, err = ReadMember(file)
	return m, remove, errors.Join(err, file.Close())
}
