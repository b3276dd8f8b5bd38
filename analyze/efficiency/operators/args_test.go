package operators

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseCall(t *testing.T) {
	c := ParseCall("aten::x", `[[2, 3], [], [[4], [5, 6]]]`, `["float", "Scalar", "TensorList"]`, `[[3, 1], [], [[1], [6, 1]]]`, `["", "[1, \"a\"]", ""]`)
	want := Call{Op: "aten::x", HasValues: true, Args: []Arg{
		{Type: "float", Dims: []int64{2, 3}, Strides: []int64{3, 1}},
		{Type: "Scalar", Dims: []int64{}, Strides: []int64{}, Value: `[1, "a"]`},
		{Type: "TensorList", List: [][]int64{{4}, {5, 6}}},
	}}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v\nwant %+v", c, want)
	}
	for _, bad := range []string{"[", "[[1]", "[[1,]]", "[[1.5]]", "[[1e3]]", "{}", "7", "[] []", `["a`, "[[-]]",
		"[[1111111111111111111]]", strings.Repeat("[", 100000), "[" + strings.Repeat(" ", maxArgsText) + "]"} {
		if c := ParseCall("x", bad, "", "", ""); c.Why != BadArguments || c.Args != nil {
			t.Errorf("%.20q: %+v", bad, c)
		}
	}
	if c := ParseCall("x", "", `["float"]`, "", ""); c.Why != NoShapes {
		t.Errorf("no dimensions: %+v", c)
	}
}

func FuzzParseCall(f *testing.F) {
	f.Add("aten::mm", "[[2,3],[3,4]]", `["float","float"]`, "[[3,1],[4,1]]", `["",""]`)
	f.Add("aten::bmm", "[[1000000000000000000,3,1],[9,1,4]]", `["float","float"]`, "", "")
	f.Fuzz(func(t *testing.T, op, dims, types, strides, concrete string) {
		c := ParseCall(op, dims, types, strides, concrete)
		byName, _ := indexed()
		for _, m := range byName {
			if w, ok := m.Work(&c); ok && (w.FLOPs.N < 0 || w.Bytes.N < 0) {
				t.Errorf("%s: negative work %+v", m.Names()[0], w)
			}
		}
	})
}
