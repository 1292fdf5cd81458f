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

// TestForeign: tables whose columns are separated by other than commas.
func TestForeign(t *testing.T) {
	t.Parallel()
	for table, foreign := range map[string]bool{
		"1-2;1-3\n2,5;3,1\n": true, "1-2\t1-3\n2.5\t3\n": true,
		"1-2,1-3\n2;5,3\n": false, "1-2\n2;5\n": false, "a;b,1-2\n1,2\n": false, "": false,
	} {
		if Foreign([]byte(table)) != "" != foreign {
			t.Errorf("%q: %q", table, Foreign([]byte(table)))
		}
	}
}
