package advise

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/link"
)

// writes reads the times of writes to stable storage: fio's JSON, what etcd's benchmark prints, or a time in
// each line. It is their quantiles, in equal steps.
func writes(path string) ([]time.Duration, error) {
	text, err := files.Read(path, config.MaxSize)
	if err != nil {
		return nil, answer.Mistaken("--fsync: %v", err)
	}
	var out []time.Duration
	switch {
	case bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")):
		out, err = fioWrites(text)
	case bytes.Contains(text, []byte("Latency distribution:")):
		out, err = etcdWrites(text)
	default:
		if out, err = times(text); err == nil {
			out = link.Percentiles(out)
		}
	}
	if err != nil {
		return nil, answer.Mistaken("--fsync %s: %v", path, err)
	}
	return out, nil
}

// A point is a quantile.
type point struct {
	share float64
	time  time.Duration
}

// stepped are the quantiles 0 to 100 % between points, by straight lines. Below the first point and above
// the last it is as there.
func stepped(points []point) ([]time.Duration, error) {
	slices.SortFunc(points, func(a, b point) int { return int(math.Copysign(1, a.share-b.share)) })
	if len(points) < 2 {
		return nil, fmt.Errorf("%d percentiles, expected two or more", len(points))
	}
	out := make([]time.Duration, 101)
	for i := range out {
		share := float64(i) / 100
		at := slices.IndexFunc(points, func(p point) bool { return p.share >= share })
		switch {
		case at == 0:
			out[i] = points[0].time
		case at < 0:
			out[i] = points[len(points)-1].time
		default:
			a, b := points[at-1], points[at]
			out[i] = a.time + time.Duration((share-a.share)/(b.share-a.share)*float64(b.time-a.time))
		}
		if i > 0 {
			out[i] = max(out[i], out[i-1])
		}
	}
	out[100] = max(out[100], points[len(points)-1].time)
	return out, nil
}

// fioWrites are the percentiles of fsync in fio's JSON, or else of writes.
func fioWrites(text []byte) ([]time.Duration, error) {
	type spread struct {
		Percentile map[string]float64 `json:"percentile"`
	}
	var report struct {
		Jobs []struct {
			Sync struct {
				Latency spread `json:"lat_ns"`
			} `json:"sync"`
			Write struct {
				Latency spread `json:"clat_ns"`
			} `json:"write"`
		} `json:"jobs"`
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("no JSON of fio: %w", err)
	}
	var points []point
	for _, job := range report.Jobs {
		own := job.Sync.Latency.Percentile
		if len(own) == 0 {
			own = job.Write.Latency.Percentile
		}
		for share, ns := range own {
			p, err := strconv.ParseFloat(share, 64)
			if err != nil || !(p >= 0 && p <= 100) || !(ns > 0) {
				return nil, fmt.Errorf("percentile %s: %v ns, expected a time above 0", share, ns)
			}
			points = append(points, point{p / 100, time.Duration(ns)})
		}
	}
	if len(points) == 0 {
		return nil, fmt.Errorf("no percentiles of fsync in it: run fio with --fdatasync=1 " +
			"--output-format=json")
	}
	return stepped(points)
}

// etcdWrite is a line of what etcd's benchmark prints.
var etcdWrite = regexp.MustCompile(`^\s*([0-9.]+)% in ([0-9.]+) secs`)

func etcdWrites(text []byte) ([]time.Duration, error) {
	var points []point
	for line := range strings.Lines(string(text)) {
		if m := etcdWrite.FindStringSubmatch(line); m != nil {
			share, err := strconv.ParseFloat(m[1], 64)
			secs, wrong := strconv.ParseFloat(m[2], 64)
			if err != nil || wrong != nil || secs <= 0 {
				return nil, fmt.Errorf("%.40q, expected a time above 0", strings.TrimSpace(line))
			}
			points = append(points, point{share / 100, time.Duration(secs * 1e9)})
		}
	}
	return stepped(points)
}

// times are times above 0, one in each line, in milliseconds unless they have a unit.
func times(text []byte) (out []time.Duration, err error) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		d, err := time.ParseDuration(line)
		if ms, e := strconv.ParseFloat(line, 64); e == nil {
			d, err = time.Duration(ms*1e6), nil
		}
		if err != nil || d <= 0 || d > time.Hour {
			return nil, fmt.Errorf("line %d: %.40q, expected a time above 0 and up to 1h, as 12.3 (ms) or "+
				"12.3ms", n, line)
		}
		out = append(out, d)
	}
	if len(out) < 2 {
		return nil, fmt.Errorf("%d times in it, expected two or more", len(out))
	}
	return out, lines.Err()
}

// pauses are the lengths of the pauses in a file, sorted.
func pauses(path string) ([]time.Duration, error) {
	text, err := files.Read(path, config.MaxSize)
	if err != nil {
		return nil, answer.Mistaken("--pauses: %v", err)
	}
	out, err := times(text)
	if err != nil {
		return nil, answer.Mistaken("--pauses %s: %v", path, err)
	}
	slices.Sort(out)
	return out, nil
}
