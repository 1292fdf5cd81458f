package check

import "slices"

// A count is how many requests of each process happened before, by ID - 1. It is a tree that is
// never modified, so that messages and processes share what is equal of theirs: in a burst of N
// processes nearly all of it, where N lists of N numbers would take 40 GB for 100 000. Nil is zero
// everywhere.
type count struct {
	leaf []uint32 // of up to leafWidth processes
	kids []*count // or fan trees, each of as many processes
}

const (
	leafWidth = 256 // most trials have no more processes
	fan       = 16
)

// width is how many processes a tree for n of them has room for.
func width(n int) int {
	w := min(n, leafWidth)
	for w < n {
		w = max(w, leafWidth) * fan
	}
	return w
}

// at is the number of process i in a tree of such a width.
func (c *count) at(i, width int) uint32 {
	for ; c != nil && c.kids != nil; i %= width {
		width /= fan
		c = c.kids[i/width]
	}
	if c == nil {
		return 0
	}
	return c.leaf[i]
}

// with is c, but for the number of process i.
func (c *count) with(i int, v uint32, width int) *count {
	if width <= leafWidth {
		leaf := make([]uint32, width)
		if c != nil {
			copy(leaf, c.leaf)
		}
		leaf[i] = v
		return &count{leaf: leaf}
	}
	kids := make([]*count, fan)
	if c != nil {
		copy(kids, c.kids)
	}
	width /= fan
	kids[i/width] = kids[i/width].with(i%width, v, width)
	return &count{kids: kids}
}

// or has the larger number of each process: it is c or o where that has all of them.
func (c *count) or(o *count, width int) *count {
	switch {
	case c == o || o == nil:
		return c
	case c == nil:
		return o
	case width <= leafWidth:
		return c.orLeaf(o)
	}
	var kids [fan]*count
	for i := range kids {
		kids[i] = c.kids[i].or(o.kids[i], width/fan)
	}
	switch {
	case slices.Equal(kids[:], c.kids):
		return c
	case slices.Equal(kids[:], o.kids):
		return o
	}
	return &count{kids: slices.Clone(kids[:])}
}

func (c *count) orLeaf(o *count) *count {
	a, b := c.leaf, o.leaf[:len(c.leaf)]
	i := firstLess(a, b)
	if i == len(a) {
		return c
	}
	if firstLess(b, a) == len(a) {
		return o
	}
	leaf := slices.Clone(a)
	for ; i < len(leaf); i++ {
		if b[i] > leaf[i] {
			leaf[i] = b[i]
		}
	}
	return &count{leaf: leaf}
}

// firstLess is the first place at which a has less than b, or else their length.
func firstLess(a, b []uint32) int {
	b = b[:len(a)]
	for i, v := range a {
		if v < b[i] {
			return i
		}
	}
	return len(a)
}
