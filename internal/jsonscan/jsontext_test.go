package jsonscan

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// TestJSONPrints: no JSON has a character that a terminal obeys or that turns text,
// in objects, in lists of one line and in a line of a record; decoded it is the same.
func TestJSONPrints(t *testing.T) {
	const text = "a\u202eb\u2066c\u2069d\u200fe\x7ff\u0085g\U000e0001h\ufeffi"
	value := map[string]any{"key" + text: []string{text, text}, "in": map[string]string{"x": text}}
	var b bytes.Buffer
	if err := Write(&b, value); err != nil {
		t.Fatal(err)
	}
	line, err := Line(value)
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{b.String(), string(line)} {
		if strings.ContainsFunc(out, func(r rune) bool { return r > 0x7e }) {
			t.Errorf("%q", out)
		}
		var back struct{ In map[string]string }
		if err := json.Unmarshal([]byte(out), &back); err != nil || back.In["x"] != text {
			t.Errorf("%q, %v", back.In, err)
		}
	}
}

// indent returns the layout of compact JSON.
func indent(compact []byte, rows bool) []byte {
	var out bytes.Buffer
	p := newPrinter(&out, rows)
	p.print(compact)
	p.flush()
	return out.Bytes()
}

// TestLayout: what is laid out is the same but for white space, and lists of scalars are
// in one line.
func TestLayout(t *testing.T) {
	for _, in := range []string{`{}`, `{"a":[],"b":{},"c":[[],[1,2],{"d":"x,]}\"[{"}],"e":["p","q"],"f":null}`, `[1,"]",[2]]`, `"x"`, `[]`} {
		var compact, again bytes.Buffer
		if err := json.Compact(&compact, []byte(in)); err != nil {
			t.Fatal(err)
		}
		for _, rows := range []bool{false, true} {
			again.Reset()
			if err := json.Compact(&again, indent(compact.Bytes(), rows)); err != nil || again.String() != compact.String() {
				t.Errorf("%s is laid out as %s, %v", compact.String(), indent(compact.Bytes(), rows), err)
			}
		}
	}
	if got, want := string(indent([]byte(`{"a":[1,2],"b":[{"c":"x"}]}`), false)), "{\n  \"a\": [1, 2],\n  \"b\": [\n    {\n      \"c\": \"x\"\n    }\n  ]\n}"; got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

// TestWriteRows: objects that hold only scalars are in one line each, others are as before.
func TestWriteRows(t *testing.T) {
	var got bytes.Buffer
	row := map[string]any{"c": "x:,}", "d": 1}
	err := WriteRows(&got, struct {
		A []int            `json:"a"`
		B []map[string]any `json:"b"`
		E map[string]any   `json:"e"`
	}{[]int{1, 2}, []map[string]any{row, row}, map[string]any{"f": []int{3}, "g": map[string]int{}}})
	want := "{\n  \"a\": [1, 2],\n  \"b\": [\n    {\"c\": \"x:,}\", \"d\": 1},\n    {\"c\": \"x:,}\", \"d\": 1}\n  ],\n  \"e\": {\n    \"f\": [3],\n    \"g\": {}\n  }\n}\n"
	if err != nil || got.String() != want {
		t.Errorf("got\n%s, want\n%s, %v", got.String(), want, err)
	}
}
