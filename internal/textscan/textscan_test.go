package textscan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// A taker wants lines that end in its hint. After a line with "open" it wants
// as many more lines as that line states.
type taker struct {
	hint string
	left int
	got  []string
}

func (f *taker) Hint(line []byte) bool { return bytes.HasSuffix(line, []byte(f.hint)) }
func (f *taker) Open() bool            { return f.left > 0 }
func (f *taker) Line(n int, line string) {
	f.got = append(f.got, fmt.Sprint(n, " ", line))
	if f.left > 0 {
		f.left--
	}
	if i := strings.Index(line, "open"); i >= 0 {
		fmt.Sscanf(line[i+len("open"):], "%d", &f.left)
	}
}

// naive passes each line of a text to a taker that wants it, and the lines
// before it.
func naive(text string, f *taker) int {
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	given := -1
	for i, line := range lines {
		if !f.Open() {
			if !strings.HasSuffix(strings.TrimRight(line, " "), f.hint) {
				continue
			}
			for j := max(given+1, i-Above); j < i; j++ {
				f.Line(j+1, lines[j][:min(len(lines[j]), maxAbove)])
			}
		}
		f.Line(i+1, line)
		given = i
	}
	return len(lines)
}

func takers() []*taker { return []*taker{{hint: "##"}, {hint: "dd"}} }

// TestScan compares Scan with reading line by line, for input in pieces of any
// size.
func TestScan(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		var text strings.Builder
		for range rnd.IntN(200) {
			switch rnd.IntN(12) {
			case 0:
				fmt.Fprintf(&text, "open%d ##", rnd.IntN(5))
			case 1:
				text.WriteString(strings.Repeat("a", rnd.IntN(blockSize)))
			case 2:
				text.WriteString("##")
			}
			text.WriteString([]string{"\n", "x\n", "#", "d", " \n\n"}[rnd.IntN(5)])
		}
		for name, in := range map[string]io.Reader{
			"whole": strings.NewReader(text.String()), "halves": iotest.HalfReader(strings.NewReader(text.String())),
			"with its end": iotest.DataErrReader(strings.NewReader(text.String())),
		} {
			got, want := takers(), takers()
			result, err := Scan(in, got[0], got[1])
			lines := 0
			for i := range want {
				lines = naive(text.String(), want[i])
				if !slices.Equal(got[i].got, want[i].got) {
					t.Fatalf("%s, taker %d: got %.200q, want %.200q", name, i, got[i].got, want[i].got)
				}
			}
			if err != nil || result.Lines != lines || result.Cut != 0 {
				t.Fatalf("%s: %+v, %v; want %d lines", name, result, err, lines)
			}
		}
	}
}

// TestScanByBytes reads byte by byte, as from a pipe.
func TestScanByBytes(t *testing.T) {
	const text = "a\nb ##\n\nopen2 ##\nc\nd\ne"
	f := takers()[0]
	if _, err := Scan(iotest.OneByteReader(strings.NewReader(text)), f); err != nil {
		t.Fatal(err)
	}
	if want := []string{"1 a", "2 b ##", "3 ", "4 open2 ##", "5 c", "6 d"}; !slices.Equal(f.got, want) {
		t.Errorf("got %q, want %q", f.got, want)
	}
}

// TestLongLines: the beginning of a line that is too long is used, the rest is
// dropped, and the next line has the right number.
func TestLongLines(t *testing.T) {
	for _, n := range []int{MaxLine - 4, MaxLine - 3, MaxLine - 2, MaxLine - 1, MaxLine, 3*MaxLine + 17} {
		long := strings.Repeat("b", n) + "##"
		f := &taker{hint: "##", left: 1}
		result, err := Scan(strings.NewReader(long+"\nc ##\nopen1 ##\nlast"), f)
		if err != nil {
			t.Fatal(err)
		}
		whole := len(long) <= MaxLine
		want := []string{"1 " + long[:min(len(long), MaxLine)], "2 c ##", "3 open1 ##", "4 last"}
		if len(f.got) != 4 || f.got[0] != want[0] || !slices.Equal(f.got[1:], want[1:]) {
			t.Errorf("%d: %d lines, the first of %d bytes, want %d; then %.60q", n, len(f.got), len(f.got[0]), len(want[0]), f.got[1:])
		}
		if result.Lines != 4 || (result.Cut == 0) != whole || !whole && result.First != 1 {
			t.Errorf("%d: %+v", n, result)
		}
	}
}

// TestTidy: lines are returned as a terminal shows them.
func TestTidy(t *testing.T) {
	for in, want := range map[string]string{
		"\ufeffa##": "a##", "a##\r": "a##", "1%\r2%\ra##": "a##", "a\x1b[1;31mb\x1b[0mc##": "abc##", "a##\x1b[0m  \x1b[0;0m": "a##  ",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\##": "link##", "\x1b]0;title\aa##": "a##", "a\x1bPq\x1b\\b##": "ab##", "\xff##": "\ufffd##",
	} {
		f := takers()[0]
		Scan(strings.NewReader(in+"\n"), f)
		if len(f.got) != 1 || f.got[0] != "1 "+want {
			t.Errorf("%q: got %q, want %q", in, f.got, want)
		}
	}
	for in, want := range map[string]string{"a\x1b[": "a", "a\x1b": "a", "\x1b]8;;": "", "\x1b(Ba": "a", "\x1b(": ""} {
		if got := tidy([]byte(in), false); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestScanError(t *testing.T) {
	broken := errors.New("broken")
	f := takers()[0]
	result, err := Scan(io.MultiReader(strings.NewReader("a\nb##\nc##"), iotest.ErrReader(broken)), f)
	if err != broken || result.Lines != 3 || len(f.got) != 3 {
		t.Errorf("%+v, %v, %q", result, err, f.got)
	}
}

// BenchmarkScan scans a log without any matching line.
func BenchmarkScan(b *testing.B) {
	line := "2025-01-22 15:37:32,123 - INFO - trainer - step 1234: loss 2.3456, lr 1.0e-04 (123.4 tokens/s) -- ok\n"
	text := bytes.Repeat([]byte(line), 64<<20/len(line))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		f := &taker{hint: "---"}
		result, err := Scan(bytes.NewReader(text), f)
		if err != nil || len(f.got) > 0 || result.Lines != len(text)/len(line) {
			b.Fatalf("%+v, %v, %d lines", result, err, len(f.got))
		}
	}
}
