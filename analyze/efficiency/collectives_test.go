package efficiency

import (
	"testing"

	"assay/analyze/efficiency/hardware"
	"assay/analyze/gpu"
	"assay/analyze/ranks/collective"
	"assay/summary"
	"assay/trace"
)

// TestCollectives: two all-reduces of 1e9 elements of bf16 over 4 ranks that take 10 ms and
// 30 ms move 100 GB/s, which is 150 GB/s on the links. What has no size is left out.
func TestCollectives(t *testing.T) {
	o := &Owners{t: &trace.Trace{Meta: trace.Meta{Devices: map[int64]string{0: "NVIDIA H100 80GB HBM3", 1: "NVIDIA H100 80GB HBM3", 2: "", 3: ""}}}}
	c := &collective.Columns{
		Whats:  []collective.What{{Op: collective.AllReduce, Dtype: "BFloat16", In: 1e9, Out: 1e9}, {Op: collective.AllReduce, In: -1, Out: -1}},
		Groups: []collective.Group{{Ranks: "[0, 1, 2, 3]", Size: 4}},
		Runs:   []collective.Run{{Start: 0, End: 10e6}, {Start: 20e6, End: 50e6}, {Start: 60e6, End: 70e6, What: 1}},
	}
	s := new(summary.Summary)
	o.Collectives(s, &gpu.Device{}, c, hardware.Catalog{}, 3)
	if len(s.Efficiency.Transfers) != 1 {
		t.Fatalf("%+v, want one row", s.Efficiency.Transfers)
	}
	r := s.Efficiency.Transfers[0]
	if r.Count != 2 || r.NS != 40e6 || r.Bytes != 4e9 || *r.AlgGBPS != 100 || *r.BusGBPS != 150 || r.Rank != 3 || !r.Lower || r.PeakGBPS == nil || *r.PeakGBPS != 450 {
		t.Errorf("%+v, algbw %v, busbw %v", r, *r.AlgGBPS, *r.BusGBPS)
	}
}

// TestOneMachine: only ranks that are known to be neighbors use the links of one machine.
func TestOneMachine(t *testing.T) {
	for _, tt := range []struct {
		ranks      string
		size, gpus int
		want       bool
	}{
		{"[0, 1]", 2, 8, true}, {"[8, 15]", 2, 8, true}, {"[0, 8]", 2, 8, false}, {"[0, 1, ...]", 16, 8, false},
		{"[0, 1]", 4, 8, false}, {"", 2, 8, false}, {"[0, 1]", 2, 1, false}, {"[-1, 0]", 2, 8, false},
	} {
		if got := oneMachine(tt.ranks, tt.size, tt.gpus); got != tt.want {
			t.Errorf("ranks %q of %d, %d GPUs: %v, want %v", tt.ranks, tt.size, tt.gpus, got, tt.want)
		}
	}
}
