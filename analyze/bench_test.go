package analyze_test

import (
	"bytes"
	"testing"

	"assay/analyze"
	"assay/internal/test"
	"assay/summary"
	"assay/trace"
)

// BenchmarkTrace reads the largest trace of the corpus, and measures it: the
// second is to take at most half of the first.
func BenchmarkTrace(b *testing.B) {
	data := test.Unpacked(b, test.Corpus(b, "kineto", "hta", "trace_diff", "control", "control.json.gz"))
	var (
		t   *trace.Trace
		err error
	)
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if t, err = trace.Read(bytes.NewReader(data), "", analyze.Needs()); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, one := range []struct {
		name string
		opt  analyze.Options
	}{{"measure", analyze.DefaultOptions()}, {"measure with details", detailed(0)}} {
		b.Run(one.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if s := analyze.Trace(t, summary.Input{}, one.opt); len(s.Ops) == 0 {
					b.Fatal("nothing was measured")
				}
			}
		})
	}
}
