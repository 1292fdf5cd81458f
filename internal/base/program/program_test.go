package program

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestCalled(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, module, pkg, want string }{
		{"/usr/bin/bench", Core, Core + "/cmd/bench", "bench"},
		{"./bin/own", "example.com/own", "example.com/own", "./bin/own"},
		{"./my bench", "example.com/own", "example.com/own", "'./my bench'"},
		{"/tmp/go-build12/b001/exe/own", "example.com/own", "example.com/own/cmd/own", "go run example.com/own/cmd/own"},
		{"/tmp/go-build12/b001/exe/own", "", "", "/tmp/go-build12/b001/exe/own"},
	} {
		if got := called(test.name, test.module, test.pkg); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
	// This test is a program of Conclave's own.
	if got := Command("replay", "my runs/a", "--trial", "3"); got != "bench replay 'my runs/a' --trial 3" {
		t.Errorf("%q", got)
	}
}

// TestQuote: what is printed as a command can be pasted into a shell.
func TestQuote(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"results/a-1.5/latest": "results/a-1.5/latest", "my runs/a": "'my runs/a'", "": "''", "$HOME": "'$HOME'",
		"it's": `'it'\''s'`, "a;b": "'a;b'", "a\nb": "'a\nb'", "~": "'~'",
	} {
		if got := Quote(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestVersions: the version of a module of one's own is not sold as Conclave's.
func TestVersions(t *testing.T) {
	t.Parallel()
	lib, replaced := debug.Module{Path: Core, Version: "v1.2.3"}, debug.Module{Path: Core, Version: "v0.0.0"}
	replaced.Replace = &debug.Module{Path: "../conclave"}
	for _, test := range []struct {
		path, version string
		deps          []*debug.Module
		conclave, own string
	}{
		{Core, "v1.2.3", nil, "v1.2.3", ""},
		{Core, "", nil, "(devel)", ""},
		{"example.com/own", "v0.1.0", []*debug.Module{&lib}, "v1.2.3", "example.com/own v0.1.0"},
		{"example.com/own", "", []*debug.Module{&replaced}, "(devel)", "example.com/own (devel)"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Path: test.path, Version: test.version}, Deps: test.deps}
		if conclave, own := Versions(info); conclave != test.conclave || own != test.own {
			t.Errorf("%+v: %q, %q", test, conclave, own)
		}
	}
}

// TestSource: what identifies a program on all platforms says all that its results depend on.
func TestSource(t *testing.T) {
	t.Parallel()
	set := func(pairs ...string) (out []debug.BuildSetting) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return out
	}
	local := debug.Module{Path: "a", Version: "v1.0.0", Replace: &debug.Module{Path: "../a"}}
	mirrored := debug.Module{Path: "a", Version: "v1.0.0", Replace: &debug.Module{Path: "b", Version: "v1.0.0"}}
	for name, test := range map[string]struct {
		main     debug.Module
		deps     []*debug.Module
		settings []debug.BuildSetting
		want     string
	}{
		"of a commit": {main: debug.Module{Path: Core},
			settings: set("GOARCH", "arm64", "vcs.revision", "c1", "vcs.modified", "false"), want: "commit c1, go1.26.1"},
		"with tags": {main: debug.Module{Path: Core}, settings: set("-tags", "purego", "vcs.revision", "c1"),
			want: "commit c1, go1.26.1, tags purego"},
		"installed":   {main: debug.Module{Path: Core, Version: "v1.2.3", Sum: "h1:x="}, want: "h1:x=, go1.26.1"},
		"a mirror":    {main: debug.Module{Path: Core, Sum: "h1:x="}, deps: []*debug.Module{&mirrored}, want: "h1:x=, go1.26.1"},
		"uncommitted": {main: debug.Module{Path: Core}, settings: set("vcs.revision", "c1", "vcs.modified", "true")},
		"unversioned": {main: debug.Module{Path: Core, Version: "(devel)"}},
		"a folder":    {main: debug.Module{Path: Core, Sum: "h1:x="}, deps: []*debug.Module{&local}},
		"a workspace": {main: debug.Module{Path: Core, Sum: "h1:x="}, deps: []*debug.Module{{Path: "a", Version: "(devel)"}}},
		"another module": {main: debug.Module{Path: "example.com/own", Version: "v1.0.0", Sum: "h1:x="},
			settings: set("vcs.revision", "c1")},
	} {
		got := Source(&debug.BuildInfo{GoVersion: "go1.26.1", Main: test.main, Deps: test.deps, Settings: test.settings})
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestBuild: what is not known is equal to nothing.
func TestBuild(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b   Build
		same   bool
		remedy string
	}{
		{Build{"c1", "x"}, Build{"c1", "y"}, true, "same commit"},
		{Build{"", "x"}, Build{"", "x"}, true, "uncommitted"},
		{Build{"c1", "x"}, Build{"", "x"}, true, "uncommitted"},
		{Build{"c1", "x"}, Build{"c2", "y"}, false, "same commit"},
		{Build{"", "x"}, Build{"", "y"}, false, "uncommitted changes"},
		{Build{}, Build{}, false, "uncommitted"},
	} {
		if got := test.a.Same(test.b); got != test.same || !strings.Contains(test.a.Remedy(test.b), test.remedy) {
			t.Errorf("%v and %v: %v, %s", test.a, test.b, got, test.a.Remedy(test.b))
		}
	}
}
