package results

import (
	"cmp"
	"fmt"
	"slices"
)

// Blocks hold trials in the order in which they ended. Tables have them in the order of their numbers,
// which a journal that is larger than the memory is brought into in two steps: its trials are spread over
// windows of neighbouring numbers, each of which is kept compressed, and then sorted by itself.
const (
	windowRows = 1 << 14 // trials of a window, which are in memory at once
	waitRows   = 1 << 15 // trials that wait, in all windows, until they are compressed
	fewestRows = 32      // that a window compresses at once
)

// A window is trials of neighbouring numbers.
type window struct {
	first   int // number
	packed  [][]byte
	waiting []Trial
}

// eachSorted is each of a journal with blocks.
func (j *journal) eachSorted(visit func(*Trial) error) error {
	numbers := j.rows()
	var windows []window
	for chunk := range slices.Chunk(numbers, windowRows) {
		windows = append(windows, window{first: chunk[0]})
	}
	if err := j.spread(windows); err != nil {
		return fmt.Errorf("journal: %s: %w", j.file.Name(), err)
	}
	for i := range windows {
		w := &windows[i]
		trials := w.waiting
		for _, b := range w.packed {
			more, err := decodeBlock(b, j.header.Design)
			if err != nil {
				return err
			}
			trials = append(trials, more...)
		}
		windows[i] = window{}
		slices.SortFunc(trials, func(a, b Trial) int { return cmp.Compare(a.Trial, b.Trial) })
		for k := range trials {
			if err := visit(&trials[k]); err != nil {
				return err
			}
		}
	}
	return nil
}

// spread hands the last attempt at every trial to its window.
func (j *journal) spread(windows []window) error {
	lines := map[int64]position{}
	for _, s := range j.last {
		if s.size > 0 {
			lines[s.at] = s.position
		}
	}
	room := max(fewestRows, waitRows/max(1, len(windows)))
	places := make([]position, 0, len(lines))
	for _, at := range lines {
		places = append(places, at)
	}
	slices.SortFunc(places, func(a, b position) int { return cmp.Compare(a.at, b.at) })
	for _, at := range places {
		all, err := j.read(at)
		if err != nil {
			return err
		}
		for row := range all {
			t := &all[row]
			if s := j.last[t.Trial]; s.at != at.at || s.row != row {
				continue // an earlier attempt
			}
			i, found := slices.BinarySearchFunc(windows, t.Trial, func(w window, n int) int {
				return cmp.Compare(w.first, n)
			})
			if !found {
				i--
			}
			w := &windows[i]
			if w.waiting = append(w.waiting, *t); len(w.waiting) < room || len(windows) == 1 {
				continue
			}
			b, err := encodeBlock(w.waiting)
			if err != nil {
				return err
			}
			w.packed, w.waiting = append(w.packed, b), w.waiting[:0]
		}
	}
	return nil
}
