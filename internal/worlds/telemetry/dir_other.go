//go:build !linux

package telemetry

import "os"

// Dir is a folder for files of about need bytes in all.
func Dir(int64) string { return os.TempDir() }
