package analyze_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"assay/analyze"
	"assay/analyze/classify"
	"assay/internal/test/tracegen"
	"assay/summary"
	"assay/trace"
)

// TestStackSums: whatever the stacks are, GPU time sums to the durations of all
// kernels and copies, and CPU time to the self time of all spans of the host.
func TestStackSums(t *testing.T) {
	for _, p := range tracegen.Presets() {
		var b bytes.Buffer
		truth, err := tracegen.Generate(&b, p.Make(), 0)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := trace.Read(&b, p.Name, analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		var count, ns int64
		for _, d := range truth.Devices {
			for _, rows := range [][]tracegen.Row{d.Kernels, d.Copies, d.Memsets} {
				for _, r := range rows {
					count, ns = count+r.Count, ns+r.TotalNS
				}
			}
		}
		checkStacks(t, p.Name, tr, analyze.GPUTime, count, ns)

		s := analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())
		if len(s.Devices) > 0 {
			continue // the summary has spans only of traces without a GPU
		}
		count, ns = 0, 0
		for _, sp := range s.Spans {
			if !sp.Async {
				count, ns = count+sp.Count, ns+sp.SelfNS
			}
		}
		checkStacks(t, p.Name, tr, analyze.CPUTime, count, ns)
	}
}

func checkStacks(t *testing.T, name string, tr *trace.Trace, value analyze.StackValue, count, ns int64) {
	t.Helper()
	p := analyze.Stacks(tr, classify.Default(), value, 0)
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	if c := p.Columns[p.Default]; c.Name != string(value) || c.Unit != "nanoseconds" || p.Columns[0].Name != "count" {
		t.Errorf("%s: columns %v, default %v", name, p.Columns, c)
	}
	if p.Sum(0) != count || p.Sum(p.Default) != ns {
		t.Errorf("%s: %d runs of %s, %d ns; want %d, %d", name, p.Sum(0), value, p.Sum(p.Default), count, ns)
	}
}

// TestCPUStacks has nested events, one that outlives the one it started in, and
// two threads.
func TestCPUStacks(t *testing.T) {
	const in = `[
		{"ph":"X","cat":"cpu_op","name":"outer","pid":1,"tid":1,"ts":0,"dur":100},
		{"ph":"X","cat":"cpu_op","name":"inner","pid":1,"tid":1,"ts":10,"dur":30},
		{"ph":"X","cat":"cpu_op","name":"leaf","pid":1,"tid":1,"ts":20,"dur":5},
		{"ph":"X","cat":"cpu_op","name":"inner","pid":1,"tid":1,"ts":50,"dur":20},
		{"ph":"X","cat":"cpu_op","name":"late","pid":1,"tid":1,"ts":95,"dur":6},
		{"ph":"X","cat":"cpu_op","name":"next","pid":1,"tid":1,"ts":200,"dur":1},
		{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":0,"dur":7}]`
	tr, err := trace.Read(strings.NewReader(in), "in", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	p := analyze.Stacks(tr, classify.Default(), analyze.CPUTime, 0)
	if err := p.WriteFolded(&text, p.Default); err != nil {
		t.Fatal(err)
	}
	const want = `1;1;next 1000
1;1;outer 45000
1;1;outer;inner 45000
1;1;outer;inner;leaf 5000
1;1;outer;late 6000
1;2;cudaLaunchKernel 7000
`
	if text.String() != want {
		t.Errorf("got\n%swant\n%s", text.String(), want)
	}
	if p := analyze.Stacks(tr, classify.Default(), analyze.GPUTime, 0); len(p.Samples) != 0 {
		t.Errorf("GPU time without a GPU: %+v", p.Samples)
	}
}

// TestDeepStacks: events nested by the thousand keep their time.
func TestDeepStacks(t *testing.T) {
	var in strings.Builder
	in.WriteString("[")
	const n = 5000
	for i := range n {
		fmt.Fprintf(&in, `{"ph":"X","cat":"cpu_op","name":"f%d","pid":1,"tid":1,"ts":%d,"dur":%d},`, i, i, 2*(n-i))
	}
	tr, err := trace.Read(strings.NewReader(strings.TrimSuffix(in.String(), ",")+"]"), "in", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	p := analyze.Stacks(tr, classify.Default(), analyze.CPUTime, 0)
	if p.Sum(p.Default) != 2*n*1000 || p.Sum(0) != n || len(p.Samples) > 1000 {
		t.Errorf("%d samples, %d runs, %d ns; want %d runs, %d ns", len(p.Samples), p.Sum(0), p.Sum(p.Default), n, 2*n*1000)
	}
}
