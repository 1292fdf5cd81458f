package program

import (
	"runtime/debug"
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
