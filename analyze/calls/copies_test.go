package calls

import "testing"

// TestIsLarge: the size decides where it is known. PCIe 1.0 with one lane copies 250 kB in 1 ms, so a copy of unknown size
// that takes as long is large.
func TestIsLarge(t *testing.T) {
	for _, c := range []struct {
		bytes int64
		known bool
		dur   int64
		want  bool
	}{
		{64 << 10, true, 1000, false}, {64<<10 + 1, true, 1000, true}, {4, true, 5_000_000, false},
		{-1, false, 999_999, false}, {-1, false, 1_000_000, true}, {0, false, 20_000, false},
	} {
		if got := isLarge(c.bytes, c.known, c.dur); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}
