package trace

import (
	"fmt"
	"strings"
	"testing"
)

// TestRefs finds every row of a table by its Ref, also where begins and ends were paired to
// more rows than a segment has.
func TestRefs(t *testing.T) {
	const spans = 2*segmentRows + 100
	var b strings.Builder
	b.WriteString(`[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1}`)
	for i := range spans {
		fmt.Fprintf(&b, `,{"ph":"B","name":"a","pid":1,"tid":1,"ts":%d},{"ph":"E","pid":1,"tid":1,"ts":%d}`, 2*i, 2*i+1)
	}
	b.WriteString("]")
	tr, err := Read(strings.NewReader(b.String()), "spans.json", SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ref, s := range tr.Spans.Refs() {
		if tr.Spans.At(ref) != s {
			t.Fatalf("row %d is not found by its Ref %d", n, ref)
		}
		n++
	}
	if n != spans || tr.Spans.Len() != spans {
		t.Errorf("%d rows, and a length of %d, want %d", n, tr.Spans.Len(), spans)
	}
}
