package timeline

import (
	"fmt"
	"strings"
	"testing"

	"assay/summary"
)

// TestModuleTree: a module follows its parent, siblings are sorted by falling time, and
// a module without its parent is a root.
func TestModuleTree(t *testing.T) {
	var list []summary.Module
	for path, total := range map[string]int64{
		"M/b/x": 30, "M": 100, "M/a": 40, "M/b": 60, "M/b/y": 30, "M/c": 4, "M/c/z": 9, "": 50, "N/lost": 70, "zero": 0,
	} {
		list = append(list, summary.Module{Path: path, GPUTotalNS: total})
	}
	modules := summary.Modules().By(list, "module")
	show := func(tree []module) string {
		var out []string
		for _, m := range tree {
			out = append(out, fmt.Sprintf("%s=%d", m.label(1), modules.Number(&m.Row, "total")))
		}
		return strings.Join(out, " ; ")
	}
	for _, tc := range []struct {
		least int64
		most  int
		want  string
	}{
		{5, 99, "M=100 ; · b=60 ; · · x=30 ; · · y=30 ; · a=40 ; N/lost=70 ; =50 ; M/c/z=9"},
		{0, 99, "M=100 ; · b=60 ; · · x=30 ; · · y=30 ; · a=40 ; · c=4 ; · · z=9 ; N/lost=70 ; =50"},
		{5, 3, "M=100 ; · b=60 ; N/lost=70"},
		{200, 99, ""},
	} {
		if got := show(moduleTree(modules, "module", tc.least, tc.most)); got != tc.want {
			t.Errorf("at least %d, at most %d:\ngot  %s\nwant %s", tc.least, tc.most, got, tc.want)
		}
	}
}

// TestLayers: layers that differ only in their numbers are one row, and the sums do not
// change; numbers in the middle of a class's name are part of it.
func TestLayers(t *testing.T) {
	modules := summary.Modules().By([]summary.Module{
		{Path: "M_0", Count: 1, GPUTotalNS: 30},
		{Path: "M_0/Layer_0", Count: 2, GPUTotalNS: 10, GPUSelfNS: 1, BackwardNS: 4, CPUTotalNS: 7},
		{Path: "M_0/Layer_0/Linear_4", Count: 3, GPUTotalNS: 5},
		{Path: "M_0/Layer_1", Count: 2, GPUTotalNS: 12, GPUSelfNS: 2, BackwardNS: 5, CPUTotalNS: 8},
		{Path: "M_0/Layer_1/Linear_5", Count: 3, GPUTotalNS: 6},
		{Path: "M_0/Conv_2d", Count: 1, GPUTotalNS: 8},
		{Path: ""},
	}, "layer")
	var got []string
	for i := range modules.Rows {
		r := &modules.Rows[i]
		got = append(got, fmt.Sprintf("%s ×%d", modules.Text(r, "layer"), len(modules.Values(r, "module"))))
		for _, of := range []string{"calls", "self", "total", "backward", "CPU time"} {
			got = append(got, fmt.Sprint(modules.Number(r, of)))
		}
	}
	const want = "M/Layer ×2 4 3 22 9 15 M ×1 1 0 30 0 0 M/Layer/Linear ×2 6 0 11 0 0 M/Conv_2d ×1 1 0 8 0 0  ×1 0 0 0 0 0"
	if text := strings.Join(got, " "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

// TestTopShape: of shapes with equal time the first by name is shown, and those
// of several inputs add up.
func TestTopShape(t *testing.T) {
	var op summary.Op
	for i := range 20 {
		op.TopShapes = append(op.TopShapes, summary.OpShape{Dims: fmt.Sprintf("[[%d]]", 10+i), Types: "f", GPUSelfNS: 5})
		op.GPUSelfNS += 5
	}
	top := func(ops ...summary.Op) (shape, share string) {
		return topShape(ops, &summary.Ops().By(ops, "operator").Rows[0])
	}
	for range 20 { // maps are walked in another order each time
		if shape, share := top(op); shape != "[[10]] f" || share != "5.0%" {
			t.Fatalf("the top shape is %q with %s", shape, share)
		}
	}
	other := summary.Op{TopShapes: []summary.OpShape{{Dims: "[[17]]", Types: "f", GPUSelfNS: 1}}}
	if shape, share := top(op, other); shape != "[[17]] f" || share != "6.0%" {
		t.Errorf("the top shape is %q with %s", shape, share)
	}
	if shape, share := top(summary.Op{}); shape != "" || share != "" {
		t.Errorf("the top shape of none is %q with %q", shape, share)
	}
}
