package textscan

import (
	"bytes"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// A marked is a Finder that takes lines with a mark, and one more behind each.
type marked struct {
	t     *testing.T
	open  bool
	lines []string
	last  int
}

func (f *marked) Hint(line []byte) bool { return bytes.HasSuffix(line, []byte("#")) }
func (f *marked) Open() bool            { return f.open }
func (f *marked) Line(n int, line string) {
	if n <= f.last {
		f.t.Fatalf("line %d comes after line %d", n, f.last)
	}
	if !utf8.ValidString(line) || strings.Contains(line, "\n") {
		f.t.Fatalf("line %d: %q", n, line)
	}
	f.open = strings.HasSuffix(strings.TrimRight(line, " \t"), "#")
	f.lines, f.last = append(f.lines, line), n
}

// FuzzScan: lines come in order, each once, and the parts in which the text comes do not
// matter.
func FuzzScan(f *testing.F) {
	f.Add([]byte("a\nb\nvalue #\nc\nd\n"))
	f.Add([]byte("\x1b[31mred #\x1b[0m\r\n 10%|\r 20%| #\nnext"))
	f.Add([]byte("\x1b]0;title\x07x #\n\x1b(Bplain\xff #"))
	f.Fuzz(func(t *testing.T, text []byte) {
		whole, pieces := &marked{t: t}, &marked{t: t}
		a, err := Scan(bytes.NewReader(text), whole)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Scan(iotest.OneByteReader(bytes.NewReader(text)), pieces)
		if err != nil {
			t.Fatal(err)
		}
		if a != b || strings.Join(whole.lines, "\n") != strings.Join(pieces.lines, "\n") {
			t.Fatalf("whole: %+v %q\nbyte by byte: %+v %q", a, whole.lines, b, pieces.lines)
		}
		lines := bytes.Count(text, []byte("\n"))
		if len(text) > 0 && text[len(text)-1] != '\n' {
			lines++
		}
		if a.Lines != lines {
			t.Fatalf("%d lines, want %d", a.Lines, lines)
		}
	})
}
