package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// behind is the text that follows a value in a document, so that a literal has
// an end.
const behind = ","

func TestSkip(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{}`, ""}, {`[]`, ""}, {`""`, ""}, {`0`, ""}, {`-1.5e+3`, ""}, {`true`, ""}, {`null`, ""},
		{`{"a":[1,{"b":"}"}],"c":"\""}`, ""},
		{"{ \"a\"\n:\t1 , \"b\" : [ ] }", ""},
		// Values that profilers write and JSON does not permit.
		{`[NaN,Infinity,-Infinity,inf,-inf,nan]`, ""},
		{`[1,]`, ""}, {`{"a":1,}`, ""},
		{"\"tab\tand\x01 and \xff\"", ""}, {`"torch\cuda"`, ""},
		// Invalid values.
		{`[1 2]`, `3: want a comma or ], got '2'`},
		{`{"a" 1}`, `5: want a colon, got '1'`},
		{`{a:1}`, `1: want a quoted key, got 'a'`},
		{`{"a":}`, `5: want a value, got '}'`},
		{`[,1]`, `1: want a value, got ','`},
		{`{"name": "{"device": 1}`, `12: want a comma or }, got 'd'`},
		{`[True]`, `1: want a value, got 'T'`},
		{`[-x]`, `1: want a value, got '-'`},
	} {
		n, err := Skip([]byte(tt.in+behind), 0)
		got := ""
		if err != nil {
			got = err.Error()
			if se := (*SyntaxError)(nil); errors.As(err, &se) {
				got = fmt.Sprintf("%d: %v", se.At, err)
			}
		}
		if got != tt.want {
			t.Errorf("Skip(%s) error = %q, want %q", tt.in, got, tt.want)
		} else if err == nil && n != len(tt.in) {
			t.Errorf("Skip(%s) = %d, want %d", tt.in, n, len(tt.in))
		}
	}
}

// TestDepth: nesting of any depth uses no stack.
func TestDepth(t *testing.T) {
	const levels = 1 << 20
	deep := strings.Repeat("[", levels) + strings.Repeat("]", levels)
	if n, err := Skip([]byte(deep), 0); err != nil || n != len(deep) {
		t.Errorf("%d levels: %d, %v", levels, n, err)
	}
	if _, err := Skip([]byte(deep[:levels]), 0); err != ErrShort {
		t.Errorf("a million open brackets: %v, want %v", err, ErrShort)
	}
}

// TestWords compares the search of eight bytes at a time with a search of
// single bytes, on text with many bytes similar to the wanted ones.
func TestWords(t *testing.T) {
	const alphabet = "\"\\[]{}yY_\x7f\x5c\x22\x23\x21\xa2\xdc\xfb\x00a"
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 20000 {
		b := make([]byte, rnd.IntN(40))
		for i := range b {
			b[i] = alphabet[rnd.IntN(len(alphabet))]
			if rnd.IntN(3) > 0 {
				b[i] = 'a'
			}
		}
		i := rnd.IntN(len(b) + 1)
		want := len(b)
		if at := indexAny(b[i:], `"\`); at >= 0 {
			want = i + at
		}
		if got := quoteOrBackslash(b, i); got != want {
			t.Fatalf("quoteOrBackslash(%q, %d) = %d, want %d", b, i, got, want)
		}
		b = append([]byte("["), b...)
		end, err := balanced(b, 0)
		if wantEnd, wantErr := balancedSlow(b); end != wantEnd || err != wantErr {
			t.Fatalf("balanced(%q) = %d, %v, want %d, %v", b, end, err, wantEnd, wantErr)
		}
	}
}

// balancedSlow is balanced, a byte at a time.
func balancedSlow(b []byte) (int, error) {
	depth, quoted, escaped := 0, false, false
	for i, c := range b {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == '[', c == '{':
			depth++
		case c == ']', c == '}':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		}
	}
	return len(b), ErrShort
}

// TestPrefixesAreShort checks the guarantee of ErrShort on valid documents:
// every prefix is short, the whole document is not.
func TestPrefixesAreShort(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		doc := randomValue(rnd, 4)
		if !json.Valid(doc) {
			t.Fatalf("the generator wrote %s, which is not JSON", doc)
		}
		for n := range doc {
			if _, err := Skip(doc[:n], 0); err != ErrShort {
				t.Fatalf("Skip(%s) = %v, want %v", doc[:n], err, ErrShort)
			}
		}
		if n, err := Skip(append(doc, behind...), 0); err != nil || n != len(doc) {
			t.Fatalf("Skip(%s) = %d, %v", doc, n, err)
		}
	}
}

// TestWalk compares what Walk finds with encoding/json.
func TestWalk(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		doc := randomObject(rnd, 3)
		var want map[string]json.RawMessage
		if err := json.Unmarshal(doc, &want); err != nil {
			t.Fatal(err)
		}
		got := map[string]json.RawMessage{}
		m := Walk(doc, 0)
		for m.Next() {
			var key string
			if err := json.Unmarshal(fmt.Appendf(nil, "%q", m.Key().Of(doc)), &key); err != nil {
				t.Fatal(err)
			}
			got[key] = m.Value().Of(doc)
		}
		if m.Err() != nil || m.End() != len(doc) {
			t.Fatalf("Walk(%s) ended at %d with %v", doc, m.End(), m.Err())
		}
		if len(got) != len(want) {
			t.Fatalf("Walk(%s): %d members, want %d", doc, len(got), len(want))
		}
		for k, v := range want {
			if !bytes.Equal(bytes.TrimSpace(v), got[k]) {
				t.Errorf("Walk(%s)[%q] = %s, want %s", doc, k, got[k], v)
			}
		}
	}
}

func TestUnquote(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`plain`, `plain`}, {`a\"b\\c\/d`, `a"b\c/d`}, {`\b\f\n\r\t`, "\b\f\n\r\t"},
		{`\u00e9\u4e2d`, "é中"}, {`\ud83d\ude00`, "😀"}, {`\ud83d!`, "\ufffd!"},
		{`torch\cuda\__init__.py`, `torch\cuda\__init__.py`}, {`\u12`, `\u12`}, {`\uzzzz`, `\uzzzz`}, {`end\`, `end\`},
	} {
		if got := string(Unquote(nil, []byte(tt.in))); got != tt.want {
			t.Errorf("Unquote(%s) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestStream reads values that straddle the window in every way: one byte at a
// time, and longer than the first buffer.
func TestStream(t *testing.T) {
	long := `{"s":"` + strings.Repeat("x", 600<<10) + `"}`
	doc := "  " + `{"a":1}` + long + ` 12 "é" [1,2]` + "17"
	want := []string{`{"a":1}`, long, `12`, `"é"`, `[1,2]`, `17`}
	for name, r := range map[string]io.Reader{
		"whole":       strings.NewReader(doc),
		"one byte":    iotest.OneByteReader(strings.NewReader(doc)),
		"data at EOF": iotest.DataErrReader(strings.NewReader(doc)),
	} {
		s := NewStream(r, 1<<20)
		for i, w := range want {
			if _, ok := s.Peek(); !ok {
				t.Fatalf("%s: value %d: no more input", name, i)
			}
			if at := strings.Index(doc, w); s.Offset() != int64(at) {
				t.Errorf("%s: value %d at offset %d, want %d", name, i, s.Offset(), at)
			}
			n, err := s.Value()
			if err != nil || string(s.Window()[:n]) != w {
				t.Fatalf("%s: value %d = %.20q…, %v", name, i, s.Window()[:n], err)
			}
			s.Advance(n)
		}
		if _, ok := s.Peek(); ok || s.Err() != nil {
			t.Errorf("%s: input goes on, or ended with %v", name, s.Err())
		}
	}
}

func TestStreamLimits(t *testing.T) {
	s := NewStream(strings.NewReader(`"`+strings.Repeat("x", 2<<20)+`"`), 1<<20)
	if _, err := s.Value(); !errors.Is(err, ErrTooLong) {
		t.Errorf("a value over the limit: %v, want %v", err, ErrTooLong)
	}
	s = NewStream(strings.NewReader(`{"a":`), 1<<20)
	if _, err := s.Value(); err != ErrShort {
		t.Errorf("an input that ends inside a value: %v, want %v", err, ErrShort)
	}
	broken := errors.New("disk error")
	s = NewStream(io.MultiReader(strings.NewReader(`{"a"`), iotest.ErrReader(broken)), 1<<20)
	if _, err := s.Value(); err != ErrShort || s.Err() != broken {
		t.Errorf("an input that breaks: %v and %v, want %v and %v", err, s.Err(), ErrShort, broken)
	}
}

// TestDiscard checks that Discard and Value agree about where values end,
// however the input arrives.
func TestDiscard(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		doc := append(randomValue(rnd, 4), behind...)
		for _, r := range []io.Reader{bytes.NewReader(doc), iotest.OneByteReader(bytes.NewReader(doc))} {
			s := NewStream(r, 1<<20)
			if _, ok := s.Peek(); !ok {
				t.Fatal("empty")
			}
			if err := s.Discard(); err != nil || s.Offset() != int64(len(doc)-1) {
				t.Fatalf("Discard(%s) ended at %d with %v", doc, s.Offset(), err)
			}
		}
	}
}

func randomValue(rnd *rand.Rand, depth int) []byte {
	switch k := rnd.IntN(4); {
	case k == 0 && depth > 0:
		out := []byte("[")
		for i := range rnd.IntN(4) {
			if i > 0 {
				out = append(out, " ,\n"...)
			}
			out = append(out, randomValue(rnd, depth-1)...)
		}
		return append(out, ']')
	case k <= 1 && depth > 0:
		return randomObject(rnd, depth-1)
	}
	return []byte([]string{`"x\"{[,\\"`, `""`, `"é"`, `{}`, `[]`}[rnd.IntN(5)])
}

func randomObject(rnd *rand.Rand, depth int) []byte {
	out := []byte("{")
	for i := range rnd.IntN(4) {
		if i > 0 {
			out = append(out, ", "...)
		}
		out = fmt.Appendf(out, `"k%d" : %s`, i, randomValue(rnd, depth))
	}
	return append(out, '}')
}

// FuzzSkip checks the guarantees for any input: Skip terminates, does not
// panic, accepts what encoding/json accepts, and a result other than ErrShort
// does not change when more bytes follow.
func FuzzSkip(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"x\u00e9",null]}`, `{"a":inf,}`, `[[[[`, `"\`, `-`, `{"a" "b"}`} {
		f.Add([]byte(seed), []byte(`,"z"]}`))
	}
	f.Fuzz(func(t *testing.T, b, more []byte) {
		if len(b) == 0 {
			return
		}
		n, err := Skip(b, 0)
		if n < 0 || err == nil && n > len(b) {
			t.Fatalf("Skip(%q) = %d", b, n)
		}
		if err != ErrShort {
			n2, err2 := Skip(append(b[:len(b):len(b)], more...), 0)
			if n2 != n || (err == nil) != (err2 == nil) {
				t.Fatalf("Skip(%q) = %d, %v; with %q behind: %d, %v", b, n, err, more, n2, err2)
			}
		}
		if (b[0] == '{' || b[0] == '[' || b[0] == '"') && json.Valid(b) {
			if trimmed := bytes.TrimRight(b, " \n\r\t"); err != nil || n != len(trimmed) {
				t.Fatalf("Skip(%q) = %d, %v; it is valid JSON", b, n, err)
			}
		}
	})
}

// indexAny is bytes.IndexAny for single bytes: it does not decode UTF-8.
func indexAny(b []byte, chars string) int {
	return bytes.IndexFunc([]byte(b), func(r rune) bool { return r < 0x80 && strings.ContainsRune(chars, r) })
}
