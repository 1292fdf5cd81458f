package transport

import "testing"

// TestKinds: each transport is declared in full, under a name of its own.
func TestKinds(t *testing.T) {
	t.Parallel()
	for _, k := range All {
		if k.Name == "" || k.Doc == "" || Of(k.Name) != k {
			t.Errorf("%+v: want a name of its own, and a sentence", k)
		}
		if Virtual(k.Name) == Real(k.Name) || Virtual(k.Name) != k.Virtual {
			t.Errorf("%s: virtual %v, real %v", k.Name, Virtual(k.Name), Real(k.Name))
		}
	}
	if Of("pigeon") != nil || Virtual("pigeon") || Real("pigeon") {
		t.Error("pigeons are a transport")
	}
}
