package experiment

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/conclave-bench/conclave/internal/files"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/link"
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

// read is the content of a file.
func (f *folder) read(at config.Place, name string) ([]byte, error) {
	if f.memory {
		return nil, errMemory
	}
	data, err := files.Read(f.path(at, name), config.MaxSize)
	if err != nil {
		return nil, reason(err)
	}
	return data, nil
}

// edges are those in a file, and their weights.
func (f *folder) edges(at config.Place, name string) (s algo.Shape, err error) {
	data, err := f.read(at, name)
	if err != nil {
		return s, err
	}
	s.Edges, s.Weights, err = algo.ReadEdges(bytes.NewReader(data))
	return s, err
}

// record is that in a file, of delays.
func (f *folder) record(at config.Place, name string) ([]time.Duration, error) {
	data, err := f.read(at, name)
	if err != nil {
		return nil, err
	}
	return link.ReadRecord(bytes.NewReader(data))
}

// reason is an error of the file system without the path, which stands in front.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
