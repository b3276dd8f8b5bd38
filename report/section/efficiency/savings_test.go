package efficiency

import (
	"strings"
	"testing"

	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
)

// TestSavings: rows by gain with the kind of the gain, forecasts among them, and advice that depends on torch.compile.
func TestSavings(t *testing.T) {
	bytes := int64(4 << 20)
	ns := int64(7_000_000)
	s := &summary.Summary{
		Kernels: []summary.Kernel{{Name: "all", Category: "gemm", TotalNS: 100_000_000}},
		Efficiency: summary.Efficiency{Savings: []summary.Saving{
			{Kind: summary.SavingFuse, Names: []string{"aten::add", "aten::gelu"}, Count: 4, TotalNS: 9_000_000, Bytes: &bytes, GainNS: 2_000_000, GainFrom: summary.GainOfBytes},
			{Kind: summary.SavingCast, Names: []string{"aten::copy_"}, Count: 4, TotalNS: 400_000, GainNS: 400_000, GainFrom: summary.GainAtMost},
		}},
		Forecasts: []summary.Forecast{{Change: "--hide-comm", MeasuredNS: 10_000_000, ForecastNS: &ns, Verdict: "ok"}, {Change: "--hide-comm", MeasuredNS: 9_000_000, Verdict: summary.Withheld}},
	}
	got := savings(&section.Context{Summary: s})
	table, ok := got.Blocks[0].(doc.Table)
	if !ok || len(table.Rows) != 2 {
		t.Fatalf("%+v", got)
	}
	for at, want := range map[int][]string{0: {"communication", "3.000", "forecast"}, 1: {"fuse", "add → gelu", "traffic / bandwidth"}} {
		for _, text := range want {
			if !strings.Contains(strings.Join(table.Rows[at].Cells, "|"), text) {
				t.Errorf("row %d: %q, want %q", at, table.Rows[at].Cells, text)
			}
		}
	}
	if !strings.Contains(table.Note, "Fuse: torch.compile, or") || strings.Contains(table.Note, "Casts") {
		t.Error(table.Note)
	}
	s.Kernels = append(s.Kernels, summary.Kernel{Name: "triton_poi_fused_add_0", Category: "triton-fused"})
	if got := savings(&section.Context{Summary: s}); !strings.Contains(got.Blocks[0].(doc.Table).Note, "graph breaks") {
		t.Errorf("%+v", got)
	}
	s.Forecasts = nil
	s.Kernels[0].TotalNS = 1_000_000_000
	if got := savings(&section.Context{Summary: s}); got.Title != "" {
		t.Errorf("%+v", got)
	}
}
