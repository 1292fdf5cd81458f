package report

import "testing"

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
	if got := Program(); got != "bench" { // this test is a program of Conclave's own
		t.Errorf("%q", got)
	}
}
