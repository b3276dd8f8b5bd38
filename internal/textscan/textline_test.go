package textscan

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

func TestNext(t *testing.T) {
	long := strings.Repeat("x", 200_000) // more than the buffer holds
	for _, tc := range []struct {
		name, in string
		want     []string // "!" before those that were cut
	}{
		{"nothing", "", []string{""}},
		{"ends of every system", "a\nb\r\nc", []string{"a", "b", "c"}},
		{"an end after the last", "a\n", []string{"a", ""}},
		{"a mark before the first only", "\ufeffa\n\ufeffb", []string{"a", "\ufeffb"}},
		{"no text", "a\xff\xfeb\n", []string{"a\ufffdb", ""}},
		{"at the limit", long[:99_999] + "\nb", []string{long[:99_999], "b"}},
		{"over the limit", long + "\nb", []string{"!" + long[:100_000], "b"}},
	} {
		r := NewReader(strings.NewReader(tc.in), 100_000)
		var got []string
		for {
			line, cut, err := r.Next()
			if cut {
				line = "!" + line
			}
			if got = append(got, line); err != nil {
				if !errors.Is(err, io.EOF) {
					t.Errorf("%s: %v", tc.name, err)
				}
				break
			}
		}
		if !slices.Equal(got, tc.want) || r.N != len(tc.want) {
			t.Errorf("%s: %d lines %.200s, want %.200s", tc.name, r.N, fmt.Sprintf("%q", got), fmt.Sprintf("%q", tc.want))
		}
	}
}

// TestBroken: an input that fails returns the part of its last line that was
// read.
func TestBroken(t *testing.T) {
	broken := errors.New("disk error")
	r := NewReader(io.MultiReader(strings.NewReader("a\nhalf"), failing{broken}), 100)
	r.Next()
	if line, _, err := r.Next(); line != "half" || !errors.Is(err, broken) {
		t.Errorf("%q, %v", line, err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
