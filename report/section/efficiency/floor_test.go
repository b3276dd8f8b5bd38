package efficiency

import (
	"testing"

	"assay/report/section"
	"assay/summary"
)

// TestFloorLine: one sentence with the time that the hardware needs, or why it is not stated.
func TestFloorLine(t *testing.T) {
	ns := func(ms int64) *int64 { n := ms * 1_000_000; return &n }
	for _, tc := range []struct {
		model summary.DecodeModel
		want  string
	}{
		{summary.DecodeModel{MemoryNS: ns(2), ComputeNS: ns(1), CacheBytes: ns(1)},
			"Decode step: 8 ms (batch 4). Weights and KV cache need 2 ms at 3.35 TB/s: MBU 25.0%."},
		{summary.DecodeModel{MemoryNS: ns(2)}, "Decode step: 8 ms (batch 4). The weights alone need 2 ms at 3.35 TB/s: MBU at least 25.0%."},
		{summary.DecodeModel{MemoryNS: ns(2), ComputeNS: ns(4)}, "Decode step: 8 ms (batch 4). Its FLOPs need 4 ms at the peak: MFU 50.0%."},
		{summary.DecodeModel{MemoryNS: ns(16), Unknown: summary.FloorOver},
			"Decode floor: withheld, because llama needs 16 ms for a step of 8 ms: the model, the GPUs that divide it or the peak are not those of this run."},
		{summary.DecodeModel{Unknown: summary.FloorNoParallel},
			"Decode floor: unknown, because the capture communicates, and does not say how GPUs divide the model; give --parallel tp=N."},
	} {
		hbm := 3352.
		tc.model.Type, tc.model.Requests = "llama", 4
		s := &summary.Summary{Efficiency: summary.Efficiency{Devices: []summary.EfficiencyDevice{{HBMGBPS: &hbm}}}}
		for range 2 {
			s.Efficiency.Decode = append(s.Efficiency.Decode, summary.EfficiencyDecode{Name: "step", WallNS: *ns(8), DecodeFloor: summary.DecodeFloor{Model: &tc.model}})
		}
		if got := FloorLine(&section.Context{Summary: s}); got != tc.want {
			t.Errorf("got  %s\nwant %s", got, tc.want)
		}
	}
	if got := FloorLine(&section.Context{Summary: &summary.Summary{}}); got != "" {
		t.Errorf("without a model: %s", got)
	}
}
