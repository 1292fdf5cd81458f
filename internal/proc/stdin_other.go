//go:build !unix

package proc

import "io"

func pollable(f io.Reader) io.Reader { return f }
