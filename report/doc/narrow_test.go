package doc

import (
	"strings"
	"testing"
)

// TestNarrowedSaysSo: a table without its last columns says how many there are, as text and as
// Markdown; a table that fits says nothing.
func TestNarrowedSaysSo(t *testing.T) {
	wide := Table{Title: "things", Columns: []Column{Col("a", Text), Col("b", Number), Col("c", Number)}, Rows: []Row{{Cells: []string{strings.Repeat("x", 30), "1", "2"}}}}
	for width, want := range map[int]string{34: "2 more columns in the report", 36: "1 more column in the report", 40: ""} {
		var text strings.Builder
		textTable(&text, wide.Narrow(width), "  ", 80)
		if got := strings.Contains(text.String(), "more column"); got != (want != "") || !strings.Contains(text.String(), want) {
			t.Errorf("width %d: %q, want %q", width, text.String(), want)
		}
	}
}
