package textscan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"assay/internal/redact"
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
				if problem := unlike(line, want[i], i == 0); problem != "" {
					t.Fatalf("line %d is %q, of %q: %s", i+1, line, want[i], problem)
				}
			}
		}
	})
}

// unlike says what is wrong with a line that was read, or returns "". A line of letters, digits, spaces and a few
// signs is read as it is in the text. Any other one, of valid UTF-8 and without secrets and brackets, has lost what
// a screen does not show, and
// has nothing that is not in the text, in its order.
func unlike(line, text string, first bool) string {
	text = strings.TrimRight(text, "\r")
	if first {
		text = strings.TrimPrefix(text, "\ufeff")
	}
	plain := !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(" ._,;()-+/*", r)
	})
	switch {
	case plain && line != text:
		return "plain text has changed"
	case plain, !utf8.ValidString(text), redact.Mask(line) != line, strings.Contains(line, "["):
		return ""
	}
	rest := []rune(strings.ToValidUTF8(text, "\ufffd"))
	for _, r := range line {
		at := slices.Index(rest, r)
		if at < 0 && r == ' ' { // what is not shown may leave a space
			continue
		}
		if at < 0 {
			return fmt.Sprintf("%q is not in the text, or not at this place", r)
		}
		rest = rest[at+1:]
	}
	if strings.IndexByte(line, 0x1b) >= 0 {
		return "an escape of the screen is left"
	}
	return ""
}

// lineEnd returns how many bytes end a line.
func lineEnd(i int, lines []string) int {
	if i == len(lines)-1 {
		return 0
	}
	return 1
}
