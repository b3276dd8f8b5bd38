package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// mixed is a log of a job that prints what several programs print: a panel of nvidia-smi,
// lines of NCCL, steps of a trainer, batches of a server, and a result.
func mixed() string {
	var b strings.Builder
	b.WriteString(`Tue Oct 29 19:00:23 2024
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|   0  NVIDIA L40S                    On  |   00000000:4A:00.0 Off |                    0 |
| N/A   53C    P0            305W /  350W |   11948MiB /  46068MiB |     93%      Default |
+-----------------------------------------------------------------------------------------+
`)
	b.WriteString("a:1:5 [0] NCCL INFO ncclCommInitRank comm 0xd0 rank 0 nranks 2 cudaDev 0 busId 4b000 commId 0x62 - Init COMPLETE\n")
	b.WriteString("server_args=Namespace(model='m', gpu_use='1 %', step=4)\n")
	for i := range 3 {
		fmt.Fprintf(&b, " iteration        %d/     100 | elapsed time per iteration (ms): %d.5 | lm loss: 1.0E+00 |\n", i+1, 100+i)
		fmt.Fprintf(&b, " 10%%|#  | 1/9 [00:01<00:09]\r[2026-01-04 05:01:1%d TP0] Decode batch, #running-req: %d, token usage: 0.50, gen throughput (token/s): 9.5, #queue-req: 0\n", i, i+3)
	}
	b.WriteString("============ Serving Benchmark Result ============\nSuccessful requests:                     5\nMean TTFT (ms):                          7.5\n==================================================\n")
	return b.String()
}

// TestSeveralKinds: one text has the records of several programs, and all are read.
func TestSeveralKinds(t *testing.T) {
	// Trap: several kinds in one file.
	in, err := loadString(t, mixed())
	if err != nil || in.Series == nil {
		t.Fatalf("%+v, %v", in, err)
	}
	got := map[string][]float64{}
	for _, s := range in.Series.Series {
		got[s.Metric.Name] = append(got[s.Metric.Name], s.Points.Value...)
	}
	for name, want := range map[string][]float64{
		"gpu.util": {0.93}, "gpu.power": {305}, "step.time": {100.5e6, 101.5e6, 102.5e6}, "requests.running": {3, 4, 5}, "kv_cache.usage": {0.5, 0.5, 0.5},
	} {
		if !slices.Equal(got[name], want) {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if len(in.Series.Groups) != 1 || in.Series.Groups[0].Size != 2 {
		t.Errorf("groups are %+v", in.Series.Groups)
	}
	if len(in.Series.Benchmarks) != 1 {
		t.Fatalf("%d results", len(in.Series.Benchmarks))
	}
	if v, ok := in.Series.Benchmarks[0].Figure("serving.ttft", "mean"); !ok || v != 7.5e6 {
		t.Errorf("%+v", in.Series.Benchmarks[0])
	}
}
