package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMayWant: whatever asks for a wire is found, and what does not mention one is left alone.
func TestMayWant(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file("old/config.resolved.yaml", "network:\n  wire: false\n")
	file("new/config.resolved.yaml", "network:\n  wire: true\n")
	for _, c := range []struct {
		env, arg string
		want     bool
	}{
		{"", file("a.yaml", "network: {latency: 1ms, wire: true}"), true},
		{"", file("b.yaml", "network: {latency: 1ms}"), false},
		{"", file("c.toml", "[network]\nwire = true"), true},
		{"", file("d.yaml", "sweep: [{vary: network.wire, over: [false, true]}]"), true},
		{"", "--set=network.wire=true", true},
		{"", "--set", false},
		{"", "network.wire=true", true},
		{"", "--resume=" + filepath.Join(dir, "new"), true},
		{"", filepath.Join(dir, "new"), true},
		{"", filepath.Join(dir, "old"), false},
		{"", filepath.Join(dir, "none"), false},
		{"CONCLAVE_NETWORK__WIRE=true", "run", true},
		{"CONCLAVE_NETWORK__LOSS=0.1", "run", false},
	} {
		s := &streams{env: []string{c.env}}
		if got := s.mayWant([]string{"run", c.arg}); got != c.want {
			t.Errorf("%s %s: %v, want %v", c.env, c.arg, got, c.want)
		}
	}
}
