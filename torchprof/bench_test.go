package torchprof

import (
	"os"
	"strings"
	"testing"
)

// BenchmarkRead reads tables. The lines of a log between them are handled by
// package textscan.
func BenchmarkRead(b *testing.B) {
	one, err := os.ReadFile(made + "/SYNTHETIC_interleaved_log.txt")
	if err != nil {
		b.Fatal(err)
	}
	const tables = 900
	text := strings.Repeat(string(one), tables)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		got, err := Read(strings.NewReader(text), "in", Limits{})
		if err != nil || len(got.List) != 3*tables || got.Records != 8*tables {
			b.Fatalf("%d tables, %d rows, %v", len(got.List), got.Records, err)
		}
	}
}
