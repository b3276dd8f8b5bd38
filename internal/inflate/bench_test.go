package inflate

import (
	"bytes"
	stdgzip "compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"assay/internal/test"
)

// BenchmarkInflate compares this package with two others on the largest traces
// of the corpus, and on the file named by ASSAY_BIG.
func BenchmarkInflate(b *testing.B) {
	const (
		vllm   = "kineto/tracelens/inference/vllm_decode_full/capture_traces/graph_capture_rank_0.1773709742341309550.pt.trace.json.gz"
		sglang = "kineto/tracelens/inference/sglang_decode/capture_traces/bs_32_rank0.json.gz"
	)
	files := []string{
		test.Corpus(b, "kineto/hta/trace_diff/control/control.json.gz"),
		test.Corpus(b, vllm),
		test.Corpus(b, sglang),
		test.Corpus(b, "kineto/tracelens/mi300/resnet_act_checkpoint.json.gz"),
	}
	if big := os.Getenv("ASSAY_BIG"); big != "" {
		files = append(files, big)
	}
	for _, f := range files {
		packed, err := os.ReadFile(f)
		if err != nil {
			b.Log(err)
			continue
		}
		b.Run(filepath.Base(f)[:7], func(b *testing.B) { race(b, packed) })
	}
}

// race reads packed with each of the readers, in turns.
func race(b *testing.B, packed []byte) {
	readers := []func(io.Reader) (io.Reader, error){
		func(r io.Reader) (io.Reader, error) { return NewReader(r), nil },
		func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		func(r io.Reader) (io.Reader, error) { return stdgzip.NewReader(r) },
	}
	size, err := io.Copy(io.Discard, NewReader(bytes.NewReader(packed)))
	if err != nil {
		b.Fatal(err)
	}
	best := make([]float64, len(readers)) // MB/s
	buf := make([]byte, 256<<10)
	for b.Loop() {
		for i, open := range readers {
			start := time.Now()
			z, err := open(bytes.NewReader(packed))
			if err != nil {
				b.Fatal(err)
			}
			// Only Read is used, as a parser does.
			n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{z}, buf)
			if n != size || err != nil {
				b.Fatalf("%d bytes of %d, %v", n, size, err)
			}
			best[i] = max(best[i], float64(size)/1e6/time.Since(start).Seconds())
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(best[0], "MB/s")
	b.ReportMetric(best[0]/best[1], "x-klauspost")
	b.ReportMetric(best[0]/best[2], "x-std")
}
