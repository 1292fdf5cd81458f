//go:build unix

package proc

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// pollable makes the runtime wait for f as it waits for sockets: a read that
// blocks a thread would cost a switch of threads for every order.
func pollable(f io.Reader) io.Reader {
	file, ok := f.(*os.File)
	if !ok || unix.SetNonblock(int(file.Fd()), true) != nil {
		return f
	}
	return os.NewFile(file.Fd(), file.Name())
}
