// Release packs programs that scripts/release.sh has built: an archive and a bill of
// materials for each system, the notes of the release, and the checksums. It runs in the
// source that they were built from:
//
//	go run ./scripts/release VERSION BUILT OUT
//
// BUILT has a folder SYSTEM/PROCESSOR for each. What is written depends on the source and on
// the programs alone: times are those of the commit, and archives have no owners.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// programs are in every archive, and beside them what a user reads.
var (
	programs = []string{"bench", "node"}
	papers   = []string{"CHANGELOG.md", "CITATION.cff", "LICENSE", "README.md"}
)

// notices is the file with the licences of what is linked in.
const notices = "THIRD-PARTY.txt"

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/release VERSION BUILT OUT")
		os.Exit(2)
	}
	if err := release(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func release(version, built, out string) error {
	changelog, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	text, err := notes(string(changelog), version)
	if err != nil {
		return err
	}
	platforms, err := filepath.Glob(filepath.Join(built, "*", "*"))
	if err != nil || len(platforms) == 0 {
		return fmt.Errorf("%s: no programs (%v)", built, err)
	}
	var sums strings.Builder
	for _, dir := range platforms {
		files, err := pack(version, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(out, f.name), f.data, 0o644); err != nil {
				return err
			}
			fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(f.data), f.name)
			fmt.Printf("%9d  %s\n", len(f.data), f.name)
		}
	}
	if err := os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(sums.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "NOTES.md"), []byte(text), 0o644)
}

// notes is the section of the changelog that is about version. What comes before a release has
// no section of its own: what is unreleased is what it is about.
func notes(changelog, version string) (string, error) {
	sections := map[string]string{}
	for part := range strings.SplitSeq("\n"+changelog, "\n## ") {
		head, text, _ := strings.Cut(part, "\n")
		name, _, _ := strings.Cut(head, " ")
		sections[name] = strings.TrimSpace(text) + "\n"
	}
	if text, ok := sections[version]; ok {
		return text, nil
	}
	if strings.Contains(version, "-") {
		return sections["Unreleased"], nil
	}
	return "", fmt.Errorf("CHANGELOG.md has no section ## %s: give what is unreleased this name", version)
}

// A file is one of an archive, or of a release.
type file struct {
	name string
	data []byte
	mode os.FileMode
}

// pack makes the archive and the bill of materials of the programs in dir.
func pack(version, dir string) ([]file, error) {
	b, err := readBuild(version, dir)
	if err != nil {
		return nil, err
	}
	list, err := b.bill()
	if err != nil {
		return nil, err
	}
	licences, err := b.licences()
	if err != nil {
		return nil, err
	}
	content := append(b.programs, file{notices, licences, 0o644})
	for _, name := range papers {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		content = append(content, file{name, data, 0o644})
	}
	name := strings.Join([]string{"conclave", version, b.system, b.processor}, "-")
	write, suffix := tarball, ".tar.gz"
	if b.system == "windows" {
		write, suffix = zipped, ".zip"
	}
	var archive bytes.Buffer
	if err := write(&archive, name, content, b.time); err != nil {
		return nil, err
	}
	return []file{{name: name + suffix, data: archive.Bytes()}, {name: name + ".cdx.json", data: list}}, nil
}

// tarball writes files into the folder that an archive unpacks to.
func tarball(w io.Writer, folder string, files []file, at time.Time) error {
	packed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(packed)
	for _, f := range files {
		head := &tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Mode: int64(f.mode),
			Size: int64(len(f.data)), ModTime: at, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(head); err != nil {
			return err
		}
		if _, err := archive.Write(f.data); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return packed.Close()
}

// zipped is tarball for systems whose users expect another format.
func zipped(w io.Writer, folder string, files []file, at time.Time) error {
	archive := zip.NewWriter(w)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	for _, f := range files {
		head := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: at}
		head.SetMode(f.mode)
		part, err := archive.CreateHeader(head)
		if err != nil {
			return err
		}
		if _, err := part.Write(f.data); err != nil {
			return err
		}
	}
	return archive.Close()
}
