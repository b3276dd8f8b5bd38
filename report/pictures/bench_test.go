package pictures

import (
	"io"
	"testing"

	"assay/internal/test/samplerun"
	"assay/judge"
)

// BenchmarkPNG draws and writes each picture of a training run, one after another.
func BenchmarkPNG(b *testing.B) {
	for _, c := range Of(samplerun.All()["train"], judge.Result{}) {
		b.Run(c.Name, func(b *testing.B) {
			var n int64
			for b.Loop() {
				var size counter
				if err := c.PNG(&size); err != nil {
					b.Fatal(err)
				}
				n = int64(size)
			}
			b.ReportMetric(float64(n), "file-B")
		})
	}
}

// A counter counts the bytes that are written.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return io.Discard.Write(p)
}
