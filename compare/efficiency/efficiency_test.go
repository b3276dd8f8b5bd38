package efficiency_test

import (
	"math"
	"testing"

	"assay/compare/efficiency"
	"assay/internal/test/samplerun"
	"assay/summary"
)

// TestOf: of eight ranks the mm takes 28 ms more in 8 × 48 calls; everything else is as
// fast as on one. Other peaks are not compared.
func TestOf(t *testing.T) {
	one, eight := samplerun.Efficient(), samplerun.EfficientRanks(8)
	c := efficiency.Of(one, eight)
	if c == nil || len(c.Ops) != 7 {
		t.Fatalf("the comparison is %+v, want one of seven operators", c)
	}
	if o := c.Ops[0]; o.Op != "aten::mm" || o.EffectNS != 28*samplerun.MS || o.Base.Count != 48 || o.New.Count != 8*48 {
		t.Errorf("the largest effect is of %+v", o)
	}
	for _, o := range c.Ops[1:] {
		if o.EffectNS != 0 {
			t.Errorf("%s has an effect of %d ns", o.Op, o.EffectNS)
		}
	}
	if c.Base.MFU == nil || c.New.MFU == nil || *c.Base.MFU < *c.New.MFU-1e-12 || *c.Base.MFU > *c.New.MFU+1e-12 {
		t.Errorf("MFU is %v and %v, want equal ones", c.Base.MFU, c.New.MFU)
	}
	// 4 of 14 ms have no known FLOPs: at the peak they would add 4.002312 ms to a window of 20 ms.
	if r := c.MFU.Base; r == nil || r.Least != *c.Base.MFU || math.Abs(r.Most-r.Least-4_002_312./20_000_000) > 1e-12 || c.MFU.New == nil || math.Abs(c.MFU.New.Least-r.Least) > 1e-12 {
		t.Errorf("the limits of MFU are %+v and %+v", c.MFU.Base, c.MFU.New)
	}
	if c.HFU.Base == nil || *c.HFU.Base != *c.MFU.Base {
		t.Errorf("without recomputation HFU is %+v", c.HFU.Base)
	}
	back := efficiency.Of(eight, one)
	if back == nil || back.Ops[0].EffectNS != -28*samplerun.MS/8 {
		t.Errorf("in the other direction the largest effect is %+v", back)
	}
	one.Idle = append(one.Idle, summary.Idle{Device: one.Efficiency.Devices[0].Device, Owner: summary.OwnerNotRecorded, NS: 2 * samplerun.MS})
	if r := efficiency.Of(one, eight).MFU.Base; math.Abs(r.Most-r.Least-6_002_312./20_000_000) > 1e-12 || r.UnrecordedNS != 2*samplerun.MS {
		t.Errorf("with 2 ms of work that was not recorded the limits of MFU are %+v", r)
	}
	if efficiency.OtherPeaks(one, eight) {
		t.Error("equal peaks differ")
	}
	eight.Efficiency.Devices[7].PeakTFLOPS = map[string]float64{"bf16": 312}
	if efficiency.Of(one, eight) != nil || !efficiency.OtherPeaks(one, eight) {
		t.Error("runs with other peaks are compared")
	}
	one.Efficiency.Devices = nil
	if efficiency.Of(one, one) != nil || efficiency.OtherPeaks(one, eight) {
		t.Error("runs without GPUs are compared, or differ in peaks only")
	}
}
