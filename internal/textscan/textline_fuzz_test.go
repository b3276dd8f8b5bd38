package textscan

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// FuzzNext: the lines are those that strings.Split gives, as a screen shows them, whatever the parts in which the
// text comes. Lines over the limit are shortened to it and say so.
func FuzzNext(f *testing.F) {
	f.Add([]byte("one\r\ntwo\n\nlast"), uint16(80))
	f.Add([]byte("\xef\xbb\xbfname\xff\x00 value\r\r\n"), uint16(3))
	f.Add([]byte("token=abcdefghijklmnopqrstuvwxyz0123456789\n"), uint16(12))
	f.Fuzz(func(t *testing.T, text []byte, limit uint16) {
		const least = 64 // shorter lines than any program has
		want := strings.Split(string(text), "\n")
		for _, in := range []io.Reader{bytes.NewReader(text), iotest.OneByteReader(bytes.NewReader(text))} {
			r := NewReader(in, least+int(limit))
			for i := range want {
				line, cut, err := r.Next()
				if last := i == len(want)-1; last != errors.Is(err, io.EOF) {
					t.Fatalf("line %d of %d: %v", i+1, len(want), err)
				}
				if !utf8.ValidString(line) {
					t.Fatalf("line %d is not UTF-8: %q", i+1, line)
				}
				if cut != (len(want[i])+lineEnd(i, want) > least+int(limit)) {
					t.Fatalf("line %d of %d bytes, limit %d: cut is %v", i+1, len(want[i]), least+int(limit), cut)
				}
				if cut {
					continue
				}
				whole := maskedLine([]byte(strings.TrimRight(want[i], "\r")))
				if i == 0 {
					whole = strings.TrimPrefix(whole, "\ufeff")
				}
				if whole = strings.ToValidUTF8(whole, "\ufffd"); line != whole {
					t.Fatalf("line %d is %q, want %q", i+1, line, whole)
				}
			}
		}
	})
}

// lineEnd returns how many bytes end a line.
func lineEnd(i int, lines []string) int {
	if i == len(lines)-1 {
		return 0
	}
	return 1
}
