package finding

import (
	"fmt"
	"testing"
)

// TestJoinSteps: a step is the same as another if its words are.
func TestJoinSteps(t *testing.T) {
	a, b := Advise("find-the-late-rank", "rank", "1"), Advise("find-the-late-rank", "rank", "2")
	got := JoinSteps([]Step{a, b}, []Step{Advise("find-the-late-rank", "rank", "2"), Advise("launch-less")})
	if text := fmt.Sprint(got); text != "[{find-the-late-rank map[rank:1] []} {find-the-late-rank map[rank:2] []} {launch-less map[] []}]" {
		t.Error(text)
	}
}
