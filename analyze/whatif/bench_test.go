package whatif_test

import (
	"path/filepath"
	"testing"

	"assay/analyze/whatif"
	"assay/internal/test"
	"assay/internal/test/captures"
	"assay/summary"
)

// BenchmarkTypical times what a report adds for the critical path and the forecasts of the largest
// traces of the corpus, and of the ranks of a job.
func BenchmarkTypical(b *testing.B) {
	ranks := test.Files(b, filepath.Join(test.Corpus(b, "ranks", "megatron_tp8_a100"), "rank*.json.gz"))
	for name, paths := range map[string][]string{
		"control": {test.Corpus(b, "kineto", "hta", "trace_diff", "control", "control.json.gz")},
		"nccl":    {test.Corpus(b, "kineto", "hta", "nccl_parser_config", "nccl_data.json.gz")},
		"tp8":     ranks,
	} {
		b.Run(name, func(b *testing.B) {
			var inputs []whatif.Input
			for i, path := range paths {
				in := captures.Load(b, path)
				inputs = append(inputs, whatif.Input{Trace: in.Trace, Index: i, Rank: in.Rank, Path: path})
			}
			b.ReportAllocs()
			for b.Loop() {
				var list []whatif.Ready
				for _, in := range inputs {
					list = append(list, whatif.Ready{Input: in, Graph: whatif.GraphOf(in.Trace, in.Rank, whatif.Question{})})
				}
				whatif.Typical(list, &summary.Summary{}, nil)
			}
		})
	}
}
