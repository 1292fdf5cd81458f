//go:build !unix

package host

import "io"

func pollable(f io.Reader) io.Reader { return f }
