//go:build !linux && !darwin

package telemetry

import (
	"errors"
	"fmt"
	"os"
)

var errNoMapping = fmt.Errorf("map telemetry: %w: real processes need Linux or macOS; "+
	"use transport: sim", errors.ErrUnsupported)

// Map is not possible on this system.
func Map(*os.File, int) ([]byte, error) { return nil, errNoMapping }

func reserve(*os.File, int64, int) ([]byte, error) { return nil, errNoMapping }

func mapReadOnly(*os.File, int) ([]byte, error) { return nil, errNoMapping }

// Unmap has nothing to do on this system.
func Unmap([]byte) error { return nil }
