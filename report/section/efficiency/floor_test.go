package efficiency

import (
	"strings"
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

// TestOneBandwidth: where each decode step has a floor by the model, its bandwidth is not stated a second time from the
// operators. The floor of one of two steps leaves the other's.
func TestOneBandwidth(t *testing.T) {
	n, share, hbm := int64(1_000_000), 0.5, 1000.
	row := func(unknown string) summary.EfficiencyDecode {
		return summary.EfficiencyDecode{Batch: 4, WallNS: 4 * n, GPUNS: 4 * n, WeightBytes: &n, KVReadBytes: &n, KVWrittenBytes: &n, GBPS: &hbm, Share: &share, ShareGPU: &share,
			DecodeFloor: summary.DecodeFloor{Model: &summary.DecodeModel{Type: "mixtral", Requests: 4, MemoryNS: &n, Unknown: unknown}}}
	}
	for _, tc := range []struct {
		rows  []summary.EfficiencyDecode
		twice bool
	}{
		{[]summary.EfficiencyDecode{row(""), row("")}, false},
		{[]summary.EfficiencyDecode{row(""), row(summary.FloorOver)}, true},
		{[]summary.EfficiencyDecode{{Batch: 4, WallNS: n, Unknown: summary.DecodeLengths}}, true},
	} {
		ctx := &section.Context{Summary: &summary.Summary{Efficiency: summary.Efficiency{Devices: []summary.EfficiencyDevice{{HBMGBPS: &hbm}}, Decode: tc.rows}}}
		if got := decode(ctx).Title != ""; got != tc.twice {
			t.Errorf("%+v: a section of the bandwidth: %v", tc.rows, got)
		}
		if got := Headline(ctx); strings.Contains(got, "decode at 50.0%") != (tc.twice && len(tc.rows) == 2) {
			t.Errorf("%s", got)
		}
	}
}
