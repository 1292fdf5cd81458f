package bubble

import (
	"testing"
	"time"
)

// TestHangs: a trial that waits for a file has a minute, and any other a few seconds.
func TestHangs(t *testing.T) {
	for _, test := range []struct {
		waited time.Duration
		what   string
		want   bool
	}{
		{patience, "in a.f, called by b.g", true},
		{patience, "in syscall.Fsync, called by os.(*File).Sync", false},
		{ofDisks - patience, "in syscall.Fsync, called by os.(*File).Sync", false},
		{ofDisks, "in syscall.Fsync, called by os.(*File).Sync", true},
	} {
		if hangs(test.waited, test.what) != test.want {
			t.Errorf("%v %s: %v", test.waited, test.what, !test.want)
		}
	}
}
