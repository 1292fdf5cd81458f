package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestNotes(t *testing.T) {
	const changelog = "# Changelog\n\nAbout.\n\n## Unreleased\n\n- new\n\n### Fixed\n\n- hole\n\n" +
		"## v1.1.0 (2026-12-01)\n\n- old\n\n## v1.1.0-rc.1\n\n- older\n"
	for version, want := range map[string]string{
		"v1.1.0": "- old\n", "v1.1.0-rc.1": "- older\n", "v1.2.0-rc.1": "- new\n\n### Fixed\n\n- hole\n",
	} {
		if got, err := notes(changelog, version); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", version, got, err, want)
		}
	}
	if got, err := notes(changelog, "v1.1"); err == nil {
		t.Errorf("a version without a section has notes: %q", got)
	}
}

// Archives have the files with their rights, at the time of the commit, and nothing of the
// machine that packed them.
func TestArchives(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 15, 0, 0, time.UTC)
	files := []file{{"bench", []byte("program"), 0o755}, {"LICENSE", []byte("terms"), 0o644}}
	var packed bytes.Buffer
	must(t, tarball(&packed, "conclave", files, at.In(time.FixedZone("", 3600))))
	unpacked, err := gzip.NewReader(&packed)
	must(t, err)
	archive := tar.NewReader(unpacked)
	for _, f := range files {
		head, err := archive.Next()
		must(t, err)
		text, err := io.ReadAll(archive)
		must(t, err)
		if head.Name != "conclave/"+f.name || head.FileInfo().Mode() != f.mode || !head.ModTime.Equal(at) ||
			head.Uid+head.Gid != 0 || head.Uname+head.Gname != "" || !bytes.Equal(text, f.data) {
			t.Errorf("tar: %+v %q, want %+v", head, text, f)
		}
	}
	if head, err := archive.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("tar: %+v, %v, want the end", head, err)
	}
	packed.Reset()
	must(t, zipped(&packed, "conclave", files, at))
	z, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	must(t, err)
	for i, f := range files {
		text, err := fs.ReadFile(z, "conclave/"+f.name)
		must(t, err)
		head := z.File[i]
		if head.Mode() != f.mode || !head.Modified.Equal(at) || !bytes.Equal(text, f.data) {
			t.Errorf("zip: %+v %q, want %+v", head, text, f)
		}
	}
}

// sum is what go.sum has of a module without a file.
const sum = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

// sample is a build of the module example.org/own, which imports a, which imports b.
func sample() *build {
	const own, a, b = "example.org/own", "example.org/a", "example.org/b"
	type module = struct{ Path, Dir string }
	return &build{
		system: "linux", processor: "amd64", time: time.Date(2026, 11, 20, 10, 15, 0, 0, time.UTC),
		main: debug.Module{Path: own, Version: "v1.2.3"},
		modules: []debug.Module{{Path: a, Version: "v2.0.0+incompatible", Sum: sum},
			{Path: b, Version: "v1.0.0", Sum: sum}, {Path: std, Version: "go1.26.0"}},
		programs: []file{{"bench", []byte("program"), 0o755}},
		packages: []listed{
			{ImportPath: "fmt", Standard: true},
			{ImportPath: b, Imports: []string{"fmt"}, Module: &module{Path: b}},
			{ImportPath: a, Imports: []string{b}, Module: &module{Path: a}},
			{ImportPath: own + "/cmd", Imports: []string{a, "fmt", own}, Module: &module{Path: own}},
			{ImportPath: own, Module: &module{Path: own}},
		},
		tree: "../..",
	}
}

func TestBill(t *testing.T) {
	const own = "pkg:golang/example.org/own@v1.2.3?goarch=amd64&goos=linux&type=module"
	const a, b = "pkg:golang/example.org/a@v2.0.0%2Bincompatible", "pkg:golang/example.org/b@v1.0.0"
	text, err := sample().bill()
	must(t, err)
	var got struct {
		BomFormat, SpecVersion string
		Metadata               struct {
			Timestamp string
			Authors   []author
			Component component
		}
		Components   []component
		Dependencies []dependency
	}
	must(t, json.Unmarshal(text, &got))
	if got.BomFormat != "CycloneDX" || got.SpecVersion != "1.6" || len(got.Metadata.Authors) != 1 ||
		got.Metadata.Timestamp != "2026-11-20T10:15:00Z" {
		t.Errorf("%s", text)
	}
	whole := got.Metadata.Component
	if whole.Ref != own || whole.Licenses[0].License.ID != "Apache-2.0" || len(whole.Parts) != 1 ||
		whole.Parts[0].Hashes[0].Content != fmt.Sprintf("%x", sha256.Sum256([]byte("program"))) {
		t.Errorf("the whole is %+v", whole)
	}
	var refs []string
	for _, c := range got.Components {
		refs = append(refs, c.Ref)
		if c.Ref == a && c.Hashes[0].Content != fmt.Sprintf("%x", sha256.Sum256(nil)) {
			t.Errorf("the sum of a is %+v", c.Hashes)
		}
	}
	if want := []string{a, b, "pkg:golang/std@1.26.0"}; !slices.Equal(refs, want) {
		t.Errorf("components %v, want %v", refs, want)
	}
	want := map[string][]string{own: {a, refs[2]}, a: {b}, b: {refs[2]}, refs[2]: nil}
	for _, d := range got.Dependencies {
		if !slices.Equal(d.On, want[d.Ref]) {
			t.Errorf("%s depends on %v, want %v", d.Ref, d.On, want[d.Ref])
		}
		delete(want, d.Ref)
	}
	if len(want) != 0 {
		t.Errorf("nothing is said of %v", want)
	}
}

// A bill that the programs and go list do not agree on is none.
func TestBillRefuses(t *testing.T) {
	for name, break_ := range map[string]func(*build){
		"of a module that the programs do not name": func(b *build) { b.modules = b.modules[1:] },
		"no package of it is linked in": func(b *build) {
			b.packages = slices.Delete(b.packages, 1, 2)
		},
		"the sum is": func(b *build) { b.modules[0].Sum = "h1:AAAA" },
	} {
		b := sample()
		break_(b)
		if text, err := b.bill(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q\n%s", err, name, text)
		}
	}
}

// A program is what a release of this version consists of, or is refused.
func TestRead(t *testing.T) {
	good := func() *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
			{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "arm64"}, {Key: "-trimpath", Value: "true"},
			{Key: "vcs.modified", Value: "false"}, {Key: "vcs.time", Value: "2026-11-20T10:15:00Z"},
		}}
	}
	b := &build{}
	must(t, b.read(good(), "v1.2.3"))
	if b.system != "linux" || b.processor != "arm64" || b.time.Hour() != 10 {
		t.Errorf("read %+v", b)
	}
	if err := b.read(good(), "v1.2.4"); err == nil {
		t.Error("a program of another version passes")
	}
	for i := 2; i < 5; i++ {
		info := good()
		info.Settings[i].Value = "?"
		if err := b.read(info, "v1.2.3"); err == nil {
			t.Errorf("a program with %s=? passes", info.Settings[i].Key)
		}
	}
}

// Terms stand beside a package, above it, in folders of their own, and beside what is embedded;
// a module without any stops the release.
func TestLicences(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"LICENSE", "licenses/gpl.txt", "sub/NOTICE.md", "sub/assets/COPYING",
		"sub/assets/x.js", "sub/license.go", "other/LICENSE", "go/LICENSE", "go/src/fmt/print.go"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte("terms of "+name), 0o644))
	}
	type module = struct{ Path, Dir string }
	b := &build{
		main: debug.Module{Path: "own", Version: "v1"}, modules: []debug.Module{{Path: std, Version: "go1"}},
		packages: []listed{
			{Standard: true, Root: filepath.Join(dir, "go"), Dir: filepath.Join(dir, "go", "src", "fmt")},
			{Dir: filepath.Join(dir, "sub"), EmbedFiles: []string{"assets/x.js"},
				Module: &module{"own", dir}},
		},
	}
	text, err := b.licences()
	must(t, err)
	var got []string
	for line := range strings.Lines(string(text)) {
		if after, ok := strings.CutPrefix(line, "terms of "); ok {
			got = append(got, strings.TrimSpace(after))
		}
	}
	want := []string{"LICENSE", "licenses/gpl.txt", "sub/NOTICE.md", "sub/assets/COPYING", "go/LICENSE"}
	if !slices.Equal(got, want) {
		t.Errorf("terms of %v, want %v", got, want)
	}
	must(t, os.Remove(filepath.Join(dir, "go", "LICENSE")))
	if _, err := b.licences(); err == nil || !strings.Contains(err.Error(), "std: no licence") {
		t.Errorf("without Go's licence: %v", err)
	}
}

// rehearsed is the version that the release is rehearsed as.
const rehearsed = "v0.0.0-rehearsal"

var nightly = slowtest.Night()

// Two clones in folders of other lengths, in other time zones, by users of other habits, make
// the same release. At night it is a whole one, and the second compiles all of it anew.
func TestReproducible(t *testing.T) {
	slowtest.Skip(t, "links the programs twice")
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	systems, count := []string{"linux/amd64"}, 4
	env := []string{"TZ=Asia/Tokyo", "GOFLAGS=-buildvcs=false", "GOAMD64=v3", "LC_ALL=C"}
	if nightly {
		systems, count = nil, 12
		env = append(env, "GOCACHE="+t.TempDir())
	}
	first, second := t.TempDir(), filepath.Join(t.TempDir(), "another", "folder")
	a := rehearse(t, first, []string{"TZ=UTC"}, systems)
	b := rehearse(t, second, env, systems)
	if len(a) != count {
		t.Errorf("a release of %d files, want archives, bills, notes and checksums: %d", len(a), count)
	}
	for name := range a {
		if !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s differs: %d and %d bytes", name, len(a[name]), len(b[name]))
		}
	}
	for line := range strings.Lines(string(a["SHA256SUMS"])) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if sum != fmt.Sprintf("%x", sha256.Sum256(a[name])) {
			t.Errorf("SHA256SUMS: %s", line)
		}
	}
	if runtime.GOOS+runtime.GOARCH == "linuxamd64" {
		says(t, a["conclave-"+rehearsed+"-linux-amd64.tar.gz"])
	}
	install(t, filepath.Join(first, "clone"))
}

// rehearse makes a release of a clone in dir.
func rehearse(t *testing.T, dir string, env, systems []string) map[string][]byte {
	t.Helper()
	clone, out := filepath.Join(dir, "clone"), filepath.Join(dir, "out")
	if text, err := exec.Command("git", "clone", "--quiet", "../..", clone).CombinedOutput(); err != nil {
		t.Skipf("needs a repository to clone: %s", text)
	}
	args := append([]string{"scripts/release.sh", rehearsed, out}, systems...)
	c := exec.CommandContext(t.Context(), "bash", args...)
	c.Dir, c.Env = clone, append(os.Environ(), env...)
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("release.sh: %v\n%s", err, text)
	}
	files := map[string][]byte{}
	entries, err := os.ReadDir(out)
	must(t, err)
	for _, e := range entries {
		files[e.Name()], err = os.ReadFile(filepath.Join(out, e.Name()))
		must(t, err)
	}
	return files
}

// says unpacks an archive and asks the program for its version.
func says(t *testing.T, archive []byte) {
	t.Helper()
	dir := t.TempDir()
	c := exec.CommandContext(t.Context(), "tar", "-xz", "-C", dir)
	c.Stdin = bytes.NewReader(archive)
	must(t, c.Run())
	bench := filepath.Join(dir, "conclave-"+rehearsed+"-linux-amd64", "bench")
	text, err := exec.CommandContext(t.Context(), bench, "version").CombinedOutput()
	must(t, err)
	said := string(text)
	if !strings.HasPrefix(said, "conclave "+rehearsed+"\ncommit ") || strings.Contains(said, "uncommitted") ||
		strings.Contains(said, "unknown") {
		t.Errorf("bench version says\n%s", said)
	}
}

// install fetches a tagged clone as go install does from a forge: as a module, without what only
// a repository has. All that the program needs must be in it. At night it is installed.
func install(t *testing.T, clone string) {
	t.Helper()
	if text, err := exec.Command("git", "-C", clone, "tag", rehearsed).CombinedOutput(); err != nil {
		t.Fatalf("git tag: %v\n%s", err, text)
	}
	known, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	must(t, err)
	cache, proxy, _ := strings.Cut(strings.TrimSpace(string(known)), "\n")
	gopath := t.TempDir()
	const module = "github.com/conclave-bench/conclave"
	run := func(dir, program string, args ...string) string {
		c := exec.CommandContext(t.Context(), program, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GOPATH="+gopath, "GOMODCACHE="+filepath.Join(gopath, "mod"),
			"GOBIN="+gopath, "GOFLAGS=-modcacherw", "GOSUMDB=off", "GONOPROXY=github.com/conclave-bench/*",
			"GOPROXY=file://"+filepath.Join(cache, "cache", "download")+","+proxy,
			"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=url."+clone+".insteadOf", "GIT_CONFIG_VALUE_0=https://"+module,
			"GIT_CONFIG_KEY_1=protocol.file.allow", "GIT_CONFIG_VALUE_1=always", "GIT_ALLOW_PROTOCOL=file:https")
		var errs strings.Builder
		c.Stderr = &errs
		text, err := c.Output()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s%s", program, strings.Join(args, " "), err, text, errs.String())
		}
		return string(text)
	}
	if !nightly {
		var fetched struct{ Dir string }
		said := run(gopath, "go", "mod", "download", "-json", module+"@"+rehearsed)
		must(t, json.Unmarshal([]byte(said), &fetched))
		run(fetched.Dir, "go", "list", "-deps", "./cmd/bench", "./cmd/node")
		return
	}
	run(gopath, "go", "install", "-trimpath", module+"/cmd/bench@"+rehearsed)
	said := run(gopath, filepath.Join(gopath, "bench"), "version")
	if !strings.HasPrefix(said, "conclave "+rehearsed+"\n") {
		t.Errorf("what go install built says\n%s", said)
	}
}
