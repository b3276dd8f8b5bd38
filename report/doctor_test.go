package report

import (
	"strings"
	"testing"

	"assay/report/doc"
)

// TestTicks: code of a text is code in Markdown, where nothing of it is escaped, and
// stands without marks on a screen.
func TestTicks(t *testing.T) {
	d := doc.Doc{Title: "T", Sections: []doc.Section{{Blocks: []doc.Block{doc.List{{Text: "Set `a_=[b]` and *c*, or `d|e`.", Ticks: true}}}}}}
	d.Screen = d.Sections
	if got, want := render(t, d.Markdown), "- Set `a_=[b]` and \\*c\\*, or `d\\|e`.\n"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	var b strings.Builder
	if err := d.Text(&b, 80); err != nil || strings.TrimSpace(b.String()) != "Set a_=[b] and *c*, or d|e." {
		t.Errorf("%v, %q", err, b.String())
	}
}
