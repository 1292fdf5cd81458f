//go:build !linux

package host

import "os"

// TelemetryDir is a folder for files of about need bytes in all.
func TelemetryDir(int64) string { return os.TempDir() }
