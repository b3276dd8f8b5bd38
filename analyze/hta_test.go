package analyze_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/test"
	"assay/summary"
	"assay/trace"
)

// What follows are assertions of HTA's own tests, by the numbers that
// HTA-ASSERTIONS gives them, on the same traces. Left out are those that need
// something that is not measured:
//
//	A4, A8, A16, A36       their traces are not at hand
//	A5, A6                 queue lengths at events; here they are weighted by time
//	A19, A23, A24, A26     the critical path; of A20 to A22 what does not need it is here
//	A27                    which events are critical; that marking them changes nothing is here
//	A28                    counters of hardware; the operators they belong to are here
//
// An index is that of an event in the array, as there.

// An htaEvent is one event of an array, as JSON has it.
type htaEvent struct {
	Ph, Cat, Name string
	PID, TID      json.RawMessage
	TS, Dur       json.Number
	Args          struct {
		Correlation *int64
		Stream      *int64
	}
}

// nanos returns a time in µs as ns, without a float64.
func nanos(t *testing.T, n json.Number) int64 {
	t.Helper()
	whole, part, _ := strings.Cut(n.String(), ".")
	ns, err := json.Number(whole + (part + "000")[:3]).Int64()
	if err != nil {
		t.Fatal(err)
	}
	return ns
}

func htaEvents(t *testing.T, text []byte) (raw []json.RawMessage, events []htaEvent) {
	t.Helper()
	raw = eventsOf(t, text)
	events = make([]htaEvent, len(raw))
	for i := range raw {
		if err := json.Unmarshal(raw[i], &events[i]); err != nil {
			t.Fatal(err)
		}
	}
	return raw, events
}

// onlyThese measures the events of a trace that are wanted.
func onlyThese(t *testing.T, file string, wanted func(i int, e *htaEvent) bool) *summary.Summary {
	t.Helper()
	text := test.Unpacked(t, filepath.Join(test.Corpus(t, "kineto/hta"), file))
	raw, events := htaEvents(t, text)
	var out []json.RawMessage
	for i := range raw {
		if wanted(i, &events[i]) {
			out = append(out, raw[i])
		}
	}
	return summed(t, withEvents(t, text, out))
}

// indices returns a filter for events by index.
func indices(list ...int) func(int, *htaEvent) bool {
	return func(i int, _ *htaEvent) bool {
		for _, n := range list {
			if n == i {
				return true
			}
		}
		return false
	}
}

func opOf(s *summary.Summary, name string) (op summary.Op) {
	for _, o := range s.Ops {
		if o.Name == name {
			op = o
		}
	}
	return op
}

func callNamed(s *summary.Summary, name string) (call summary.Call) {
	for _, c := range s.Calls {
		if c.Name == name {
			call = c
		}
	}
	return call
}

const simpleAdd = "critical_path/simple_add/benchmark_result_493459_1694039959_trace.json.gz"

// TestHTASelfTime is A20 and A22: the edges of 15 and 32 us are attributed to
// aten::relu_, those of 14 and 15 to aten::clamp_min_, that of 17 to the launch.
func TestHTASelfTime(t *testing.T) {
	s := onlyThese(t, simpleAdd, indices(286, 287, 1005))
	relu, clamp, call := opOf(s, "aten::relu_"), opOf(s, "aten::clamp_min_"), callNamed(s, "cudaLaunchKernel")
	if relu.CPUSelfNS != 15000+32000 || relu.CPUTotalNS != 15000+14000+17000+15000+32000 {
		t.Errorf("%+v", relu)
	}
	if clamp.CPUSelfNS != 14000+15000 || clamp.CPUTotalNS != 14000+17000+15000 {
		t.Errorf("%+v", clamp)
	}
	if call.TotalNS != 17000 || call.Count != 1 || call.Kind != "launch" {
		t.Errorf("%+v", call)
	}
}

// TestHTALaunchEdges is A21: from the start of the launch to that of kernel 1051
// are 27 us, from its end to the start of kernel 1067 are 7, in which the host
// was not late; and nothing ran while cudaDeviceSynchronize waited.
func TestHTALaunchEdges(t *testing.T) {
	s := onlyThese(t, simpleAdd, indices(1053, 1051))
	if got := s.Launches[0].Delays.TotalNS() + callNamed(s, "cudaLaunchKernel").TotalNS; got != 27000 {
		t.Errorf("launch delay %d ns, want 27 us", got)
	}
	s = onlyThese(t, simpleAdd, indices(1053, 1051, 1069, 1067))
	if gaps := s.Devices[0].Gaps; gaps.Count() != 1 || gaps.TotalNS() != 7000 {
		t.Errorf("gaps %+v, want one of 7 us", gaps)
	}
	if len(s.Idle) != 1 || s.Idle[0].Owner != summary.OwnerLaunch || s.Idle[0].NS != 7000 {
		t.Errorf("%+v, want 7 us of launch latency: the call began before the gap", s.Idle)
	}
	s = onlyThese(t, simpleAdd, indices(1277, 1275, 1281))
	if c := callNamed(s, "cudaDeviceSynchronize"); c.Kind != "sync" || c.TotalNS != 21000 || c.IdleNS != 21000 {
		t.Errorf("%+v, want 21 us of waiting for nothing", c)
	}
}

// TestHTASyncEvents is A25: three rows without a stream are the device's view of
// waiting. They are no work.
func TestHTASyncEvents(t *testing.T) {
	path := filepath.Join(test.Corpus(t, "kineto/hta"), "critical_path/cuda_event_sync/event_sync_trace.json.gz")
	tr := load(t, path).Trace
	n := 0
	for s := range tr.Spans.All() {
		if name := tr.Name(s.Name); s.Kind == trace.Sync && (name == "Event Sync" || name == "Context Sync") {
			n++
		}
	}
	if n != 3 {
		t.Errorf("%d rows of waiting, want 3", n)
	}
	_, events := htaEvents(t, test.Unpacked(t, path))
	var work int64
	for _, e := range events {
		if e.Cat == "kernel" || e.Cat == "gpu_memcpy" || e.Cat == "gpu_memset" {
			work++
		}
	}
	if got := measure(t, path).Devices[0].Events; got != work {
		t.Errorf("%d pieces of work, want %d", got, work)
	}
}

// TestHTAOverlay is of A27: HTA writes a trace again with its critical path
// marked by args and arrows, which changes no measurement.
func TestHTAOverlay(t *testing.T) {
	root := filepath.Join(test.Corpus(t, "kineto/hta"), "critical_path/end_to_end/simple_add")
	before, after := summed(t, test.Unpacked(t, filepath.Join(root, "input/trace.json.gz"))), summed(t, test.Unpacked(t, filepath.Join(root, "output/overlaid_critical_path_trace.json.gz")))
	before.Inputs, after.Inputs = nil, nil
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("before(-) after(+)\n%s", diff)
	}
}

// TestHTACounters is of A28: the launch that belongs to the row of counters
// number 5 by time is within aten::cudnn_convolution within aten::conv2d. There
// are 77 of both, and no kernels: this one gets one.
func TestHTACounters(t *testing.T) {
	text := test.Unpacked(t, filepath.Join(test.Corpus(t, "kineto/hta"), "cupti_profiler/benchmark_result_924719_1679055439_trace.json.gz"))
	raw, events := htaEvents(t, text)
	var launches []int64 // times, in the order of the file
	of := make(map[int64]int64)
	for _, e := range events {
		if e.Name == "cudaLaunchKernel" && e.Ph == "X" {
			ts := nanos(t, e.TS)
			launches = append(launches, ts)
			of[ts] = *e.Args.Correlation
		}
	}
	kernel, _ := json.Marshal(map[string]any{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": launches[len(launches)-1]/1000 + 1e6, "dur": 5,
		"args": map[string]any{"device": 0, "stream": 7, "correlation": of[nth(launches, 5)]}})
	s := summed(t, withEvents(t, text, append(raw, kernel)))
	if n := callNamed(s, "cudaLaunchKernel").Count; n != 77 {
		t.Errorf("%d launches, want 77", n)
	}
	if len(s.Kernels) != 1 || s.Kernels[0].Op != "aten::cudnn_convolution" || opOf(s, "aten::conv2d").GPUTotalNS != 5000 {
		t.Errorf("%+v, %+v", s.Kernels, opOf(s, "aten::conv2d"))
	}
}

// nth returns the value that n others are less than.
func nth(list []int64, n int) int64 {
	for _, x := range list {
		less := 0
		for _, y := range list {
			if y < x {
				less++
			}
		}
		if less == n {
			return x
		}
	}
	return -1
}

// rowsOf returns how many events of host and device the rows stand for.
func rowsOf(s *summary.Summary) (host, device int64) {
	for _, o := range s.Ops {
		host += o.Count
	}
	for _, c := range s.Calls {
		host += c.Count
	}
	for _, n := range s.Annotations {
		host += n.Count
	}
	for _, d := range s.Devices {
		device += d.Events
	}
	return host, device
}

const sampled = "timeline_analysis/sampled_rank-0.json.gz"

// TestHTATimeRange is A33: a given time range has 93 events.
func TestHTATimeRange(t *testing.T) {
	const from, to = 1682725898237042_000, 1682725898240570_000
	s := onlyThese(t, sampled, func(_ int, e *htaEvent) bool {
		if e.Ph != "X" || e.Dur == "" {
			return false
		}
		ts := nanos(t, e.TS)
		return ts >= from && ts+nanos(t, e.Dur) <= to
	})
	if host, device := rowsOf(s); host+device != 93 {
		t.Errorf("%d events of the host and %d of the device, want 93", host, device)
	}
}

// TestHTAUnderOperator is A34: the first run of "forward" has 146 events, with
// the kernels that it launched.
func TestHTAUnderOperator(t *testing.T) {
	var first *htaEvent
	within := func(e *htaEvent) bool {
		start, end := nanos(t, first.TS), nanos(t, first.TS)+nanos(t, first.Dur)
		ts := nanos(t, e.TS)
		return string(e.TID) == string(first.TID) && ts >= start && ts+nanos(t, e.Dur) <= end
	}
	_, events := htaEvents(t, test.Unpacked(t, filepath.Join(test.Corpus(t, "kineto/hta"), sampled)))
	launched := make(map[int64]bool)
	for i := range events {
		e := &events[i]
		if first == nil && e.Name == "forward" && e.Ph == "X" {
			first = e
		}
	}
	for i := range events {
		if e := &events[i]; e.Cat == "cuda_runtime" && within(e) && e.Args.Correlation != nil {
			launched[*e.Args.Correlation] = true
		}
	}
	s := onlyThese(t, sampled, func(_ int, e *htaEvent) bool {
		switch e.Cat {
		case "cpu_op", "cuda_runtime", "user_annotation":
			return within(e)
		case "kernel", "gpu_memcpy", "gpu_memset":
			return e.Args.Correlation != nil && launched[*e.Args.Correlation]
		}
		return false
	})
	var work int64
	for _, k := range s.Kernels {
		work += k.TotalNS
	}
	for _, c := range s.Copies {
		work += c.TotalNS
	}
	host, device := rowsOf(s)
	if op := opOf(s, "forward"); host+device != 146 || s.Launches[0].Launched != device || op.Count != 1 || op.GPUTotalNS != work {
		t.Errorf("%d events of the host and %d of the device, want 146; %+v of %d ns of work", host, device, op, work)
	}
}

// TestHTACollectives is A35.
func TestHTACollectives(t *testing.T) {
	path := filepath.Join(test.Corpus(t, "kineto/hta"), "nccl_parser_config/nccl_data.json.gz")
	in := load(t, path)
	var longest *trace.Activity
	for a := range in.Trace.Activities.All() {
		if strings.Contains(in.Trace.Name(a.Name), "ncclKernel") && (longest == nil || a.Dur > longest.Dur) {
			longest = a
		}
	}
	c := in.Trace.Detail(longest.Detail).Collective
	if name := in.Trace.Name(c.Name); name != "allreduce" || c.In != 2049000 || c.Out != 2049000 || in.Trace.Name(c.Ranks) != "[0, 1]" || in.Trace.Name(c.Group) != "0" {
		t.Errorf("%q %+v: ranks %q, group %q", name, c, in.Trace.Name(c.Ranks), in.Trace.Name(c.Group))
	}
	var n int64
	for _, k := range measure(t, path).Kernels {
		if strings.Contains(k.Name, "ncclKernel") {
			if n += k.Count; k.Class != "comm" || k.Op == "" {
				t.Errorf("%+v", k)
			}
		}
	}
	if n != 21 {
		t.Errorf("%d kernels, want 21", n)
	}
}

// TestHTAWithout is A17 and A37: no device work, no steps.
func TestHTAWithout(t *testing.T) {
	root := test.Corpus(t, "kineto/hta")
	s := measure(t, filepath.Join(root, "rank_non_gpu/rank_non_gpu.json.gz"))
	if len(s.Devices)+len(s.Launches)+len(s.Idle)+len(s.Copies) != 0 || len(s.Ops) == 0 {
		t.Errorf("%d devices, %d operators", len(s.Devices), len(s.Ops))
	}
	s = measure(t, filepath.Join(root, "mtia_inference_trace/mtia_inference_rank_0.json.gz"))
	if len(s.Steps) != 0 || len(s.Ops) == 0 {
		t.Errorf("%d steps, %d operators", len(s.Steps), len(s.Ops))
	}
}

// TestHTASteps is of A30: the second of the two steps lasts 122149 us.
func TestHTASteps(t *testing.T) {
	s := measure(t, filepath.Join(test.Corpus(t, "formats/kineto"), "hta_trace_compare_base_2022.json.gz"))
	if len(s.Steps) != 2 || s.Steps[0].Number != 1009 || s.Steps[1].Number != 1010 || s.Steps[1].WallNS != 122149000 {
		t.Errorf("%+v", s.Steps)
	}
}

// TestHTABackwardThread is A40: the only kernel is launched from the thread of
// autograd, four operators deep, while "## backward ##" is open on the main one.
// All seven events have this one kernel.
func TestHTABackwardThread(t *testing.T) {
	s := measure(t, filepath.Join(test.Corpus(t, "formats/kineto"), "hta_call_stack_backward_thread.json"))
	if len(s.Kernels) != 1 || s.Kernels[0].Op != "aten::mm" {
		t.Fatalf("%+v", s.Kernels)
	}
	dur := s.Kernels[0].TotalNS
	for name, self := range map[string]int64{"autograd::engine::evaluate_function: AddmmBackward0": 0, "AddmmBackward0": 0, "aten::mm": dur} {
		if o := opOf(s, name); o.Count != 1 || o.GPUTotalNS != dur || o.GPUSelfNS != self {
			t.Errorf("%+v, want %d of %d ns", o, self, dur)
		}
	}
	if c := callNamed(s, "cudaLaunchKernel"); c.Launched != 1 {
		t.Errorf("%+v", c)
	}
	if len(s.Annotations) != 1 || s.Annotations[0].Name != "## backward ##" || s.Annotations[0].GPUTotalNS != dur || s.Annotations[0].GPUSelfNS != dur {
		t.Errorf("%+v", s.Annotations)
	}
	if len(s.Passes) != 1 || s.Passes[0].Name != "backward" || s.Passes[0].GPUNS != dur {
		t.Errorf("%+v", s.Passes)
	}
	if len(s.Steps) != 1 || s.Steps[0].Number != 552 || s.Steps[0].Activity.Busy() != dur {
		t.Errorf("%+v", s.Steps)
	}
}
