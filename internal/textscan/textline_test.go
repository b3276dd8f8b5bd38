package textscan

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"assay/internal/redact"
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
		{"byte order marks", "\ufeffa\n\ufeffb", []string{"a", "b"}},
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

// TestMaskedLine: what a reader splits has no secret that it could part.
func TestMaskedLine(t *testing.T) {
	for _, line := range []string{
		"GET,/a?db=postgres://bob:Tr0ub,ad0r@db.example.com/x,10,0", "1;mysql://root:Tr0ub;ad0r@10.0.0.1/x;2",
		`a,\u0070assword=Tr0ub\u0034ad0r,3`, "a,pass\x1b[1mword=Tr0ubad0r,3",
	} {
		got, _, _ := NewReader(strings.NewReader(line+"\n"), 1<<10).Next()
		for part := range strings.FieldsFuncSeq(got, func(r rune) bool { return r == ',' || r == ';' }) {
			if part = redact.Mask(part); strings.Contains(part, "ad0r") || strings.Contains(part, "Tr0ub") {
				t.Errorf("%q: column %q has a part of the password", line, part)
			}
		}
	}
	const plain = "GET,/v1/items?id=3,https://example.com/a,b@c"
	if got, _, _ := NewReader(strings.NewReader(plain), 1<<10).Next(); got != plain {
		t.Errorf("a line without a secret became %q", got)
	}
}
