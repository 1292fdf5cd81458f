package hub

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"crypto/x509"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// A Program is the command bench for a platform.
type Program struct {
	SHA256 string `json:"sha256"` // in hexadecimal digits
	Size   int64  `json:"size"`   // in bytes
}

// An offered is a program that the hub hands out.
type offered struct {
	Program
	file *os.File
}

func (p *offered) close() { _ = p.file.Close() } // it was read only

// Platform is what a machine is, as releases name it.
const Platform = runtime.GOOS + "-" + runtime.GOARCH

// mostProgram bounds a program, in bytes.
const mostProgram = 1 << 30

func platformsOf(all map[string]*offered) []string { return slices.Sorted(maps.Keys(all)) }

// offer are the programs of a hub: its own for its own platform, and those of the archives for
// others.
func offer(cfg Config) (all map[string]*offered, err error) {
	all = map[string]*offered{}
	defer func() {
		if err != nil {
			for _, p := range all {
				p.close()
			}
		}
	}()
	if all[Platform], err = offerFile(cfg.Exe); err != nil {
		delete(all, Platform)
		return all, err
	}
	if cfg.Programs == "" {
		return all, nil
	}
	if _, err := os.ReadDir(cfg.Programs); err != nil {
		return all, mistaken("--programs: %v", err)
	}
	found, err := filepath.Glob(filepath.Join(cfg.Programs, "conclave-*"))
	if err != nil {
		return all, err
	}
	for _, archive := range found {
		platform := platformOf(archive)
		if platform == "" || platform == Platform {
			continue
		}
		if all[platform] != nil {
			return all, mistaken("--programs: %s has two archives for %s; remove one", cfg.Programs, platform)
		}
		to := cfg.Folder.in(filepath.Join(programs, platform))
		if all[platform], err = unpack(archive, to); err != nil {
			delete(all, platform)
			return all, mistaken("--programs: %s: %v", archive, err)
		}
	}
	if len(all) == 1 {
		return all, mistaken("--programs: %s has no archive of a release for another platform, as "+
			"conclave-v1.2.3-linux-arm64.tar.gz", cfg.Programs)
	}
	return all, nil
}

func offerFile(name string) (*offered, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &offered{Program{hex.EncodeToString(sum.Sum(nil)), n}, f}, nil
}

// platformOf is the platform in the name of an archive: conclave-VERSION-SYSTEM-PROCESSOR.
func platformOf(archive string) string {
	name := filepath.Base(archive)
	for _, suffix := range []string{".tar.gz", ".zip"} {
		if stem, ok := strings.CutSuffix(name, suffix); ok {
			if parts := strings.Split(stem, "-"); len(parts) >= 4 {
				return strings.Join(parts[len(parts)-2:], "-")
			}
		}
	}
	return ""
}

// unpack takes bench out of an archive into dir.
func unpack(archive, dir string) (*offered, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	to := filepath.Join(dir, "bench")
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(archive, ".zip") {
		err = fromZip(archive, out)
	} else {
		err = fromTar(archive, out)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return nil, err
	}
	if err := sameSource(to); err != nil {
		return nil, err
	}
	return offerFile(to)
}

func isBench(name string) bool {
	base := path.Base(name)
	return base == "bench" || base == "bench.exe"
}

func fromTar(archive string, out io.Writer) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for r := tar.NewReader(z); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return errors.New("bench is not in it")
		}
		if err != nil {
			return err
		}
		if head.Typeflag == tar.TypeReg && isBench(head.Name) {
			return copyProgram(out, r)
		}
	}
}

func fromZip(archive string, out io.Writer) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer func() { _ = z.Close() }()
	for _, f := range z.File {
		if isBench(f.Name) {
			r, err := f.Open()
			if err != nil {
				return err
			}
			return errors.Join(copyProgram(out, r), r.Close())
		}
	}
	return errors.New("bench is not in it")
}

func copyProgram(out io.Writer, in io.Reader) error {
	n, err := io.Copy(out, io.LimitReader(in, mostProgram+1))
	if err == nil && n > mostProgram {
		err = fmt.Errorf("its bench has more than %d bytes", mostProgram)
	}
	return err
}

// sameSource refuses a program of another commit than this one: its workers could take part in no run.
func sameSource(file string) error {
	theirs, err := buildinfo.ReadFile(file)
	if err != nil {
		return err
	}
	ours, ok := debug.ReadBuildInfo()
	if a, b := revision(theirs), revision(ours); ok && a != "" && b != "" && a != b {
		return fmt.Errorf("its bench is of commit %.12s, and this one of %.12s; use archives of the same "+
			"release", a, b)
	}
	return nil
}

func revision(info *debug.BuildInfo) string {
	if info != nil {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return ""
}

// program hands out a program.
func (h *Hub) program(w http.ResponseWriter, r *http.Request, _ *x509.Certificate) {
	p := h.programs[r.PathValue("platform")]
	if p == nil {
		refuse(w, http.StatusNotFound, fs.ErrNotExist)
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, io.NewSectionReader(p.file, 0, p.Size))
}
