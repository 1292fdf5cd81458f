package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// std stands for Go's own library, as if it were a module.
const std = "std"

// A build is what was built for one system.
type build struct {
	system, processor string
	time              time.Time // of the commit
	main              debug.Module
	modules           []debug.Module // that are linked in, std included, in order
	programs          []file
	packages          []listed
	tree              string // of the sources; empty for the working directory
}

// A listed is what go list says of a package that is linked in.
type listed struct {
	ImportPath, Dir, Root string
	Imports, EmbedFiles   []string
	Standard              bool
	Module                *struct{ Path, Dir string }
}

// owner is the module that a package is from.
func (p *listed) owner() string {
	if p.Standard {
		return std
	}
	return p.Module.Path
}

// readBuild reads from the programs in dir what they were built from, and has go list say how
// that hangs together.
func readBuild(version, dir string) (*build, error) {
	b := &build{}
	linked := map[string]debug.Module{}
	for _, name := range programs {
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			path += ".exe"
			data, err = os.ReadFile(path)
		}
		if err != nil {
			return nil, err
		}
		b.programs = append(b.programs, file{filepath.Base(path), data, 0o755})
		info, err := buildinfo.Read(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if err := b.read(info, version); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		linked[std] = debug.Module{Path: std, Version: info.GoVersion}
		for _, m := range info.Deps {
			if m.Replace != nil {
				return nil, fmt.Errorf("%s is replaced: go install refuses that", m.Path)
			}
			linked[m.Path] = *m
		}
	}
	b.modules = slices.SortedFunc(maps.Values(linked), func(x, y debug.Module) int {
		return cmp.Compare(x.Path, y.Path)
	})
	c := exec.Command("go", "list", "-deps",
		"-json=ImportPath,Dir,Root,Imports,EmbedFiles,Standard,Module", "./cmd/bench", "./cmd/node")
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+b.system, "GOARCH="+b.processor)
	c.Stderr = os.Stderr
	text, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for packages := json.NewDecoder(bytes.NewReader(text)); ; {
		var p listed
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			return b, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		b.packages = append(b.packages, p)
	}
}

// read takes over what the linker left in a program, and refuses one that is not what a
// release of version consists of.
func (b *build) read(info *debug.BuildInfo, version string) error {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	switch {
	case info.Main.Version != version:
		return fmt.Errorf("it says that it is %s, not %s", info.Main.Version, version)
	case settings["vcs.modified"] != "false":
		return errors.New("it was built from uncommitted changes, or outside a repository")
	case settings["-trimpath"] != "true":
		return errors.New("it was built without -trimpath")
	}
	b.main, b.system, b.processor = info.Main, settings["GOOS"], settings["GOARCH"]
	at, err := time.Parse(time.RFC3339, settings["vcs.time"])
	b.time = at
	return err
}

// A component is a part of a program, in the words of CycloneDX 1.6.
type component struct {
	Ref      string      `json:"bom-ref"`
	Type     string      `json:"type"`
	Name     string      `json:"name"`
	Version  string      `json:"version,omitempty"`
	Hashes   []hash      `json:"hashes,omitempty"`
	Licenses []licence   `json:"licenses,omitempty"`
	URL      string      `json:"purl,omitempty"`
	Parts    []component `json:"components,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type licence struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn,omitempty"`
}

type metadata struct {
	Time      string    `json:"timestamp"`
	Authors   []author  `json:"authors"`
	Component component `json:"component"`
}

type author struct {
	Name string `json:"name"`
}

// A citation is what CITATION.cff says of the project.
type citation struct {
	Authors []author
	License string
}

// bill is what the programs consist of, as CycloneDX has it. It has no serial number, which
// would differ each time.
func (b *build) bill() ([]byte, error) {
	whole := component{Type: "application", Name: b.main.Path, Version: b.main.Version,
		URL: fmt.Sprintf("%s?goarch=%s&goos=%s&type=module", purl(b.main), b.processor, b.system)}
	whole.Ref = whole.URL
	var cited citation
	if text, err := os.ReadFile(filepath.Join(b.tree, "CITATION.cff")); err != nil {
		return nil, err
	} else if err := yaml.Unmarshal(text, &cited); err != nil {
		return nil, fmt.Errorf("CITATION.cff: %w", err)
	}
	whole.Licenses = make([]licence, 1)
	whole.Licenses[0].License.ID = cited.License
	for _, p := range b.programs {
		whole.Parts = append(whole.Parts, component{Ref: p.name, Type: "file", Name: p.name,
			Hashes: []hash{{"SHA-256", fmt.Sprintf("%x", sha256.Sum256(p.data))}}})
	}
	refs, parts := map[string]string{b.main.Path: whole.Ref}, []component{}
	for _, m := range b.modules {
		c := component{Ref: purl(m), Type: "library", Name: m.Path, Version: m.Version, URL: purl(m)}
		refs[m.Path] = c.Ref
		if m.Path != std {
			// Of the names and contents of all its files, as go.sum has it.
			sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
			if err != nil || len(sum) != sha256.Size {
				return nil, fmt.Errorf("%s: the sum is %q", m.Path, m.Sum)
			}
			c.Hashes = []hash{{"SHA-256", fmt.Sprintf("%x", sum)}}
		}
		parts = append(parts, c)
	}
	needs, err := b.needs(refs)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err = encoder.Encode(struct {
		Schema       string       `json:"$schema"`
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}{"http://cyclonedx.org/schema/bom-1.6.schema.json", "CycloneDX", "1.6", 1,
		metadata{b.time.UTC().Format(time.RFC3339), cited.Authors, whole}, parts, needs})
	return text.Bytes(), err
}

// needs are the modules that each module imports packages of. The references are those of the
// modules in the programs: if go list knows others, one of the two is wrong.
func (b *build) needs(refs map[string]string) ([]dependency, error) {
	owner := map[string]string{}
	for _, p := range b.packages {
		owner[p.ImportPath] = p.owner()
	}
	on := map[string]map[string]bool{}
	for _, p := range b.packages {
		from := refs[p.owner()]
		if from == "" {
			return nil, fmt.Errorf("%s is of a module that the programs do not name", p.ImportPath)
		}
		if on[from] == nil {
			on[from] = map[string]bool{}
		}
		for _, path := range p.Imports {
			if to := refs[owner[path]]; to != "" && to != from && !p.Standard {
				on[from][to] = true
			}
		}
	}
	var needs []dependency
	for _, ref := range slices.Sorted(maps.Values(refs)) {
		if on[ref] == nil {
			return nil, fmt.Errorf("%s: no package of it is linked in", ref)
		}
		needs = append(needs, dependency{ref, slices.Sorted(maps.Keys(on[ref]))})
	}
	return needs, nil
}

// purl is the name of a module among those of all packages.
func purl(m debug.Module) string {
	version := strings.TrimPrefix(m.Version, "go")
	return "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// legal are names of files, and folders, with terms that go along with a program.
var legal = regexp.MustCompile(`(?i)^(un)?(licen[cs]es?|copying|copyright|notice|patents)([.-].*)?$`)

// licences are the terms of everything that is linked in: those beside each package and what it
// embeds, and above it, up to its module.
func (b *build) licences() ([]byte, error) {
	found := map[string]map[string]string{} // by module, and by path in it
	for _, p := range b.packages {
		owner, root := p.owner(), p.Root
		if p.Module != nil {
			root = p.Module.Dir
		}
		if found[owner] == nil {
			found[owner] = map[string]string{}
		}
		for _, name := range append([]string{"."}, p.EmbedFiles...) {
			dir := filepath.Join(p.Dir, name)
			for dir != root && len(dir) > len(root) {
				if err := terms(root, dir, found[owner]); err != nil {
					return nil, err
				}
				dir = filepath.Dir(dir)
			}
		}
		if err := terms(root, root, found[owner]); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	out.WriteString("The programs contain the following, each under its own terms.\n")
	for _, m := range append([]debug.Module{b.main}, b.modules...) {
		if len(found[m.Path]) == 0 {
			return nil, fmt.Errorf("%s: no licence found", m.Path)
		}
		for _, name := range slices.Sorted(maps.Keys(found[m.Path])) {
			fmt.Fprintf(&out, "\n%s\n%s %s: %s\n\n%s\n", strings.Repeat("=", 80), m.Path, m.Version, name,
				strings.TrimSpace(found[m.Path][name]))
		}
	}
	return out.Bytes(), nil
}

// terms reads the files with terms in dir, and in folders of such names. What is embedded is
// a file, and has none.
func terms(root, dir string, found map[string]string) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !legal.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		top := filepath.Join(dir, e.Name())
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			text, err := os.ReadFile(path)
			found[filepath.ToSlash(name)] = string(text)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
