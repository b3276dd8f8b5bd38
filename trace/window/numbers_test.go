package window

import (
	"slices"
	"testing"
)

// TestNumbers: a list is read as it is printed.
func TestNumbers(t *testing.T) {
	want := []int{0, 1, 3, 5, 6, 7, 9}
	list := ListNumbers(want)
	if list != "0, 1, 3, 5-7, 9" {
		t.Errorf("the numbers are printed as %s", list)
	}
	if got, ok := ParseNumbers(list); !ok || !slices.Equal(got, want) {
		t.Errorf("%s is read as %v, %t", list, got, ok)
	}
	for _, wrong := range []string{"", "a", "3-1", "-1", "1-", "0-1048576"} {
		if got, ok := ParseNumbers(wrong); ok {
			t.Errorf("%q is read as %v", wrong, got)
		}
	}
}
