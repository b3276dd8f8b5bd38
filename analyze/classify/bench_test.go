package classify

import "testing"

// BenchmarkDefault builds the built-in rules, including everything needed for a
// first name.
func BenchmarkDefault(b *testing.B) {
	for b.Loop() {
		r := newRules(builtInRules)
		r.base()
		r.full()
	}
}

// BenchmarkKernel classifies the names of a table: with rules that have seen
// such names before, and with new rules, as in a process that reads one trace.
func BenchmarkKernel(b *testing.B) {
	rows := readTable(b, "testdata/kernels.tsv")
	size := 0
	for _, r := range rows {
		size += len(r.name)
	}
	all := func(b *testing.B, rules *Rules) {
		for _, r := range rows {
			if rules.Kernel(r.name).Rule == "" {
				b.Fatal("no rule")
			}
		}
	}
	for _, bench := range []struct {
		name  string
		rules func() *Rules
	}{
		{"warm", Default},
		{"cold", func() *Rules { return newRules(builtInRules) }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				all(b, bench.rules())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(rows)), "ns/name")
		})
	}
}

// BenchmarkParse reads rules from a file.
func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		mustParse(b, kernelsYAML)
	}
}
