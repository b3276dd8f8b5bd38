package analyze_test

import (
	"cmp"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/summary"
)

// floors has the least share of GPU time without communication for which FLOPs and bytes are
// known, in percent, of each trace of the corpus that has GPU work. Shares that fall are lost
// coverage; raise the floor where they rise.
var floors = map[string][2]float64{
	"hta/critical_path/alexnet/benchmark_result_2869224_1695835535_trace.json.gz":                                   {0, 0.9},
	"hta/critical_path/cuda_event_sync/event_sync_trace.json.gz":                                                    {0, 1.9},
	"hta/critical_path/cuda_event_sync_multi_stream/event_sync_trace.json.gz":                                       {0, 0},
	"hta/critical_path/end_to_end/simple_add/input/trace.json.gz":                                                   {0, 1.3},
	"hta/critical_path/end_to_end/simple_add/output/overlaid_critical_path_trace.json.gz":                           {0, 1.3},
	"hta/critical_path/simple_add/benchmark_result_493459_1694039959_trace.json.gz":                                 {0, 1.3},
	"hta/nccl_parser_config/nccl_data.json.gz":                                                                      {0, 19.6},
	"hta/timeline_analysis/sampled_rank-0.json.gz":                                                                  {60.3, 50},
	"hta/trace_diff/control/control.json.gz":                                                                        {75.6, 65.4},
	"hta/trace_diff/test/test.json.gz":                                                                              {38.7, 33.8},
	"tracelens/h100/Falconsai_nsfw_image_detection__1016002.json.gz":                                                {99.9, 99.9},
	"tracelens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz":                                                        {69.8, 69.8},
	"tracelens/h100/gaunernst_bert-small-uncased__1016001.json.gz":                                                  {99.9, 99.9},
	"tracelens/inference/sglang_decode/capture_traces/bs_32_rank0.json.gz":                                          {99.9, 99.9},
	"tracelens/inference/sglang_decode/sglang_Qwen3-8B_decode.json.gz":                                              {1, 1},
	"tracelens/inference/vllm_decode_full/capture_traces/graph_capture_rank_0.1773709742341309550.pt.trace.json.gz": {99.9, 85.9},
	"tracelens/inference/vllm_decode_full/graph_execution.json.gz":                                                  {3, 2.9},
	"tracelens/mi210/gpu_only_trace/gpu_only_trace.json.gz":                                                         {0, 0},
	"tracelens/mi300/Falconsai_nsfw_image_detection__1016002.json.gz":                                               {99.9, 99.9},
	"tracelens/mi300/gaunernst_bert-small-uncased__1016001.json.gz":                                                 {99.9, 99.9},
	"tracelens/mi300/resnet_act_checkpoint.json.gz":                                                                 {73.4, 73.4},
	"tracelens/perf_model/normalization/normalization_layer_test.json.gz":                                           {99.9, 99.9},
	"tracelens/torch_compile_triton/trace.json.gz":                                                                  {93.2, 99.9},
}

// TestCoverage prints for each trace the shares of GPU time with known FLOPs and bytes, and the
// operators with the most time without (-v), and compares the shares with their floors.
func TestCoverage(t *testing.T) {
	root := test.Corpus(t, "kineto")
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		if err != nil || !strings.HasSuffix(name, ".json.gz") {
			return err
		}
		s := efficiencyOf(t, path)
		sums := s.Efficiency.Total()
		work := sums.GPUNS - sums.CommNS
		floor, listed := floors[filepath.ToSlash(name)]
		if work <= 0 {
			if listed {
				t.Errorf("%s: no GPU work", name)
			}
			return nil
		}
		seen++
		share := func(ns int64) float64 { return 100 * float64(ns) / float64(work) }
		flops, bytes := share(sums.FLOPsKnownNS), share(sums.BytesKnownNS)
		t.Logf("%s: FLOPs of %.2f%%, bytes of %.2f%%; no operator: %.2f%%", name, flops, bytes, share(sums.NoOperatorNS))
		for _, u := range unknownRows(s) {
			t.Logf("  %6.2f%% %s: %s (%s)", share(u.GPUNS), u.Op, u.Unknown, u.Kernel)
		}
		if !listed || flops < floor[0] || bytes < floor[1] {
			t.Errorf("%s: FLOPs of %.2f%% and bytes of %.2f%% are known, want at least %v", name, flops, bytes, floor)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen != len(floors) {
		t.Errorf("%d traces have GPU work, want %d", seen, len(floors))
	}
}

// unknownRows returns the ten operators with the most time without known FLOPs or bytes, but
// for communication.
func unknownRows(s *summary.Summary) (out []summary.EfficiencyRow) {
	for _, r := range s.Efficiency.Rows {
		if r.FLOPs != nil && r.Bytes != nil || r.Unknown == "communication" {
			continue
		}
		at := slices.IndexFunc(out, func(o summary.EfficiencyRow) bool { return o.Op == r.Op && o.Unknown == r.Unknown })
		if at < 0 {
			at, out = len(out), append(out, summary.EfficiencyRow{Op: r.Op, Unknown: r.Unknown, Kernel: r.Kernel[:min(len(r.Kernel), 100)]})
		}
		out[at].GPUNS = summary.Plus(out[at].GPUNS, r.GPUNS)
	}
	slices.SortFunc(out, func(a, b summary.EfficiencyRow) int { return cmp.Compare(b.GPUNS, a.GPUNS) })
	return out[:min(len(out), 10)]
}
