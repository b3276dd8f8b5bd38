package doc

import (
	"slices"
	"testing"
)

// TestLineNames: a line is known by its file and directory, unless another has
// the same.
func TestLineNames(t *testing.T) {
	for in, want := range map[string]string{
		"/home/me/project/model/attention.py:77 forward": "model/attention.py:77 forward",
		`C:\code\net\block.py:3 f`:                       `net\block.py:3 f`,
		"train.py:12 step":                               "train.py:12 step",
		"a/train.py:12":                                  "a/train.py:12",
		"<built-in method mm of type object>":            "<built-in method mm of type object>",
		"/x/y/z.py:1 a/b:2 c":                            "y/z.py:1 a/b:2 c",
	} {
		if got := nameLabels(LineName, []string{in}, 80)[0]; got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
	got := nameLabels(LineName, []string{"/a/b/c.py:7 f", "/d/b/c.py:7 f", "/a/b/d.py:7 f"}, 80)
	if want := []string{"/a/b/c.py:7 f", "/d/b/c.py:7 f", "b/d.py:7 f"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRestText(t *testing.T) {
	for want, r := range map[string]struct {
		rest Rest
		rows string
	}{
		"":              {Rest{}, "kernels"},
		"1 more kernel": {Rest{Rows: 1}, "kernels"},
		"1 more kind of device work (25.0% of w)": {Rest{Rows: 1, Weight: 1, Total: 4, Of: "w"}, "kinds of device work"},
		"2 more kinds of copies":                  {Rest{Rows: 2}, "kinds of copies"},
	} {
		if got := r.rest.Text(r.rows); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
