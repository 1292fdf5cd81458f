package clock

// A Steering is how a system adjusts its monotonic clock. The zero Steering is an unknown one.
type Steering struct {
	Known  bool
	Rate   float64 // by which it makes the clock run faster than by itself, in ns a ns
	Wander float64 // by how much that may change without another order to the system
}

// Steered is how this system adjusts Monotonic at the moment, as far as it says so.
func Steered() Steering {
	s := steered()
	if d := distorted.Load(); d != nil {
		s.Rate += d.steered(undistorted())
	}
	return s
}
