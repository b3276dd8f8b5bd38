package timeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/summary"
	"assay/summary/view"
)

// TestModuleTree: a module follows its parent, siblings are sorted by falling time, and
// a module without its parent is a root.
func TestModuleTree(t *testing.T) {
	list := []view.Launcher{
		{Name: "M/b/x", Total: 30}, {Name: "M", Total: 100}, {Name: "M/a", Total: 40}, {Name: "M/b", Total: 60}, {Name: "M/b/y", Total: 30},
		{Name: "M/c", Total: 4}, {Name: "M/c/z", Total: 9}, {Name: "", Total: 50}, {Name: "N/lost", Total: 70}, {Name: "zero"},
	}
	show := func(tree []module) string {
		var out []string
		for _, m := range tree {
			out = append(out, fmt.Sprintf("%s=%d", m.label(), m.Total))
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
		if got := show(moduleTree(slices.Clone(list), tc.least, tc.most)); got != tc.want {
			t.Errorf("at least %d, at most %d:\ngot  %s\nwant %s", tc.least, tc.most, got, tc.want)
		}
	}
}

// TestByClass: layers that differ only in their numbers are one row, and the sums do not
// change; numbers in the middle of a class's name are part of it.
func TestByClass(t *testing.T) {
	got := byClass([]view.Launcher{
		{Name: "M_0", Count: 1, Total: 30},
		{Name: "M_0/Layer_0", Count: 2, Total: 10, Self: 1, Backward: 4, CPU: 7},
		{Name: "M_0/Layer_0/Linear_4", Count: 3, Total: 5},
		{Name: "M_0/Layer_1", Count: 2, Total: 12, Self: 2, Backward: 5, CPU: 8},
		{Name: "M_0/Layer_1/Linear_5", Count: 3, Total: 6},
		{Name: "M_0/Conv_2d", Count: 1, Total: 8},
		{Name: ""},
	})
	want := []view.Launcher{
		{Name: "M", Places: 1, Count: 1, Total: 30},
		{Name: "M/Layer", Places: 2, Count: 4, Total: 22, Self: 3, Backward: 9, CPU: 15},
		{Name: "M/Layer/Linear", Places: 2, Count: 6, Total: 11},
		{Name: "M/Conv_2d", Places: 1, Count: 1, Total: 8},
		{Name: "", Places: 1},
	}
	if !slices.EqualFunc(got, want, func(a, b view.Launcher) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestTopShape: of shapes with equal time the first by name is shown, and those
// of several inputs add up.
func TestTopShape(t *testing.T) {
	var l view.Launcher
	for i := range 20 {
		l.Shapes = append(l.Shapes, summary.OpShape{Dims: fmt.Sprintf("[[%d]]", 10+i), Types: "f", GPUSelfNS: 5})
		l.Self += 5
	}
	for range 20 { // maps are walked in another order each time
		if shape, share := topShape(l); shape != "[[10]] f" || share != "5.0%" {
			t.Fatalf("the top shape is %q with %s", shape, share)
		}
	}
	l.Shapes = append(l.Shapes, summary.OpShape{Dims: "[[17]]", Types: "f", GPUSelfNS: 1})
	if shape, share := topShape(l); shape != "[[17]] f" || share != "6.0%" {
		t.Errorf("the top shape is %q with %s", shape, share)
	}
	if shape, share := topShape(view.Launcher{}); shape != "" || share != "" {
		t.Errorf("the top shape of none is %q with %q", shape, share)
	}
}
