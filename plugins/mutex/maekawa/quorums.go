package maekawa

import (
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/mutex/quorum"
)

// differences is a perfect difference set of a projective plane with n points:
// every number from 1 to n-1 is the difference of two of its members, modulo n,
// in exactly one way. Nil if none is known here.
func differences(n int) []int {
	switch n {
	case 3: // the triangle: order 1
		return []int{0, 1}
	case 7: // order 2
		return []int{0, 1, 3}
	case 13: // 3
		return []int{0, 1, 3, 9}
	case 21: // 4
		return []int{0, 1, 4, 14, 16}
	case 31: // 5
		return []int{0, 1, 3, 8, 12, 18}
	case 57: // 7
		return []int{0, 1, 3, 13, 32, 36, 43, 52}
	case 73: // 8
		return []int{0, 1, 3, 7, 15, 31, 36, 54, 63}
	case 91: // 9
		return []int{0, 1, 3, 9, 27, 49, 56, 61, 77, 81}
	}
	return nil
}

// sound: n is the size of a projective plane that is known here, if one is asked for,
// and nobody waits in a circle.
func sound(net algo.Network, p algo.Params) error {
	if p.Enum("quorums") == "plane" && differences(net.Nodes) == nil {
		return fmt.Errorf("no projective plane of %d points is known here: the quorums are a grid's",
			net.Nodes)
	}
	return quorum.Sound(net, p)
}

// A family is the parameter quorums.
type family string

// Quorum is Q of process id among n, itself included. It does not change with
// crashes.
func (f family) Quorum(id algo.ID, n int, _ []algo.ID) (q []algo.ID) {
	if d := differences(n); d != nil && f != "grid" {
		for _, x := range d {
			q = append(q, algo.ID((int(id)-1+x)%n+1))
		}
		slices.Sort(q)
		return q
	}
	return cross(id, n)
}

// cross is the row and the column of id in a square grid, filled row by row. The
// last row may be shorter: the row of the one and the column of the other meet
// all the same, since one of two rows is full or they are the same.
func cross(id algo.ID, n int) (q []algo.ID) {
	width := 1
	for width*width < n {
		width++
	}
	row, column := (int(id)-1)/width, (int(id)-1)%width
	for i := range n {
		if i/width == row || i%width == column {
			q = append(q, algo.ID(i+1))
		}
	}
	return q
}
