package report

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
	if err := WriteJSON(&b, value); err != nil {
		t.Fatal(err)
	}
	line, err := JSONLine(value)
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
