package ingest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"assay/trace"
)

// BenchmarkText reads logs with all readers of texts: lines without values, and lines that
// have nothing else.
func BenchmarkText(b *testing.B) {
	const size = 64 << 20
	var plain, values bytes.Buffer
	for i := 0; plain.Len() < size; i++ {
		fmt.Fprintf(&plain, "2026-01-02 03:04:%02d,%03d INFO worker %d: loaded shard %d of the data set from /data/part-%05d.parquet in the background\n", i%60, i%1000, i%8, i, i)
		fmt.Fprintf(&plain, "[rank%d]:  step timing of the model: answer **%d** is {correct}, see \\boxed{%d} for the reasoning about the batch of prompts\n", i%8, i, i)
	}
	plain.WriteString("step:1 - timing_s/gen:5.5 - timing_s/step:9.0\n")
	for i := 0; values.Len() < size; i++ {
		fmt.Fprintf(&values, "[2026-01-04 05:%02d:%02d DP1 TP0 EP0] Decode batch, #running-req: %d, #token: %d, token usage: 0.%d, accept len: 2.66, accept rate: 0.66, cuda graph: True, gen throughput (token/s): %d.75, #queue-req: %d, \n",
			i/60%60, i%60, 90+i%7, 100608+i%99, 50+i%40, 1900+i%100, i%3)
	}
	for _, c := range []struct {
		name string
		text []byte
	}{{"plain", plain.Bytes()}, {"values", values.Bytes()}} {
		b.Run(c.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "run.log")
			if err := os.WriteFile(path, c.text, 0o644); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				f, err := Open(path, nil)
				if err != nil {
					b.Fatal(err)
				}
				in, err := Load(f, trace.SelectAll())
				if err != nil || in.Series == nil {
					b.Fatal(err)
				}
				f.Close()
			}
		})
	}
}
