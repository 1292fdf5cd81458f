package experiment

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/conclave-bench/conclave/internal/files"
	"github.com/conclave-bench/conclave/internal/transport"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
)

// A folder is where the files are that an experiment names: beside the experiment,
// or, for an override, in the working directory.
type folder struct {
	dir    string // of the experiment; "" if it is in no file
	memory bool   // the experiment is in memory and may not name files
}

var errMemory = errors.New("an experiment that is not read from a file cannot name one")

func (f *folder) path(at config.Place, name string) string {
	if f.memory {
		return name
	}
	if at.Layer == config.File && !filepath.IsAbs(name) {
		name = filepath.Join(f.dir, name)
	}
	if full, err := filepath.Abs(name); err == nil {
		return full
	}
	return name
}

// edges are those in a file.
func (f *folder) edges(at config.Place, name string) ([][2]algo.ID, error) {
	if f.memory {
		return nil, errMemory
	}
	data, err := files.Read(f.path(at, name), config.MaxSize)
	if err != nil {
		return nil, reason(err)
	}
	return algo.ReadEdges(bytes.NewReader(data))
}

// reason is an error of the file system without the path, which stands in front.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// checkBus checks the files that a connection to an external bus needs.
func (d *draft) checkBus() {
	b := &d.Bus
	if t := transport.Of(d.Transport); t == nil || !t.Server {
		return
	}
	for _, f := range []struct {
		key, path string
		secret    bool
	}{{"bus.credentials", b.Credentials, true}, {"bus.tls.ca", b.TLS.CA, false},
		{"bus.tls.cert", b.TLS.Cert, false}, {"bus.tls.key", b.TLS.Key, true}} {
		if f.path == "" {
			continue
		}
		raw := d.leaves[f.key].Raw
		if b.URL == "" {
			d.Add(raw.At, f.key, "without bus.url; the embedded server has credentials of its own")
			continue
		}
		if d.files.memory {
			d.Add(raw.At, f.key, "%s: %v", raw.Plain(), errMemory)
			continue
		}
		info, err := os.Stat(f.path)
		switch {
		case err != nil:
			d.Add(raw.At, f.key, "%s cannot be read: %v", raw.Plain(), reason(err))
		case info.IsDir():
			d.Add(raw.At, f.key, "%s is a folder", raw.Plain())
		case f.secret && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
			d.Add(raw.At, f.key, "%s can be read by others (mode %v); run chmod 600",
				raw.Plain(), info.Mode().Perm())
		}
	}
	if (b.TLS.Cert == "") != (b.TLS.Key == "") {
		d.Add(d.top(), "bus.tls", "want both cert and key, or neither")
	}
}
