package text

import "testing"

func TestPrintable(t *testing.T) {
	t.Parallel()
	if got := Printable("a\x1b[1m\né"); got != "a?[1m?é" {
		t.Errorf("%q", got)
	}
}

func TestLazy(t *testing.T) {
	t.Parallel()
	rule := Lazy(`^a+$`)
	if first, second := rule(), rule(); !first.MatchString("aa") || first != second {
		t.Error("not compiled once")
	}
}
