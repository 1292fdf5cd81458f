// Package raynal is what both forms of Raynal's mutual exclusion by prime numbers (IPL
// 1989) share: the numbers A of the processes, no two of which have a factor in common.
package raynal

import (
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Attributes is A of each of n processes, by ID - 1: the parameter a, or the i-th odd
// prime where that is 0.
func Attributes(p algo.Params, n int) []int64 {
	primes, a := []int64{}, make([]int64, n)
	for c := int64(3); len(primes) < n; c += 2 {
		if !slices.ContainsFunc(primes, func(p int64) bool { return c%p == 0 }) {
			primes = append(primes, c)
		}
	}
	for i := range a {
		if a[i] = p.IntOf("a", algo.ID(i+1)); a[i] == 0 {
			a[i] = primes[i]
		}
	}
	return a
}

// Coprime says whether the numbers A are fit for the proof.
func Coprime(net algo.Network, p algo.Params) error {
	a := Attributes(p, net.Nodes)
	for i := range a {
		if a[i] == 1 {
			return fmt.Errorf("a of process %d is 1", i+1)
		}
		for j := range i {
			if x, y := a[i], a[j]; gcd(x, y) > 1 {
				return fmt.Errorf("a of processes %d and %d, %d and %d, have a common factor",
					j+1, i+1, y, x)
			}
		}
	}
	return nil
}

func gcd(x, y int64) int64 {
	for y != 0 {
		x, y = y, x%y
	}
	return x
}
