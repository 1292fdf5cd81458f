package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestCalibrate_NoFolder: where nothing can be written, nothing runs. What it does where something
// can, docs/explanation/twin.md has.
func TestCalibrate_NoFolder(t *testing.T) {
	r := bench(t, "calibrate", filepath.Join(t.TempDir(), "none", "calibration.yaml")).want(t, CouldNotRun)
	has(t, r.errors, "no such file or directory")
	if strings.Contains(r.errors, "in flight") {
		t.Errorf("it has run a load:\n%s", r.errors)
	}
}
