package efficiency

import (
	"strings"
	"testing"

	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
)

// TestOccupancy: rows are sorted by what they could save, small losses are left out, and the advice is that for the
// kernels in the table.
func TestOccupancy(t *testing.T) {
	kernel := func(name, category, loss string, blocks, gain int64) summary.Occupancy {
		waves := 1.25
		registers := int64(64)
		return summary.Occupancy{Name: name, Category: category, Block: [3]int64{128, 1, 1}, Registers: &registers, Count: 10, TotalNS: 1_000_000, AloneNS: 1_000_000,
			SMs: 132, Blocks: blocks, Waves: &waves, Loss: loss, GainNS: gain}
	}
	s := &summary.Summary{
		Kernels: []summary.Kernel{{Name: "all", TotalNS: 10_000_000}},
		Efficiency: summary.Efficiency{Occupancy: []summary.Occupancy{
			kernel("tail", "gemm", summary.LossTail, 330, 300_000),
			kernel("rows", "reduction", summary.LossFewSMs, 8, 900_000),
			kernel("small", "attention", summary.LossFewSMs, 8, 49_000),
		}},
	}
	got := occupancy(&section.Context{Summary: s})
	if !strings.HasPrefix(got.Lead, "Up to 1.2 ms of kernel time (12.0%) in launches that leave SMs idle") {
		t.Errorf("%q", got.Lead)
	}
	table, ok := got.Blocks[0].(doc.Table)
	if !ok || len(table.Rows) != 2 || table.Rows[0].Cells[0] != "rows" || table.Rows[0].Cells[4] != "8 of 132 SMs" || table.Rows[1].Cells[4] != "1.25 waves" {
		t.Fatalf("%+v", table)
	}
	for text, want := range map[string]bool{"stream-K": true, "more blocks": true, "flash decoding": false} {
		if strings.Contains(table.Note, text) != want {
			t.Errorf("%q: want %q %v", table.Note, text, want)
		}
	}
	for i, want := range []string{"leave SMs or compute units idle", "leave compute units idle"} {
		s.Efficiency.Occupancy[i].Registers = nil
		if got := occupancy(&section.Context{Summary: s}); !strings.Contains(got.Lead, want) {
			t.Errorf("%q, want %q", got.Lead, want)
		}
	}
	s.Kernels[0].TotalNS = 100_000_000
	if got := occupancy(&section.Context{Summary: s}); got.Title != "" {
		t.Errorf("%+v", got)
	}
}
