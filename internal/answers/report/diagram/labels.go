package diagram

import "math"

// A board remembers where text stands, so that no text is put over another. Text is
// a chain of discs, which is the same work at any slope.
type board struct {
	cells map[[2]int][]disc
}

type disc struct{ x, y, r float64 }

const cell = 24.0 // no disc is wider

func newBoard() *board { return &board{map[[2]int][]disc{}} }

// chain is the discs along a text that is centred at x, y and rises by angle.
func chain(x, y, width, size, angle float64) []disc {
	r := size * 0.62
	n := max(1, int(math.Ceil(width/(1.4*r))))
	dx, dy := math.Cos(angle), math.Sin(angle)
	out := make([]disc, n)
	for i := range out {
		at := (float64(i)+0.5)/float64(n)*width - width/2
		out[i] = disc{x + at*dx, y + at*dy, r}
	}
	return out
}

// free says whether nothing stands where the discs are.
func (b *board) free(discs []disc) bool {
	for _, d := range discs {
		i, j := int(math.Floor(d.x/cell)), int(math.Floor(d.y/cell))
		for di := -1; di <= 1; di++ {
			for dj := -1; dj <= 1; dj++ {
				for _, o := range b.cells[[2]int{i + di, j + dj}] {
					if math.Hypot(d.x-o.x, d.y-o.y) < d.r+o.r {
						return false
					}
				}
			}
		}
	}
	return true
}

func (b *board) take(discs []disc) {
	for _, d := range discs {
		key := [2]int{int(math.Floor(d.x / cell)), int(math.Floor(d.y / cell))}
		b.cells[key] = append(b.cells[key], d)
	}
}

// textWidth estimates how wide text is: fonts differ, so it is rather too wide.
func textWidth(text string, size float64) float64 {
	w := 0.0
	for _, r := range text {
		switch {
		case r >= 'A' && r <= 'Z', r == '_', r == 'm', r == 'w':
			w += 0.70
		case r == ' ', r == 'i', r == 'l', r == '.', r == ',', r == ':', r == '|':
			w += 0.34
		case r < 0x2e80:
			w += 0.58
		default: // as wide as it is high
			w += 1
		}
	}
	return w * size
}

// short is text that is at most n runes long.
func short(text string, n int) string {
	r := []rune(text)
	if len(r) <= n {
		return text
	}
	return string(r[:n-1]) + "…"
}
