package forecast_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/analyze/critical"
	"assay/analyze/critical/forecast"
	"assay/analyze/critical/graph"
	"assay/internal/test"
	"assay/internal/test/nsysgen"
	"assay/nsys"
	"assay/trace"
)

// asExport returns a trace as Nsight Systems would have recorded it.
func asExport(t *testing.T, tr *trace.Trace, form nsysgen.SyncForm) *trace.Trace {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.sqlite")
	if err := nsysgen.WriteTrace(path, tr, form); err != nil {
		t.Fatal(err)
	}
	out, err := nsys.ReadSQLite(path, "run", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	for _, is := range out.Issues {
		if strings.HasPrefix(is.Code, "event-") {
			t.Fatalf("%+v", is)
		}
	}
	return out
}

func graphOfTrace(tr *trace.Trace) *forecast.Model {
	return modelOf(graph.Of(tr, graph.Options{Windows: windows(tr, "ProfilerStep", -1)}))
}

// wait adds a recorded wait of a stream for an event of another.
func (p *tape) wait(ts float64, correlation, stream, of, record int) {
	p.call("cudaStreamWaitEvent", ts, 1, correlation)
	p.add("cuda_sync", "Stream Wait Event", stream, ts, 0, object{"device": 0, "stream": stream, "correlation": correlation,
		"wait_on_stream": of, "wait_on_cuda_event_record_corr_id": record})
}

// embed runs from 16 to 46 on stream 3, route from 47 to 67 behind it; the host waits for route until 70.
// topk is launched at 80 on stream 8 and runs from 86 to 126: it waits for embed only. loss, on stream 9,
// waits for topk and runs from 127 to 147. The host ends at 150. By the order of the calls, topk could
// wait for route, the latest work before its wait.
func TestExportTellsWhatIsWaitedFor(t *testing.T) {
	var p tape
	p.step(0, 150)
	p.launch(10, 4, 1)
	p.work("embed", 3, 16, 30, 1)
	p.call("cudaEventRecord", 15, 1, 2)
	p.launch(17, 4, 3)
	p.work("route", 3, 47, 20, 3)
	p.call("cudaEventRecord", 22, 1, 4)
	p.call("cudaStreamSynchronize", 30, 40, 5)
	p.add("cuda_sync", "Stream Sync", 3, 30, 40, object{"device": 0, "stream": 3, "correlation": 5})
	p.wait(75, 6, 8, 3, 2)
	p.launch(80, 4, 7)
	p.work("topk", 8, 86, 40, 7)
	p.call("cudaEventRecord", 85, 1, 8) // of an event that is free again by now
	p.wait(87, 9, 9, 8, 8)
	p.launch(90, 4, 10)
	p.work("loss", 9, 127, 20, 10)
	kineto := p.read(t)
	truth := map[string]float64{
		"--scale kernel~topk=2":        147 + 40,
		"--scale kernel~loss=3":        147 + 40,
		"--scale kernel~(topk|loss)=2": 86 + 80 + 1 + 40,
		"--scale kernel~route=0.5":     150 - 10, // all that follows the return of the waiting call
		"--remove sync~Stream":         150 - 40, // the host; loss ends at 108.3. After route it would end at 129.3
	}
	for name, tr := range map[string]*trace.Trace{
		"Kineto": kineto, "export of 2026": asExport(t, kineto, nsysgen.NumberedSyncs), "export of 2024": asExport(t, kineto, nsysgen.NamedEvents),
	} {
		t.Run(name, func(t *testing.T) {
			g := graphOfTrace(tr)
			forecastIs(t, g, truth)
			if g.Counts.Inferred != 0 || g.Counts.Events != 2 {
				t.Errorf("%d waits are recorded, %d inferred", g.Counts.Events, g.Counts.Inferred)
			}
		})
	}
	if g := graphOfTrace(asExport(t, kineto, nsysgen.NoSyncs)); g.Counts.Inferred != 2 || g.Counts.Events != 0 {
		t.Errorf("without records %d waits are recorded, %d inferred", g.Counts.Events, g.Counts.Inferred)
	}
}

// TestReferenceProgramsAsExports: programs that were simulated have the same paths and forecasts
// as exports of Nsight Systems, with and without synchronizations.
func TestReferenceProgramsAsExports(t *testing.T) {
	folder := test.Corpus(t, "..", "accept", "critical", "sim")
	forecasts := 0
	for _, path := range test.Files(t, filepath.Join(folder, "trace_*.json.gz")) {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "trace_"), ".json.gz")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var truth struct{ Arguments map[string][]string }
			program := strings.TrimSuffix(strings.TrimSuffix(name, "_rank0"), "_rank1")
			if err := json.Unmarshal(reference(t, "sim/truth_"+program+".json"), &truth); err != nil {
				t.Fatal(err)
			}
			kineto := read(t, text)
			same := func(tr *trace.Trace, form nsysgen.SyncForm) {
				want, got := graphOfTrace(tr), graphOfTrace(asExport(t, tr, form))
				if want.Counts != got.Counts {
					t.Errorf("form %d: %+v, want %+v", form, got.Counts, want.Counts)
				}
				a, b := want.Paths(), got.Paths()
				for change, args := range truth.Arguments {
					f, _, err := want.Forecast(a, changesOf(args))
					g, _, err2 := got.Forecast(b, changesOf(args))
					if len(f) != len(g) || (err == nil) != (err2 == nil) {
						t.Fatalf("form %d: %s: %d forecasts (%v), want %d (%v)", form, change, len(g), err2, len(f), err)
					}
					for i := range f {
						if forecasts++; f[i].Forecast != g[i].Forecast || recorded(f[i].Verdict) != recorded(g[i].Verdict) || f[i].Classes != g[i].Classes {
							t.Errorf("form %d: %s: %+v, want %+v", form, change, g[i], f[i])
						}
					}
				}
			}
			if kineto.Syncs.Len() > 0 {
				same(kineto, nsysgen.NumberedSyncs)
				same(kineto, nsysgen.NamedEvents)
			}
			kineto.Syncs = trace.Table[trace.SyncRecord]{}
			same(kineto, nsysgen.NoSyncs)
		})
	}
	t.Logf("%d forecasts are the same", forecasts)
}

// recorded returns the level of a verdict without what it says of the cost of PyTorch's profiler.
func recorded(v critical.Verdict) critical.Level {
	if rest := slices.DeleteFunc(slices.Clone(v.Reasons), func(s string) bool { return strings.Contains(s, "the profiler slows the CPU") }); len(rest) == 0 {
		return critical.OK
	}
	return v.Level
}

// A stream that waits for an event which was not recorded in the capture waits for no work of it; if the event is not
// known, the latest work before is taken. The kernel on stream 4 starts 6 µs after that of stream 2 ended.
func TestEventOfBefore(t *testing.T) {
	for on, inferred := range map[int64]int{-1: 1, trace.WaitsOnNothing: 0} {
		var p tape
		p.step(0, 200)
		p.launch(10, 4, 1)
		p.work("dgrad", 2, 20, 60, 1)
		p.wait(30, 2, 4, 2, 77)
		p.launch(40, 4, 3)
		p.work("wgrad", 4, 86, 40, 3)
		text, err := json.Marshal(object{"traceEvents": p.events})
		if err != nil {
			t.Fatal(err)
		}
		tr := read(t, text)
		for s := range tr.Syncs.All() {
			s.WaitsOn = on
		}
		if g := graphOfTrace(tr); g.Counts.Inferred != inferred || g.Counts.Events != 0 {
			t.Errorf("waits on %d: %d inferred edges, want %d; %d recorded", on, g.Counts.Inferred, inferred, g.Counts.Events)
		}
	}
}
