package counters_test

import (
	"testing"

	"assay/analyze"
	"assay/nsys/ncu"
)

// TestByShape: bytes and operations of a shape are sums over its launches, and unknown if one
// of them does not have them. A launch without a grid has no shape.
func TestByShape(t *testing.T) {
	of := func(bytes, ops float64) map[ncu.Quantity]float64 {
		m := map[ncu.Quantity]float64{ncu.Duration: 1000}
		if bytes > 0 {
			m[ncu.DRAMBytes] = bytes
		}
		if ops > 0 {
			m[ncu.TensorOps] = ops
		}
		return m
	}
	s := countersOf(t, analyze.DefaultOptions(),
		fake{kernel: "k", count: 2, grid: 8, figures: of(100, 7)}, fake{kernel: "k", count: 1, grid: 8, figures: of(50, 9)},
		fake{kernel: "k", count: 1, grid: 16, figures: of(400, 5)}, fake{kernel: "k", count: 1, grid: 16, figures: of(0, 5)},
		fake{kernel: "k", count: 1, grid: 0, figures: of(1, 1)}, fake{kernel: "k", count: 1, grid: 32, figures: of(0, 0)})
	if len(s.Counters) != 1 || len(s.Counters[0].ByShape) != 2 {
		t.Fatalf("got %+v", s.Counters)
	}
	first, second := s.Counters[0].ByShape[0], s.Counters[0].ByShape[1]
	if first.Grid != [3]int64{8, 1, 1} || first.Block != [3]int64{32, 1, 1} || first.Launches != 3 || *first.DRAMBytes != 250 || first.FLOPs["tensor"] != 23 || len(first.FLOPs) != 1 {
		t.Errorf("grid 8: %+v", first)
	}
	if second.Launches != 2 || second.DRAMBytes != nil || second.FLOPs["tensor"] != 10 {
		t.Errorf("grid 16: %+v", second)
	}
}
