// Package timeout is the time-outs of elections that know d, the largest latency: one
// covers a round trip, and one that runs behind it covers another. It is no algorithm.
package timeout

import (
	"fmt"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// RoundTrip is the default of a time-out for an answer: 3d + 20 ms.
func RoundTrip(net algo.Network) any { return 3*net.Latency + algo.Slack }

// RoundTripAfter is the default of a time-out that covers the one named first as well,
// a parameter that stands before it: T + 3d + 20 ms.
func RoundTripAfter(first string) func(algo.Network) any {
	return func(net algo.Network) any { return net.Params.Duration(first) + 3*net.Latency + algo.Slack }
}

// Covers says whether the time-out of that name is 2d or more.
func Covers(net algo.Network, p algo.Params, name string) error {
	if t, least := p.Duration(name), 2*net.Latency; t < least {
		return fmt.Errorf("%s %v is below 2d = %v", name, t, least)
	}
	return nil
}

// CoversAfter says whether the time-out of that name is T + 2d or more, first being T.
func CoversAfter(net algo.Network, p algo.Params, first, name string) error {
	if t, least := p.Duration(name), p.Duration(first)+2*net.Latency; t < least {
		return fmt.Errorf("%s %v is below T + 2d = %v", name, t, least)
	}
	return nil
}

// BothCover is Covers of first, and CoversAfter of second: for Needs.Params.
func BothCover(first, second string) func(algo.Network, algo.Params) error {
	return func(net algo.Network, p algo.Params) error {
		if err := Covers(net, p, first); err != nil {
			return err
		}
		return CoversAfter(net, p, first, second)
	}
}
