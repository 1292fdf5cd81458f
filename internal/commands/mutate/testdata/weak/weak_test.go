package weak

import "testing"

func TestClip(t *testing.T) {
	if got := Clip(-2, 5); got != 0 {
		t.Errorf("got %d, want 0", got)
	}
}

func TestZero(t *testing.T) {
	if got := Zero(3); got != 0 {
		t.Errorf("got %d, want 0", got)
	}
}
