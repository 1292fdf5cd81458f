package experiment

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/files"
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
	return f.readUpTo(at, name, config.MaxSize)
}

// mostOfRecord is how many bytes a record of pings may have: ping writes about seventy a line.
const mostOfRecord = 256 << 20

func (f *folder) readUpTo(at config.Place, name string, most int64) ([]byte, error) {
	if f.memory {
		return nil, errMemory
	}
	data, err := files.Read(f.path(at, name), most)
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

// record is that in a file, of delays, or those of the files in a folder, one for each pair.
func (f *folder) record(at config.Place, name string) (l link.Recorded, err error) {
	if info, err := os.Stat(f.path(at, name)); err == nil && info.IsDir() && !f.memory {
		l.Pairs, err = f.pairs(at, name, link.ReadRecord)
		return l, err
	}
	data, err := f.readUpTo(at, name, mostOfRecord)
	if err != nil {
		return l, err
	}
	l.Values, err = link.ReadRecord(bytes.NewReader(data))
	return l, err
}

// pairName is the name of a file with the record of a pair: from which process, and to which.
var pairName = regexp.MustCompile(`^([1-9][0-9]{0,5})-([1-9][0-9]{0,5})\.txt$`)

// pairs are the records in a folder. Where the record of one direction is not there, the other's holds
// for both. What begins with a dot means nothing.
func (f *folder) pairs(at config.Place, name string,
	read func(io.Reader) ([]time.Duration, error)) (out []link.Pair, err error) {
	entries, err := os.ReadDir(f.path(at, name))
	if err != nil {
		return nil, reason(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		ends, err := endsOf(pairName, e.Name())
		if err != nil {
			return nil, fmt.Errorf("%s: expected files that are called by two processes, as 1-2.txt",
				config.Clip(e.Name()))
		}
		data, err := f.readUpTo(at, filepath.Join(name, e.Name()), mostOfRecord)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		values, err := read(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		out = append(out, link.Pair{From: ends[0], To: ends[1], Values: values})
	}
	if len(out) == 0 {
		return nil, errors.New("no records in this folder: expected one for each pair, as 1-2.txt")
	}
	return bothWays(out), nil
}

// endsOf are the two processes that a name has.
func endsOf(form *regexp.Regexp, name string) (ends [2]uint32, err error) {
	m := form.FindStringSubmatch(name)
	if m == nil || m[1] == m[2] {
		return ends, fmt.Errorf("%s: expected two processes, as 1-2", config.Clip(name))
	}
	for i := range ends {
		n, _ := strconv.ParseUint(m[i+1], 10, 32)
		ends[i] = uint32(n)
	}
	return ends, nil
}

// bothWays are the records of both directions: where there is that of one alone, it holds for both.
func bothWays(pairs []link.Pair) []link.Pair {
	has := map[[2]uint32]bool{}
	for _, p := range pairs {
		has[[2]uint32{p.From, p.To}] = true
	}
	for _, p := range pairs {
		if !has[[2]uint32{p.To, p.From}] {
			pairs = append(pairs, link.Pair{From: p.To, To: p.From, Values: p.Values})
		}
	}
	slices.SortFunc(pairs, func(a, b link.Pair) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return pairs
}

// reason is an error of the file system without the path, which stands in front.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Extensions are those of experiment files.
func Extensions() []string { return []string{"yaml", "yml", "toml", "json"} }
