//go:build !linux

package proc

// RoomLeft is not known on this system.
func RoomLeft() Room { return Room{Memory: Endless, Tasks: Endless} }

// FootprintOf is not known on this system: its figures are zero.
func FootprintOf(int) Footprint { return Footprint{} }
