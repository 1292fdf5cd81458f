package proc

import (
	"fmt"
	"strings"
	"testing"
)

func TestExcerpt(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	e := &excerpt{}
	for i := range 30_000 {
		line := fmt.Sprintln("line", i)
		e.add([]byte(line))
		all.WriteString(line)
		if i == 5_000 && e.String() != all.String() {
			t.Fatal("what fits is not kept as it is")
		}
	}
	got, whole := e.String(), all.String()
	if got[:excerptHead] != whole[:excerptHead] ||
		!strings.HasSuffix(got, "dropped)\n"+whole[len(whole)-excerptTail:]) {
		t.Error("head and tail are not those of the whole")
	}
	if want := fmt.Sprintf("(%d bytes", len(whole)-excerptHead-excerptTail); !strings.Contains(
		got, want) {
		t.Errorf("no %q", want)
	}
}
