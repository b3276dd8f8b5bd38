package report

import (
	"bytes"
	"io"
	"sync"
	"testing"

	"assay/internal/test/samplerun"
)

// TestSideBySide: the files of a report can be made at the same time, and are byte for
// byte those that are made one after another. With the race detector, it also finds what
// they share.
func TestSideBySide(t *testing.T) {
	const most = 10 // pictures, of a few runs
	tested := 0
	for name, s := range samplerun.All() {
		d := Build(s, judged(s))
		if len(d.Charts()) < most {
			continue // what they could share is in the largest reports, too
		}
		tested++
		forms := map[string]func(io.Writer) error{
			"JSON": d.WithoutDetails().RolledUp(false).JSON, "page": d.HTML, "Markdown": d.Markdown,
		}
		for _, c := range d.Charts() {
			forms[c.File()], forms[c.SVGFile()] = c.PNG, c.SVG
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		beside := map[string][]byte{}
		for form, write := range forms {
			all.Go(func() {
				var b bytes.Buffer
				if err := write(&b); err != nil {
					t.Errorf("%s: %s: %v", name, form, err)
				}
				mu.Lock()
				defer mu.Unlock()
				beside[form] = b.Bytes()
			})
		}
		all.Wait()
		for form, write := range forms {
			var b bytes.Buffer
			if err := write(&b); err != nil || !bytes.Equal(b.Bytes(), beside[form]) {
				t.Errorf("%s: %s: %d bytes alone, %d beside the others; %v", name, form, b.Len(), len(beside[form]), err)
			}
		}
	}
	if tested == 0 {
		t.Errorf("no run has %d pictures", most)
	}
}
