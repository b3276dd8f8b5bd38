package steps

import "testing"

// TestRegular checks when the calls of an optimizer show the steps of a loop.
func TestRegular(t *testing.T) {
	for name, c := range map[string]struct {
		times []int64
		want  bool
	}{
		"equal distances":                 {[]int64{3, 14, 25, 36}, true},
		"one long step":                   {[]int64{0, 10, 20, 30, 40, 75}, true},
		"two calls show one step only":    {[]int64{3, 14}, false},
		"two calls in each iteration":     {[]int64{0, 10, 100, 110, 200, 210}, false},
		"one call per layer, then a step": {[]int64{0, 1, 2, 3, 4, 100, 101, 102, 103, 104}, false},
		"all at one time":                 {[]int64{5, 5, 5, 5}, false},
	} {
		if got := regular(c.times); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
