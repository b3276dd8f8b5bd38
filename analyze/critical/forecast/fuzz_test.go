package forecast_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"assay/analyze/critical"
	"assay/analyze/critical/change"
	"assay/analyze/critical/forecast"
	"assay/analyze/critical/graph"
	"assay/trace"
)

type object = map[string]any

// names of events, by category.
var fuzzNames = []struct{ cat, name string }{
	{"cpu_op", "aten::mm"}, {"cpu_op", "autograd::engine::evaluate_function: Mm"}, {"python_function", "loop.py(3): run"},
	{"python_function", "_MultiProcessingDataLoaderIter.__next__"}, {"user_annotation", "ProfilerStep#1"}, {"user_annotation", "ProfilerStep#2"},
	{"cuda_runtime", "cudaLaunchKernel"}, {"cuda_runtime", "cudaGraphLaunch"}, {"cuda_runtime", "cudaMemcpy"}, {"cuda_runtime", "cudaFree"},
	{"cuda_runtime", "cudaDeviceSynchronize"}, {"cuda_runtime", "cudaStreamSynchronize"}, {"cuda_runtime", "cudaEventSynchronize"},
	{"cuda_runtime", "cudaEventRecord"}, {"cuda_runtime", "cudaStreamWaitEvent"}, {"kernel", "gemm"}, {"kernel", "gemm"}, {"kernel", "softmax"},
	{"kernel", "ncclDevKernel_AllReduce_Sum"}, {"gpu_memcpy", "Memcpy DtoH (Device -> Pageable)"}, {"cuda_sync", "Stream Wait Event"},
	{"cuda_sync", "Context Sync"}, {"cuda_sync", "Event Sync"}, {"cuda_sync", "Stream Sync"},
}

// fuzzEvents makes events of arbitrary bytes, six for each.
func fuzzEvents(data []byte) (out []object) {
	for ; len(data) >= 6 && len(out) < 300; data = data[6:] {
		is := fuzzNames[int(data[0])%len(fuzzNames)]
		ts, dur := float64(data[1])+float64(data[2])/8, float64(data[3])/4
		switch {
		case data[2] == 0xff:
			ts *= 1e13
		case data[2] == 0xfe:
			ts, dur = -ts, dur*1e15
		}
		correlation, stream := int(data[4]%32), int(data[5]%4)
		e := object{"ph": "X", "cat": is.cat, "name": is.name, "ts": ts, "dur": dur, "pid": 9, "tid": data[5] % 3}
		args := object{"correlation": correlation}
		if is.cat == "kernel" || is.cat == "gpu_memcpy" || is.cat == "cuda_sync" {
			e["pid"], e["tid"] = 0, stream
			args["device"], args["stream"] = 0, stream
		}
		if is.cat == "cuda_sync" {
			args["wait_on_stream"], args["wait_on_cuda_event_record_corr_id"] = int(data[5]>>4)%5-1, int(data[5]>>2)%32
		}
		e["args"] = args
		out = append(out, e)
	}
	return out
}

// checkGraph checks what holds for every graph.
func checkGraph(t *testing.T, g *forecast.Model) {
	paths := g.Paths()
	for _, p := range paths {
		sum := int64(0)
		for class, ns := range p.Classes {
			if sum += ns; ns < 0 {
				t.Errorf("%s: %v is %d ns", p.Step, graph.Class(class), ns)
			}
		}
		if sum != p.Window.Len() || p.Window.End < p.Window.Start {
			t.Errorf("%s: the classes sum to %d ns, the window is %v", p.Step, sum, p.Window)
		}
		if p.Exact != p.Window.Len() && g.Counts.Impossible == 0 {
			t.Errorf("%s: the unchanged replay takes %d ns, the window %d", p.Step, p.Exact, p.Window.Len())
		}
	}
	for _, list := range [][]change.Change{
		nil, {{Kind: "host", Value: "1"}}, {{Kind: "host", Value: "1e6"}, {Kind: "host", Value: "1e6"}, {Kind: "host", Value: "1e6"}},
		{{Kind: "overlap", Value: "gemm"}, {Kind: "graph"}, {Kind: "gap", Value: "1e6"}, {Kind: "launch", Value: "1e6"}},
		{{Kind: "remove", Value: "op~."}, {Kind: "remove", Value: "wait~."}, {Kind: "remove", Value: "sync~."}, {Kind: "contention"}},
		{{Kind: "fuse", Value: ".=1e6"}, {Kind: "scale", Value: "class:compute=0"}, {Kind: "pinned"}, {Kind: "hide-comm"}},
	} {
		forecasts, _, err := g.Forecast(paths, list)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range forecasts {
			sum := int64(0)
			for _, ns := range f.Classes {
				sum += ns
			}
			if sum != f.Forecast {
				t.Errorf("%v: %s: the classes sum to %d ns, the forecast is %d", list, f.Step, sum, f.Forecast)
			}
			if i < len(paths) && len(list) == 0 && f.Forecast != f.Measured && f.Verdict.Level != critical.Abstain {
				t.Errorf("%s: without a change it takes %d ns, measured %d", f.Step, f.Forecast, f.Measured)
			}
		}
	}
	if len(paths) > 0 && paths[0].Verdict.Level != critical.Abstain && !reproduced(g) {
		t.Error("an unchanged replay differs from the measured starts")
	}
	all := make([]int, len(paths))
	for i := range all {
		all[i] = i
	}
	for _, gain := range g.Sweep(paths, all) {
		if gain.After >= gain.Before || gain.After == math.MinInt64 {
			t.Errorf("%v: %d ns, then %d", gain.Change, gain.Before, gain.After)
		}
	}
}

func FuzzGraph(f *testing.F) {
	f.Add([]byte{6, 1, 0, 8, 1, 0, 15, 4, 0, 80, 1, 1, 10, 6, 0, 90, 2, 0})
	f.Add([]byte{4, 0, 0, 200, 0, 0, 6, 1, 0, 8, 1, 0, 18, 4, 0, 80, 1, 1, 14, 6, 0, 1, 3, 0, 6, 8, 0, 4, 4, 0, 15, 30, 0, 40, 4, 2, 20, 30, 0, 9, 3, 0x12})
	f.Add([]byte{15, 4, 0xff, 80, 1, 1, 15, 4, 0xfe, 80, 1, 1, 6, 9, 0xff, 80, 1, 1})
	f.Add([]byte{5, 0, 0, 20, 0, 0, 4, 9, 0, 20, 0, 0, 6, 1, 0, 8, 1, 0, 15, 40, 0, 80, 1, 1, 15, 20, 0, 80, 1, 1, 0, 1, 1, 30, 0, 1, 1, 1, 3, 90, 0, 2})
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func(data []byte) *graph.Graph {
			text, err := json.Marshal(object{"traceEvents": fuzzEvents(data)})
			if err != nil {
				t.Fatal(err)
			}
			tr, err := trace.Read(bytes.NewReader(text), "test", trace.SelectAll())
			if err != nil {
				t.Skip(err)
			}
			return graph.Of(tr, graph.Options{Windows: windows(tr, "ProfilerStep", -1)})
		}
		g := modelOf(read(data))
		checkGraph(t, g)
		other := read(data[:len(data)/12*6])
		if g, _ := joined([]*graph.Graph{read(data), other}); g != nil {
			checkGraph(t, g)
		}
	})
}
