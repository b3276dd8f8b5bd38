package layers

import (
	"testing"

	"assay/summary"
)

// TestSmallKernels: fills of 1 and 2 µs in a layer of 400 µs of kernels are one row of 3 µs that ends with the layer; one alone keeps its row.
func TestSmallKernels(t *testing.T) {
	list := []summary.LayerKernel{{AtNS: 0, NS: 1_000, Part: "other", Name: "fill"}, {AtNS: 5_000, NS: 297_000, Part: "mlp", Name: "gemm"},
		{AtNS: 305_000, NS: 2_000, Part: "norm", Name: "fill"}, {AtNS: 310_000, NS: 100_000, Part: "attention", Name: "flash"}}
	rows := joinedKernels(list)
	if len(rows) != 3 || rows[0].Name != "gemm" || rows[1].Name != "flash" {
		t.Fatalf("got %+v", rows)
	}
	if r := rows[2]; r.Name != "other" || r.NS != 3_000 || r.AtNS != 407_000 || r.count != 2 {
		t.Errorf("joined: %+v", r)
	}
	if rows := joinedKernels(list[1:]); len(rows) != 3 || rows[1].Name != "fill" {
		t.Errorf("a single small one: %+v", rows)
	}
}
