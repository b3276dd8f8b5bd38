package efficiency_test

import (
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/summary"
	"assay/summary/view/efficiency"
)

// TestOperators: the sums are those that the comment of the sample run states. On eight
// ranks the first operator has 0 to 7 ms more, all of it recoverable.
func TestOperators(t *testing.T) {
	s := samplerun.Efficient()
	want := []struct {
		name        string
		ns, recover int64
		bound       string
	}{
		{"_scaled_dot_product_flash_attention 16×16×559×64, 16×16×559×64, 16×16×559×64", 2_722_705, 2_198_181, "memory"},
		{"mul 16×16×559×64, 1×1×559×64", 2_679_732, 1_628_385, "memory"},
		{"mm 8944×1024, 1024×2816", 4_055_251, 1_552_811, "compute"},
		{"copy_ 1575×4000, 1575×4000", 500_000, 100_000, "link"},
		{"_foreach_add_ [1024×1024, 1024×1024]", 300_000, 50_000, "memory"},
		{"tanh 419×500", 40_000, 39_000, "latency"},
		{"custom::op 64", 702_312, 0, ""},
	}
	list := efficiency.Operators(s)
	if len(list) != len(want) {
		t.Fatalf("%d operators, want %d", len(list), len(want))
	}
	sum := int64(0)
	for i, w := range want {
		o := &list[i]
		if o.Name() != w.name || o.GPUNS != w.ns || o.RecoverableNS != w.recover || o.Bound != w.bound {
			t.Errorf("operator %d is %q, %d ns, %d recoverable, %q, want %+v", i, o.Name(), o.GPUNS, o.RecoverableNS, o.Bound, w)
		}
		sum += o.RecoverableNS
	}
	if total := efficiency.Sum(s); total.RecoverableNS != sum {
		t.Errorf("recoverable time sums to %d, the total is %d", sum, total.RecoverableNS)
	}
	ranks := samplerun.EfficientRanks(8)
	o := efficiency.Operators(ranks)[0]
	if o.Op != "aten::mm" || o.GPUs != 8 || o.MinRank != 0 || o.MaxRank != 7 || o.RecoverableNS != 8*1_552_811+28*samplerun.MS || o.MaxNS-o.MinNS != 7*samplerun.MS {
		t.Errorf("on eight ranks the first operator is %+v", o)
	}
	if v, ok := o.TFLOPS(); !ok || v != float64(8*2_475_914_428_416)/float64(8*4_055_251+28*samplerun.MS)*1e-3 {
		t.Errorf("it achieves %v TFLOP/s", v)
	}
}

// TestUnknowns: each nanosecond without FLOPs or bytes has one reason.
func TestUnknowns(t *testing.T) {
	s := samplerun.Efficient()
	got := map[string]efficiency.Unknown{}
	flops, bytes := int64(0), int64(0)
	for _, u := range efficiency.Unknowns(s) {
		got[u.Reason] = u
		flops, bytes = flops+u.FLOPsNS, bytes+u.BytesNS
	}
	for reason, ns := range map[string]int64{"no operator": 2_000_000, "graph replay": 1_000_000, "no formula": 702_312, "type of a list": 300_000} {
		if got[reason].NS != ns {
			t.Errorf("%s: %d ns, want %d", reason, got[reason].NS, ns)
		}
	}
	total := efficiency.Sum(s)
	if flops != total.GPUNS-total.FLOPsKnownNS || bytes != total.GPUNS-total.BytesKnownNS {
		t.Errorf("%d ns without FLOPs and %d without bytes, want %d and %d", flops, bytes, total.GPUNS-total.FLOPsKnownNS, total.GPUNS-total.BytesKnownNS)
	}
}

// TestTransfers: collectives are compared by bus bandwidth, and a copy inside a GPU by
// twice its size.
func TestTransfers(t *testing.T) {
	want := map[string]float64{"all-reduce": 350. / 450, "Memcpy HtoD (Pinned -> Device)": 50.4 / 63, "Memcpy DtoD (Device -> Device)": 0.5}
	list := efficiency.Transfers(samplerun.EfficientRanks(2))
	if len(list) != len(want) {
		t.Errorf("%d kinds, want %d", len(list), len(want))
	}
	for _, tr := range list {
		if v, ok := tr.OfPeak(); !ok || v < want[tr.Name]-1e-9 || v > want[tr.Name]+1e-9 {
			t.Errorf("%s has %v of the peak, want %v", tr.Name, v, want[tr.Name])
		}
	}
}

// TestDimsText: values other than lists of dimensions give no text.
func TestDimsText(t *testing.T) {
	for in, want := range map[string]string{
		"":                                "",
		"null":                            "",
		"[[2,3],[],[4]]":                  "2×3, 4",
		"[[[2],[3],[4],[5],[6],[7]],[8]]": "[2, 3, 4, 5, 2 more], 8",
		`[["a"],{"b":1},7,[[1.5]],[[]]]`:  "[]",
		"{":                               "",
	} {
		if got := efficiency.DimsText(in); got != want {
			t.Errorf("DimsText(%s) is %q, want %q", in, got, want)
		}
	}
}

// TestMatchedTransfers: where ranks were compared, the bandwidth is that of the matched
// collectives: 2 of 300 MB in 3 ms each are 100 GB/s, times 1.75 for an all-reduce of 8.
// Partly recorded groups and those of another size do not count.
func TestMatchedTransfers(t *testing.T) {
	s := samplerun.EfficientRanks(2)
	size, ns, bus := int64(300_000_000), int64(6_000_000), 175.
	of := func(op string, group int, partial bool) summary.Collective {
		return summary.Collective{Op: op, GroupSize: group, Nodes: 1, Ranks: group, Partial: partial, Bytes: &size, Count: 2, TransferNS: &ns, BusBWGBps: &bus, MatchedBy: "number"}
	}
	s.Collectives = []summary.Collective{of("all-reduce", 8, false), of("all-reduce", 8, true), of("all-reduce", 4, false), of("all-gather", 8, false)}
	find := func() efficiency.Transfer {
		for _, tr := range efficiency.Transfers(s) {
			if tr.Kind == "collective" {
				return tr
			}
		}
		t.Fatal("no collective")
		return efficiency.Transfer{}
	}
	tr := find()
	alg, _ := tr.AlgGBPS()
	got, _ := tr.Bus()
	share, ok := tr.OfPeak()
	if !tr.Matched || tr.Lower || tr.Count != 2 || tr.NS != ns || alg != 100 || got != 175 || !ok || share != 175./450 {
		t.Errorf("%+v: %v GB/s, bus %v, %v of the peak", tr, alg, got, share)
	}
	// The switch may reduce, so more than the link delivers is a result; of a broadcast it is not.
	bus = 600
	if share, ok := ptr(find()).OfPeak(); !ok || share < 1.3 || share > 1.4 {
		t.Errorf("an all-reduce of 600 GB/s has %v of the peak, known %v", share, ok)
	}
	for i := range s.Efficiency.Transfers {
		if r := &s.Efficiency.Transfers[i]; r.Kind == "collective" {
			r.Name = "broadcast"
		}
	}
	s.Collectives = []summary.Collective{of("broadcast", 8, false)}
	if tr := find(); !tr.Over || !tr.Matched {
		t.Errorf("a broadcast of 600 GB/s: %+v", tr)
	} else if _, ok := tr.OfPeak(); ok {
		t.Error("a broadcast of 600 GB/s has a share of the peak")
	}
}

func ptr[T any](v T) *T { return &v }

// TestTooLargeSums: sums over 2^63 are unknown, and not what adding stops at.
func TestTooLargeSums(t *testing.T) {
	half := int64(1) << 62
	row := summary.EfficiencyRow{Op: "aten::mm", Unit: "matrix", Dtype: "bf16", Count: 1, GPUNS: 10, FLOPs: &half, Bytes: &half, RooflineNS: &half}
	s := &summary.Summary{Efficiency: summary.Efficiency{Rows: []summary.EfficiencyRow{row, row}}}
	if o := efficiency.Operators(s)[0]; o.FLOPs != nil || o.Bytes != nil || o.Count != 2 {
		t.Errorf("the operator is %+v", o)
	}
	if p := efficiency.Matrix(s)[0]; p.FLOPs.Fits() || p.NS != 20 {
		t.Errorf("the matrix work is %+v", p)
	}
	s.Efficiency.Rows = s.Efficiency.Rows[:1]
	if o := efficiency.Operators(s)[0]; o.FLOPs == nil || *o.FLOPs != half || !efficiency.Matrix(s)[0].FLOPs.Fits() {
		t.Errorf("one row is %+v", o)
	}
}

// TestMixedRows: a row over a peak, or without shapes, does not hide the row of other calls with
// the same inputs. Together they have no roofline.
func TestMixedRows(t *testing.T) {
	n, roof := int64(100), int64(30)
	good := summary.EfficiencyRow{Op: "aten::mm", Unit: "matrix", Count: 4, GPUNS: 50, FLOPs: &n, Bytes: &n, RooflineNS: &roof}
	over := summary.EfficiencyRow{Op: "aten::mm", Unit: "matrix", Rank: 1, Count: 1, GPUNS: 3, FLOPs: &n, Bytes: &n, Over: summary.OverCompute}
	none := summary.EfficiencyRow{Op: "aten::mm", Count: 1, GPUNS: 7, Unknown: "no shapes"}
	s := &summary.Summary{Efficiency: summary.Efficiency{Rows: []summary.EfficiencyRow{over, good, none}}}
	list := efficiency.Operators(s)
	if o := list[0]; len(list) != 3 || o.RooflineNS == nil || *o.RooflineNS != 30 || o.GPUNS != 50 || o.RecoverableNS != 20 || o.GPUs != 1 {
		t.Errorf("%d operators, the first is %+v", len(list), o)
	}
	if ns := efficiency.Hidden(list); ns != 10 {
		t.Errorf("%d ns are hidden, want 10", ns)
	}
	all := efficiency.ByInputs(s)
	if o := all[0]; len(all) != 1 || o.RooflineNS != nil || o.FLOPs != nil || o.GPUNS != 60 || o.Count != 6 {
		t.Errorf("%d operators by inputs, the first is %+v", len(all), o)
	}
	s.Efficiency.Rows = s.Efficiency.Rows[1:2]
	if ns := efficiency.Hidden(efficiency.Operators(s)); ns != 0 {
		t.Errorf("%d ns of one row are hidden", ns)
	}
}

// TestPlainDims: shapes that are written without spaces, which are read by another path, read
// as those with spaces.
func TestPlainDims(t *testing.T) {
	for dims, want := range map[string]string{
		"[[8944,1024],[1024,2816]]": "8944×1024, 1024×2816",
		"[[],[5],[]]":               "5",
		"[[]]":                      "",
		"[]":                        "",
		"[[0],[-3,4]]":              "0, -3×4",
		"[[01]]":                    "",
		"[[1,],[2]]":                "",
		"[[1],[2]],[[3]]":           "",
		"[[1],[[2],[3,4]],[]]":      "1, [2, 3×4]",
		"[[1],\"x\",[2]]":           "1, 2",
		"[[1.5],[7]]":               "7",
		"[[9223372036854775807],[9223372036854775808]]": "9223372036854775807",
	} {
		if got := efficiency.DimsText(dims); got != want {
			t.Errorf("%s: got %q, want %q", dims, got, want)
		}
		spaced := strings.ReplaceAll(dims, ",", " , ")
		if got := efficiency.DimsText(spaced); got != want {
			t.Errorf("%s: got %q, want %q", spaced, got, want)
		}
	}
}
