package show_test

import (
	"strings"
	"testing"

	"assay/report/show"
	"assay/summary"
)

// TestAsk: the first kind of rows that has the keys and is there answers; what is left out says its share,
// and sums of rows that contain each other are shown only of named ones.
func TestAsk(t *testing.T) {
	s := &summary.Summary{
		Kernels: kernels,
		Ops:     []summary.Op{{Name: "aten::mm", GPUSelfNS: 3e6, GPUTotalNS: 3e6}, {Name: "aten::linear", Rank: 1, GPUSelfNS: 1e6, GPUTotalNS: 4e6}},
		Spans:   []summary.Span{{Name: "x", Category: "gemm", SelfNS: 1}},
	}
	s.RoleTimes = []summary.RoleTime{{Role: "rollout", State: "work", NS: 60e9}, {Role: "rollout", State: "wait", NS: 40e9}, {Role: "trainer", State: "work", NS: 30e9}, {Role: "trainer", State: "wait", NS: 70e9}}
	for range 150 {
		s.Lines = append(s.Lines, summary.Line{File: "f.py", Line: len(s.Lines), Function: "f", GPUSelfNS: 1e3})
	}
	for _, tc := range []struct {
		by, where string
		want      []string
		not       string
	}{
		{"rank", "", []string{"Kernels by rank: % of the total time of all kernels (12 ms)", " 0  83.3%     2,020 "}, ""},
		{"op", "category=elem*", []string{"aten::add   50.0%", "aten::add_  16.7%"}, "aten::mm"},
		{"operator", "", []string{"Operators by operator: % of the self time of all operators (4 ms)", "aten::mm      75.0%", "total (ms)"}, ""},
		{"launched_by,stream", "rank=1", []string{"launched by  stream", "aten::add_       20  16.7%"}, "aten::mm"},
		{"slice", "", []string{"Slices by slice"}, ""},
		{"slices:category", "", []string{"Slices by category: % of the self time of all slices", "gemm"}, "elementwise"},
		{"operators:rank", "operators:operator=aten*", []string{"Operators by rank", " 0  75.0%"}, "Kernels"},
		{"rank", "operators:operator=*linear", []string{"Operators by rank", " 1  25.0%"}, "Kernels"},
		{"role,state", "", []string{"Roles by role, state: % of the total time of its own role (100 s)", "rollout  work   60.0%", "trainer  work   30.0%"}, ""},
		{"state", "role=rollout", []string{"of its own role (100 s)", "wait   40.0%"}, ""},
		{"state", "", []string{"% of the total time of all roles (200 s)", "wait   55.0%"}, ""},
		{"line", "", []string{"f.py:100 f", "50 more rows, 33.3%"}, ""},
	} {
		q, err := show.Ask(strings.Split(tc.by, ","), strings.FieldsFunc(tc.where, func(r rune) bool { return r == ',' }))
		if err != nil {
			t.Fatal(err)
		}
		d, err := q.Answer(s)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		d.Text(&b, 200)
		for _, want := range tc.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("by %s where %s: no %q in\n%s", tc.by, tc.where, want, b.String())
			}
		}
		if tc.not != "" && strings.Contains(b.String(), tc.not) {
			t.Errorf("by %s where %s: %q is in\n%s", tc.by, tc.where, tc.not, b.String())
		}
	}
	q, err := show.Ask([]string{"device"}, []string{"pass=forward"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.Answer(s); err == nil || err.Error() != "the capture has no passes" {
		t.Errorf("no passes: %v", err)
	}
}

// TestAskMeasure: a measure is not a key.
func TestAskMeasure(t *testing.T) {
	for _, by := range []string{"total", "total_ns", "mean", ""} {
		if _, err := show.Ask([]string{by}, nil); err == nil || !strings.HasPrefix(err.Error(), "no rows have the key") {
			t.Errorf("by %q: %v", by, err)
		}
	}
}

// TestKindsOfKeys: a key names its kind of rows if several have it.
func TestKindsOfKeys(t *testing.T) {
	for _, tc := range []struct{ by, where, want string }{
		{"things:rank", "", `things:rank: there are no rows "things"; the keys are those of `},
		{"streams:stream,kernels:stream", "", "kernels:stream: the keys are of two kinds of rows, streams and kernels"},
		{"streams:stream", "calls:rank=0", "calls:rank: the keys are of two kinds of rows, streams and calls"},
		{"streams:kernel", "", `no streams have the key "kernel"; the keys are those of `},
		{"streams:stream,streams:stream", "", "the key stream is given twice"},
	} {
		_, err := show.Ask(strings.Split(tc.by, ","), strings.FieldsFunc(tc.where, func(r rune) bool { return r == ',' }))
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("by %s where %s: got %v, want %s", tc.by, tc.where, err, tc.want)
		}
	}
}
