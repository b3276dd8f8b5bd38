package analyze_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/analyze"
	"assay/summary"
	"assay/trace"
)

// TestRowsOfAttribution: no table has more rows than the options allow, and what
// there is no room for stays in the sums.
func TestRowsOfAttribution(t *testing.T) {
	const n, most = 100, 10
	var b strings.Builder
	for i := range n {
		ts := i * 100
		fmt.Fprintf(&b, `{"ph":"X","cat":"user_annotation","name":"note %[1]d","pid":1,"tid":1,"ts":%[2]d,"dur":90},
			{"ph":"X","cat":"python_function","name":"nn.Module: M_%[1]d","pid":1,"tid":1,"ts":%[3]d,"dur":80,"args":{"Python id":%[1]d}},
			{"ph":"X","cat":"python_function","name":"f.py(%[1]d): f","pid":1,"tid":1,"ts":%[4]d,"dur":70,"args":{"Python id":%[1]d}},
			{"ph":"X","cat":"cpu_op","name":"op %[1]d","pid":1,"tid":1,"ts":%[5]d,"dur":60},
			{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel %[1]d","pid":1,"tid":1,"ts":%[6]d,"dur":5,"args":{"correlation":%[7]d}},
			{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%[8]d,"dur":20,"args":{"device":0,"stream":7,"correlation":%[7]d}},`,
			i, ts, ts+1, ts+2, ts+3, ts+4, i+1, ts+20)
	}
	tr, err := trace.Read(strings.NewReader("["+strings.TrimSuffix(b.String(), ",")+"]"), "in", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	opt := analyze.DefaultOptions()
	opt.MaxRows = most
	s := analyze.Trace(tr, summary.Input{}, opt)
	var over []string
	for name, rows := range map[string]int{
		"kernels": len(s.Kernels), "ops": len(s.Ops), "modules": len(s.Modules), "lines": len(s.Lines),
		"annotations": len(s.Annotations), "calls": len(s.Calls), "idle": len(s.Idle),
	} {
		budget := most + 1 // one for all others
		if name == "idle" {
			budget = most + len(summary.Owners()) + 10 // of each owner and state
		}
		if rows > budget {
			over = append(over, fmt.Sprintf("%s has %d rows", name, rows))
		}
	}
	if len(over) > 0 {
		t.Errorf("MaxRows does not bound the tables of attribution: of %d allowed, %s", most, strings.Join(over, ", "))
	}
}

// TestShapesInOneForm: dimensions look the same however the JSON around them is
// broken into lines, as in traces that were written again by a tool.
func TestShapesInOneForm(t *testing.T) {
	const rest = `},"pid":1,"tid":1,"ts":10,"dur":60},
		{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":12,"dur":5,"args":{"correlation":1}},
		{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":20,"dur":20,"args":{"device":0,"stream":7,"correlation":1}}]`
	for _, dims := range []string{"[[32, 128], [128]]", "[[32,128],[128]]", "[\n  [\n    32,\n    128\n  ],\n  [\n    128\n  ]\n]"} {
		s := measured(t, `[{"ph":"X","cat":"cpu_op","name":"op","args":{"Input Dims":`+dims+rest)
		if got, want := s.Ops[0].TopShapes[0].Dims, "[[32, 128], [128]]"; got != want {
			t.Errorf("dimensions are kept with the blanks and line breaks of the file, so the same shape has different keys in two inputs and lines break in tables: got %q, want %q", got, want)
		}
	}
}
