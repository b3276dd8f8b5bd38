package efficiency_test

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"assay/analyze"
	"assay/analyze/efficiency/hardware"
	"assay/internal/test/nsysgen"
	"assay/internal/test/tracegen"
	"assay/nsys"
	"assay/summary"
	"assay/trace"
)

// TestNVTX: an export of Nsight Systems whose operators are NVTX ranges with dimensions has
// the FLOPs of a product, 2·256·512·1024 and 256·1024 of its bias, and no bytes. The bandwidth
// of the memory is that of the export, the rates those of the table.
func TestNVTX(t *testing.T) {
	const thread = 1<<48 | 10<<24 | 12
	rangeOf := func(start, end int, text string) string {
		return fmt.Sprintf(`{"start":%d,"end":%d,"eventType":59,"globalTid":%d,"text":%q,"table":"NVTX_EVENTS"}`, start, end, thread, text)
	}
	work := func(correlation, launch, start, end int) string {
		return fmt.Sprintf(`{"start":%d,"end":%d,"eventClass":0,"globalTid":%d,"correlationId":%d,"nameId":2,"table":"CUPTI_ACTIVITY_KIND_RUNTIME"}`+"\n"+
			`{"start":%d,"end":%d,"deviceId":0,"streamId":7,"correlationId":%d,"globalPid":%d,"demangledName":1,"table":"CUPTI_ACTIVITY_KIND_KERNEL"}`,
			launch, launch+1000, thread, correlation, start, end, correlation, thread-12)
	}
	tr, err := nsys.ReadJSON(strings.NewReader(strings.Join([]string{
		`{"id":1,"table":"StringIds","value":"gemm"}`, `{"id":2,"table":"StringIds","value":"cudaLaunchKernel"}`,
		`{"id":0,"name":"Tesla T4","smCount":40,"computeMajor":7,"computeMinor":5,"clockRate":1590000000,"memoryBandwidth":320064000000,"table":"TARGET_INFO_GPU"}`,
		rangeOf(1000, 9000, "aten::linear, op_id = 6, sizes = [[256, 512], [1024, 512], [1024]]"),
		rangeOf(2000, 8000, "aten::addmm, seq = 5, op_id = 7, sizes = [[1024], [256, 512], [512, 1024], [], []]"),
		work(1, 3000, 10_000, 110_000),
		rangeOf(20_000, 29_000, "aten::conv2d, op_id = 8, sizes = [[2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], []]"),
		work(2, 22_000, 120_000, 150_000),
	}, "\n")), "in.jsonl", analyze.Needs(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := (trace.Hardware{SMs: 40, Major: 7, Minor: 5, ClockHz: 1590e6, Bandwidth: 320064e6}); tr.Meta.Hardware[0] != want {
		t.Errorf("hardware %+v, want %+v", tr.Meta.Hardware[0], want)
	}
	opt := analyze.DefaultOptions()
	opt.Model = hardware.ModelFLOPs{}
	e := analyze.Trace(tr, summary.Input{}, opt).Efficiency
	rows := map[string]summary.EfficiencyRow{}
	for _, r := range e.Rows {
		rows[r.Op] = r
	}
	const flops = 2*256*512*1024 + 256*1024
	if r := rows["aten::addmm"]; r.FLOPs == nil || *r.FLOPs != flops || r.GPUNS != 100_000 || r.Bytes != nil || r.Unknown != "no types of tensors" || r.RooflineNS != nil || !near(r.TFLOPS, flops/100e3/1e3) {
		t.Errorf("the product is %+v", r)
	}
	if r := rows["aten::conv2d"]; r.FLOPs != nil || r.GPUNS != 30_000 || r.Unknown == "" {
		t.Errorf("the convolution is %+v", r)
	}
	d := &e.Devices[0]
	if d.MatrixFLOPs != flops || d.MFU != nil || d.FLOPsKnownNS != 100_000 || d.BytesKnownNS != 0 || d.GPUNS != 130_000 {
		t.Errorf("the sums are %+v", d.EfficiencySums)
	}
	if d.PeakSource != "table" || d.HBMSource != "nsys" || !near(d.HBMGBPS, 320.064) || !near(d.PeakMHz, 1590) {
		t.Errorf("the GPU is %+v", *d)
	}
}

// TestBothProfilers: a run has the same operators, times and FLOPs in the trace of Kineto and
// in the export of Nsight Systems with the ranges of emit_nvtx. The export has no bytes, and the
// bandwidth that it states.
func TestBothProfilers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.sqlite")
	var text bytes.Buffer
	if _, err := nsysgen.Record(path, &text, tracegen.LLMTrainStep(), 0); err != nil {
		t.Fatal(err)
	}
	exported, err := nsys.ReadSQLite(path, "run.sqlite", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	traced, err := trace.Read(&text, "run.json", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	type sum struct{ count, ns, flops int64 }
	rowsOf := func(tr *trace.Trace, of func(*summary.EfficiencyRow)) map[string]sum {
		out := map[string]sum{}
		e := analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions()).Efficiency
		for i := range e.Rows {
			r := &e.Rows[i]
			of(r)
			if r.Unit != "matrix" || r.FLOPs == nil {
				continue
			}
			k := r.Op + string(r.Dims)
			out[k] = sum{out[k].count + r.Count, out[k].ns + r.GPUNS, out[k].flops + *r.FLOPs}
		}
		return out
	}
	a := rowsOf(traced, func(*summary.EfficiencyRow) {})
	b := rowsOf(exported, func(r *summary.EfficiencyRow) {
		if r.Bytes != nil {
			t.Errorf("%s has %d bytes in the export, which has no types", r.Op, *r.Bytes)
		}
	})
	if len(a) == 0 || !maps.Equal(a, b) {
		t.Errorf("the trace has %v, the export %v", a, b)
	}
}
