package partial

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/analyze"
	"assay/internal/test"
	"assay/internal/test/captures"
	"assay/summary"
)

// A graphTrace is written as a trace of ROCm: its launches name their kernels.
type graphTrace struct {
	events []string
	ns     int64 // the clock of the host
	gpu    int64 // when the GPU is idle again
	number int   // of the latest call
}

func (g *graphTrace) event(category, name string, start, dur int64, device bool, args string) {
	pid := 1
	if device {
		pid = 0
	}
	g.events = append(g.events, fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":%d,"tid":7,"ts":%d.%03d,"dur":%d.%03d,"args":{%s}}`,
		category, name, pid, start/1000, start%1000, dur/1000, dur%1000, args))
}

func (g *graphTrace) call(name, args string) {
	g.number++
	g.event("cuda_runtime", name, g.ns, 500, false, fmt.Sprintf(`"correlation":%d%s`, g.number, args))
	g.ns += 1000
}

// A node is a kernel of a graph, with the operator that launches it; kernels with equal
// calls have one call.
type node struct {
	kernel   string
	op, dims string
	types    string // of the arguments; two of bfloat16 if empty
	same     bool   // launched by the operator of the node before
	ns       int64
}

// capture records the capture of a graph below an annotation.
func (g *graphTrace) capture(note string, nodes []node) {
	start := g.ns
	g.ns += 1000
	g.call("hipStreamBeginCapture", "")
	for i, n := range nodes {
		if n.op != "" && !n.same {
			calls := int64(1)
			for i+int(calls) < len(nodes) && nodes[i+int(calls)].same {
				calls++
			}
			g.operator(&n, calls*1000)
		}
		named := ""
		if n.kernel != "" {
			named = fmt.Sprintf(`,"kernel":%q`, n.kernel)
		}
		g.call("hipLaunchKernel", named)
	}
	g.call("hipStreamEndCapture", "")
	if note != "" {
		g.event("user_annotation", note, start, g.ns-start, false, "")
	}
	g.eager()
}

// operator records the operator of a node, which takes some time.
func (g *graphTrace) operator(n *node, dur int64) {
	types := n.types
	if types == "" {
		types = `["c10::BFloat16","c10::BFloat16"]`
	}
	g.event("cpu_op", n.op, g.ns-100, dur, false, fmt.Sprintf(`"External id":%d,"Input Dims":%s,"Input type":%s,"Concrete Inputs":["",""]`, len(g.events), n.dims, types))
}

// eager launches one kernel that is in no graph and takes 10 µs.
func (g *graphTrace) eager() {
	g.ns += 1000
	g.event("cpu_op", "aten::mm", g.ns-100, 900, false, fmt.Sprintf(`"External id":%d,"Input Dims":[[8,8],[8,8]],"Input type":["c10::BFloat16","c10::BFloat16"],"Concrete Inputs":["",""]`, len(g.events)))
	g.call("hipLaunchKernel", `,"kernel":"eager"`)
	g.run("eager", 10_000, 0)
}

// run runs a kernel of the latest call, which begins some time before the one before ends.
func (g *graphTrace) run(kernel string, ns, early int64) {
	start := max(g.ns, g.gpu) - early
	g.event("kernel", kernel, start, ns, true, fmt.Sprintf(`"device":0,"stream":7,"correlation":%d`, g.number))
	g.gpu = start + ns
}

// replay launches the graph below an annotation. early is how long kernels overlap.
func (g *graphTrace) replay(note, op string, nodes []node, early int64) {
	start := g.ns
	g.ns += 1000
	if op != "" {
		g.event("cpu_op", op, g.ns-100, 900, false, fmt.Sprintf(`"External id":%d`, len(g.events)))
	}
	g.call("hipGraphLaunch", "")
	g.gpu = max(g.gpu, g.ns)
	for i, n := range nodes {
		if i == 0 {
			g.run(n.kernel, n.ns, 0)
			continue
		}
		g.run(n.kernel, n.ns, early)
	}
	g.ns = g.gpu + 1000
	if note != "" {
		g.event("user_annotation", note, start, g.ns-start, false, "")
	}
}

func (g *graphTrace) text() string {
	return `{"deviceProperties":[{"id":0,"name":"AMD Instinct MI300X"}],"traceEvents":[` + strings.Join(g.events, ",\n") + `]}`
}

// joined measures traces and joins them, each as file of its own.
func joined(t *testing.T, traces ...*graphTrace) *summary.Summary {
	t.Helper()
	dir := t.TempDir()
	var all []Part
	for i, g := range traces {
		path := filepath.Join(dir, fmt.Sprintf("trace%d.json", i))
		if err := os.WriteFile(path, []byte(g.text()), 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, measuredFile(t, path))
	}
	return Join(all)
}

func measuredFile(t *testing.T, path string) Part {
	t.Helper()
	in := captures.Load(t, path)
	p, err := Measure(in, Options{Options: analyze.DefaultOptions()})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// layer has three products of some rows. The second also has a kernel that reduces what the
// first one split. No operator launches the last kernel.
func layer(rows int) []node {
	return []node{
		{kernel: "gemm_a", op: "aten::mm", dims: fmt.Sprintf("[[%d,64],[64,128]]", rows), ns: 3000},
		{kernel: "gemm_b", op: "aten::mm", dims: fmt.Sprintf("[[%d,128],[128,64]]", rows), ns: 5000},
		{kernel: "reduce", same: true, ns: 2000},
		{kernel: "gemm_a", op: "aten::mm", dims: fmt.Sprintf("[[%d,64],[64,128]]", rows), ns: 4000},
		{kernel: "alone", ns: 1000},
	}
}

const (
	captured32 = "capture_32_FULL"
	decoded32  = "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk999sqsq32sqsk999)"
)

// TestReplays: two launches of a graph have the operators, FLOPs and bytes of its capture in
// another file, and sums stay sums.
func TestReplays(t *testing.T) {
	for _, op := range []string{"", "## Call CompiledFxGraph ##"} {
		c, r := new(graphTrace), new(graphTrace)
		c.capture(captured32, layer(32))
		r.eager()
		r.replay(decoded32, op, layer(0), 0)
		r.replay("step[DECODE bs=32]", op, layer(0), 0)
		s := joined(t, c, r)
		if len(s.Efficiency.Replays) != 1 || len(s.Efficiency.Captures) != 0 {
			t.Fatalf("%+v, %+v: want one graph and no captures", s.Efficiency.Replays, s.Efficiency.Captures)
		}
		g := s.Efficiency.Replays[0]
		if g.From != "capture" || g.Capture != captured32 || g.Launches != 2 || g.Nodes != 5 || g.GPUNS != 30_000 || g.KnownNS != 28_000 || g.NodeNS != nil || g.Input != 1 {
			t.Errorf("operator %q: %+v", op, g)
		}
		flops, bytes := int64(2*32*64*128), int64(2*(32*64+64*128+32*128))
		var rows []string
		for _, row := range s.Efficiency.Rows {
			if row.Input == 1 && row.From == "capture" {
				rows = append(rows, fmt.Sprint(row.Op, string(row.Dims), row.Count, row.GPUNS, *row.FLOPs, *row.Bytes, row.Dtype, row.Model == nil, *row.RooflineNS, row.Bound))
			}
		}
		roof := func(calls int64) int64 { return int64(float64(calls*bytes)/5325 + 0.5) }
		want := []string{
			fmt.Sprint("aten::mm", "[[32,128],[128,64]]", 2, 14_000, 2*flops, 2*bytes, "bf16", true, roof(2), "latency"),
			fmt.Sprint("aten::mm", "[[32,64],[64,128]]", 4, 14_000, 4*flops, 4*bytes, "bf16", true, roof(4), "latency"),
		}
		if fmt.Sprint(rows) != fmt.Sprint(want) {
			t.Errorf("operator %q: rows are\n%q, want\n%q", op, rows, want)
		}
		d := s.Efficiency.Devices[1]
		mfu := float64(6*flops+1024) / 1307.4e3 / float64(d.WallNS)
		if d.GPUNS != 40_000 || d.MatrixNS != 38_000 || d.FLOPsKnownNS != 38_000 || d.BytesKnownNS != 38_000 || int64(d.MatrixFLOPs) != 6*flops+1024 || d.ModelFLOPs != d.MatrixFLOPs || d.GraphNS != 2000 {
			t.Errorf("operator %q: sums are %+v", op, d.EfficiencySums)
		}
		if *d.MFU < mfu*0.999999 || *d.MFU > mfu*1.000001 || *d.HFU != *d.MFU {
			t.Errorf("operator %q: MFU is %v and HFU %v, want %v", op, *d.MFU, *d.HFU, mfu)
		}
		checkParts(t, s)
	}
}

// checkParts checks that the time of each GPU is that of its rows and of work without an
// operator, and that what was written can be read and joined again.
func checkParts(t *testing.T, s *summary.Summary) {
	t.Helper()
	for _, d := range s.Efficiency.Devices {
		ns := d.NoOperatorNS
		for _, r := range s.Efficiency.Rows {
			if r.Input == d.Input && r.Device == d.Device {
				ns += r.GPUNS
			}
		}
		if ns != d.GPUNS || d.GraphNS < 0 {
			t.Errorf("input %d: rows and work without an operator take %d, want %d; graphs %d", d.Input, ns, d.GPUNS, d.GraphNS)
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := summary.Read(bytes.NewReader(text), "again")
	if err != nil {
		t.Fatal(err)
	}
	again = Join([]Part{{Summary: again}})
	if got, _ := json.Marshal(again.Efficiency); !bytes.Equal(got, mustJSON(t, s.Efficiency)) {
		t.Errorf("joined again:\n%s\nwant\n%s", got, mustJSON(t, s.Efficiency))
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestReplaysUnmatched: a replay whose capture is not certain stays unknown, with the reason.
func TestReplaysUnmatched(t *testing.T) {
	swapped := layer(32)
	swapped[0].kernel, swapped[1].kernel = swapped[1].kernel, swapped[0].kernel
	unnamed := layer(32)
	unnamed[3].kernel = ""
	one := func(note string, nodes []node) func(*graphTrace) {
		return func(g *graphTrace) { g.capture(note, nodes) }
	}
	for _, c := range []struct {
		name     string
		captures []func(*graphTrace)
		note     string
		early    int64
		want     string // "" if it matches
	}{
		{"none", []func(*graphTrace){(*graphTrace).eager}, decoded32, 0, summary.NoCapture},
		{"another order", []func(*graphTrace){one(captured32, swapped)}, decoded32, 0, summary.NoCapture},
		{"another number", []func(*graphTrace){one(captured32, append(layer(32), node{kernel: "alone"}))}, decoded32, 0, summary.NoCapture},
		{"no names", []func(*graphTrace){one(captured32, unnamed)}, decoded32, 0, summary.CaptureNoNames},
		{"another size", []func(*graphTrace){one("capture_24_FULL", layer(24))}, decoded32, 0, summary.CaptureSize},
		{"no size of the capture", []func(*graphTrace){one("warmup", layer(32))}, decoded32, 0, summary.CaptureSize},
		{"no size of the replay", []func(*graphTrace){one(captured32, layer(32))}, "", 0, summary.CaptureSize},
		{"several tokens of a request", []func(*graphTrace){one(captured32, layer(32))}, "execute_96_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq96sk999sqsq288sqsk999)", 0, summary.CaptureSize},
		{"with prefill", []func(*graphTrace){one(captured32, layer(32))}, "execute_32_context_1(sq8sk8sqsq64sqsk64)_generation_24(sq24sk999sqsq24sqsk999)", 0, summary.CaptureSize},
		{"other arguments", []func(*graphTrace){one(captured32, layer(32)), one(captured32, layer(16))}, decoded32, 0, summary.CapturesDiffer},
		{"concurrent kernels", []func(*graphTrace){one(captured32, layer(32))}, decoded32, 500, summary.NodesOverlap},
		{"equal captures and one of another size", []func(*graphTrace){one(captured32, layer(32)), one(captured32, layer(32)), one("capture_16_FULL", layer(16))}, decoded32, 0, ""},
		{"kernels touch", []func(*graphTrace){one(captured32, layer(32))}, decoded32, 20, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var traces []*graphTrace
			for _, capture := range c.captures {
				g := new(graphTrace)
				capture(g)
				traces = append(traces, g)
			}
			r := new(graphTrace)
			r.eager()
			r.replay(c.note, "", layer(0), c.early)
			s := joined(t, append(traces, r)...)
			if len(s.Efficiency.Replays) != 1 || s.Efficiency.Replays[0].Unmatched != c.want || (c.want == "") != (s.Efficiency.Replays[0].From == summary.FromCapture) {
				t.Errorf("%+v, want unmatched for %q", s.Efficiency.Replays, c.want)
			}
			d := s.Efficiency.Devices[len(s.Efficiency.Devices)-1]
			if c.want != "" && (d.GraphNS != s.Efficiency.Replays[0].GPUNS || d.MatrixFLOPs != 1024) {
				t.Errorf("sums are %+v, want the graph unknown", d.EfficiencySums)
			}
			checkParts(t, s)
		})
	}
}

// TestReplaysOfOneTrace: within one trace, too, capture and replay need to state the same size,
// because the graph may be one that was captured before the recording began.
func TestReplaysOfOneTrace(t *testing.T) {
	for _, c := range []struct {
		capture, replay, want string
	}{
		{"", "", summary.CaptureSize},
		{captured32, "", summary.CaptureSize},
		{captured32, decoded32, ""},
	} {
		g := new(graphTrace)
		g.capture(c.capture, layer(32))
		g.ns = g.gpu + 1000
		g.replay(c.replay, "", layer(0), 0)
		s := joined(t, g)
		if len(s.Efficiency.Replays) != 1 || s.Efficiency.Replays[0].Unmatched != c.want {
			t.Errorf("%q and %q: %+v, want unmatched for %q", c.capture, c.replay, s.Efficiency.Replays, c.want)
		}
		checkParts(t, s)
	}
}

// TestReplaysOfCorpus: two servers decode 32 requests by one replay each. Its kernels are those
// of the capture in number, order and time; the products of the first read each weight once,
// which are 15,136,194,560 bytes, and a weight of two bytes takes part in 2 × 32 FLOPs.
func TestReplaysOfCorpus(t *testing.T) {
	for _, c := range []struct {
		folder, execution, capture string
		nodes, ns, products        int64 // ns of the products: those of the goldens there
		weights                    int64
	}{
		{"sglang_decode", "sglang_Qwen3-8B_decode.json.gz", "bs_32_rank0.json.gz", 544, 9_656_404, 5_782_254, 15_136_194_560},
		{"vllm_decode_full", "graph_execution.json.gz", "graph_capture_rank_0.1773709742341309550.pt.trace.json.gz", 421, 0, 0, 0},
	} {
		root := test.Corpus(t, "kineto/tracelens/inference/"+c.folder)
		s := Join([]Part{measuredFile(t, filepath.Join(root, "capture_traces", c.capture)), measuredFile(t, filepath.Join(root, c.execution))})
		if len(s.Efficiency.Replays) != 1 {
			t.Fatalf("%s: %+v", c.folder, s.Efficiency.Replays)
		}
		g := s.Efficiency.Replays[0]
		if g.From != "capture" || g.Nodes != c.nodes || g.Size != 32 || c.ns != 0 && g.GPUNS != c.ns {
			t.Errorf("%s: %+v", c.folder, g)
		}
		checkParts(t, s)
		if c.weights == 0 {
			continue
		}
		var ns, flops, weights int64
		for _, r := range s.Efficiency.Rows {
			if r.From == "capture" && r.Unit == "matrix" && r.FLOPs != nil {
				var dims [][]int64
				if err := json.Unmarshal(r.Dims, &dims); err != nil {
					t.Fatal(err)
				}
				ns, flops, weights = ns+r.GPUNS, flops+*r.FLOPs, weights+2*r.Count*dims[1][0]*dims[1][1]
			}
		}
		if max(ns-c.products, c.products-ns) > 1000 || weights != c.weights || flops != 32*c.weights {
			t.Errorf("%s: products take %d ns with %d FLOPs and %d bytes of weights, want %d, %d and %d", c.folder, ns, flops, weights, c.products, 32*c.weights, c.weights)
		}
	}
}
