package efficiency

import (
	"math"
	"testing"

	"assay/summary"
)

// TestDecodeOf: steps of one batch are means by time: 1,000 bytes in 10 ns and 2,000 in 30 ns are
// 75 GB/s, which is 75% of a memory of 100 GB/s, and 8 requests need 10 and 20 ns of it.
func TestDecodeOf(t *testing.T) {
	step := func(batch, bytes, wall, gpu int64) summary.EfficiencyDecode {
		weights, read, written := bytes-200, int64(150), int64(50)
		gbps := float64(bytes) / float64(wall)
		share, ofGPU, ceiling := gbps/100, float64(bytes)/float64(gpu)/100, float64(batch)*100e9/float64(bytes)
		return summary.EfficiencyDecode{Batch: batch, WeightBytes: &weights, KVReadBytes: &read, KVWrittenBytes: &written, WallNS: wall, GPUNS: gpu,
			GBPS: &gbps, Share: &share, ShareGPU: &ofGPU, CeilingTokensPerS: &ceiling}
	}
	s := &summary.Summary{}
	s.Efficiency.Decode = []summary.EfficiencyDecode{
		{Batch: 1, WallNS: 5, Unknown: summary.DecodeGraph},
		step(8, 1000, 10, 10), step(8, 2000, 30, 20),
		{Batch: 8, WallNS: 5, Unknown: summary.DecodeLengths},
	}
	list := DecodeOf(s)
	if len(list) != 2 || list[0].Batch != 8 || list[1].Batch != 1 {
		t.Fatalf("%+v: want 8 requests, which take longer, before 1", list)
	}
	d := list[0]
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-9*max(1, want) }
	if d.Steps != 3 || d.Known != 2 || d.Weights != 1300 || d.KV != 200 || d.WallNS != 20 || d.GPUNS != 15 || d.ShareReplay != 0 ||
		!near(d.GBPS, 75) || !near(d.Share, 0.75) || !near(d.ShareGPU, 1) || !near(d.Ceiling, 16/30e-9) {
		t.Errorf("%+v", d)
	}
	if len(d.Unknown) != 1 || d.Unknown[0] != (UnknownDecode{summary.DecodeLengths, 1}) || list[1].Known != 0 || list[1].Unknown[0].Reason != summary.DecodeGraph {
		t.Errorf("unknown are %+v and %+v", d.Unknown, list[1].Unknown)
	}
}
