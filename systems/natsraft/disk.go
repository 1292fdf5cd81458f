package natsraft

import (
	"io/fs"
	"os"
	"testing/fstest"
)

// mount makes the folder of the server, with what is on its disk.
func (n *node) mount() (err error) {
	if n.dir, err = os.MkdirTemp("", "conclave-nats-"); err != nil {
		return err
	}
	n.Disk.Mount(func() any { return image(os.DirFS(n.dir)) })
	was, _ := n.Disk.Contents().(fstest.MapFS)
	return os.CopyFS(n.dir, was)
}

// image is a copy of all files. The server may still write them: one that vanishes meanwhile is left out.
func image(dir fs.FS) any {
	out := fstest.MapFS{}
	_ = fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if data, err := fs.ReadFile(dir, name); err == nil {
				out[name] = &fstest.MapFile{Data: data, Mode: 0o600}
			}
		}
		return nil
	})
	return out
}
