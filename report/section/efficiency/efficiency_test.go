package efficiency_test

import (
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/report"
	"assay/summary"
)

// markdown returns the report of a run.
func markdown(t *testing.T, s *summary.Summary) string {
	t.Helper()
	var out strings.Builder
	if err := report.Build(s, samplerun.Judged(s)).Markdown(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestCoverageFirst: the first sentence states the coverage, and where it is not complete
// MFU is a lower bound. The share is 2.722 TFLOP over 20 ms of 989.4 TFLOP/s.
func TestCoverageFirst(t *testing.T) {
	text := markdown(t, samplerun.Efficient())
	_, section, ok := strings.Cut(text, "\n## Efficiency: FLOPs, bytes and roofline\n\n")
	if !ok || !strings.HasPrefix(section, "FLOPs are known for 71.4% of total GPU time, bytes for 73.6% (total 14 ms).") {
		t.Fatalf("the section does not begin with the coverage:\n%.400s", section)
	}
	for _, want := range []string{
		"MFU and HFU: at least 13.8% and at most 33.8%.", "2.72 TFLOP / (989 TFLOP/s × 20 ms). Peak: bf16 of NVIDIA H100 80GB HBM3, dense, from data sheets.",
		"Recoverable time: up to 5.57 ms, 39.8% of total GPU time, in the 73.6% of it with a roofline; for the rest it is unknown.", "bf16 402 TFLOP/s (40.6% of peak)",
		"| GPU memory", "≥ 77.8%", "CUDA graph replay",
	} {
		if !strings.Contains(section, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	s := samplerun.Efficient()
	d := &s.Efficiency.Devices[0]
	d.FLOPsKnownNS, d.ModelFLOPs = d.GPUNS, d.MatrixFLOPs/2
	half := *d.MFU / 2
	d.MFU = &half
	if text := markdown(t, s); !strings.Contains(text, "MFU: 6.9%, HFU: 13.8%.") {
		t.Error("with recomputation and full coverage, MFU and HFU are not stated apart and without a bound")
	}
}

// TestWithoutPeaks: operators of a GPU without known peaks are listed by their time, and the
// reason has a remedy. No cell or column states a recoverable time.
func TestWithoutPeaks(t *testing.T) {
	s := samplerun.Efficient()
	d := &s.Efficiency.Devices[0]
	d.PeakTFLOPS, d.HBMGBPS, d.MFU, d.HFU, d.RooflineNS, d.RecoverableNS, s.Efficiency.Steps = nil, nil, nil, nil, 0, 0, nil
	for i := range s.Efficiency.Rows {
		r := &s.Efficiency.Rows[i]
		if r.RooflineNS, r.Bound = nil, ""; r.FLOPs != nil && r.Bytes != nil {
			r.Unknown = summary.NoPeak
		}
	}
	_, text, _ := strings.Cut(markdown(t, s), "## Efficiency")
	for _, want := range []string{
		"no peak for a type of the matrix operators on NVIDIA H100 80GB HBM3; set it with --set-peak", "By GPU time. No roofline and no recoverable time",
		"| roofline        | no peak of this GPU for the type", "give the peaks of the GPU, for example --set-peak bf16=989",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text[:min(len(text), 4000)])
		}
	}
	if strings.Contains(text, "recoverable (") || strings.Index(text, "8944×1024, 1024×2816") > strings.Index(text, "16×16×559×64") {
		t.Error("there is a column of recoverable time, or the operators are not in the order of their GPU time")
	}
}

// TestWithoutRows: the headline of a summary that has sums and no operators states the sums.
func TestWithoutRows(t *testing.T) {
	s := samplerun.Efficient()
	s.Efficiency.Rows = nil
	if text := markdown(t, s); !strings.Contains(text, "; up to 5.57 ms recoverable (39.8% of GPU time, of the 73.6% with a roofline).") {
		t.Errorf("the report lacks the sum:\n%.600s", text)
	}
}

// TestWithoutShapes: a run without shapes has one line, and one without the question none.
func TestWithoutShapes(t *testing.T) {
	s := samplerun.Efficient()
	s.Efficiency = summary.Efficiency{Devices: []summary.EfficiencyDevice{{EfficiencySums: summary.EfficiencySums{GPUNS: 10}}},
		Rows: []summary.EfficiencyRow{{Op: "aten::mm", GPUNS: 10, Count: 1, Unknown: "no shapes"}}}
	text := markdown(t, s)
	if n := strings.Count(text, "FLOPs"); n != 2 || !strings.Contains(text, "the capture has no input shapes. Record with record_shapes=True.") {
		t.Errorf("FLOPs are mentioned %d times, want in a heading and a line", n)
	}
	for _, rows := range [][]summary.EfficiencyRow{s.Efficiency.Rows, nil} {
		s.Efficiency.Rows, s.Inputs[0].Format = rows, "nsys-sqlite"
		if text := markdown(t, s); !strings.Contains(text, "no operators with input shapes. With PyTorch, run the steps in torch.autograd.profiler.emit_nvtx(record_shapes=True)") {
			t.Error("the report of an export does not say how to record shapes")
		}
	}
	s.Efficiency = summary.Efficiency{}
	if strings.Contains(markdown(t, s), "FLOPs") {
		t.Error("a summary without efficiency mentions FLOPs")
	}
}

// TestClocks: the clock by a monitor of the same capture is stated with that of the peak.
// Rows of steps, of one GPU and of another input do not count.
func TestClocks(t *testing.T) {
	s := samplerun.Efficient()
	mhz, mean, low, high := 1830., 1.4e9, 1.2e9, 1.98e9
	s.Efficiency.Devices[0].PeakMHz = &mhz
	s.Inputs = append(s.Inputs, summary.Input{Path: "dmon.txt"})
	row := summary.Monitored{Beside: 0, Input: 1, Metric: "gpu.clock", Unit: "hertz", Places: 2, Parts: 1, Samples: 9, NS: 9e9, Mean: &mean, Min: &low, Max: &high}
	of := func(change func(*summary.Monitored)) summary.Monitored { r := row; change(&r); return r }
	step := int64(3)
	s.Monitored = []summary.Monitored{
		of(func(r *summary.Monitored) { r.Step = &step }), of(func(r *summary.Monitored) { r.Place = "gpu 0" }), of(func(r *summary.Monitored) { r.Beside = 1 }),
	}
	if strings.Contains(markdown(t, s), "SM clock mean") {
		t.Error("a clock of something else is stated")
	}
	s.Monitored = append(s.Monitored, row)
	if text := markdown(t, s); !strings.Contains(text, "Monitor (2 GPUs): SM clock mean 1,400 MHz, 1,200 MHz to 1,980 MHz (matrix peaks assume 1,830 MHz).") {
		_, text, _ = strings.Cut(text, "## Efficiency")
		t.Errorf("the clock is not stated in:\n%.900s", text)
	}
}

// TestWorkingClocks: the clock of a GPU while it worked comes with the peak at this clock:
// 989.4 TFLOP/s × 1410 / 1830. MFU does not change.
func TestWorkingClocks(t *testing.T) {
	s := samplerun.Efficient()
	mhz, limited := 1830., 0.25
	d := &s.Efficiency.Devices[0]
	d.PeakMHz = &mhz
	before, _, _ := strings.Cut(markdown(t, s), "Matrix operators with known")
	d.Clock, d.ClockSource, d.Throttled = &summary.WorkingClock{Median: 1410, Samples: 12}, summary.ClockOfMonitor, &limited
	want := "SM clock 1,410 MHz median while the GPU worked (monitor, 12 samples); matrix peaks assume 1,830 MHz. At that clock, the bf16 peak is 762 TFLOP/s. " +
		"A limit of power or temperature lowered it for 25.0% of that time."
	text := markdown(t, s)
	if !strings.Contains(text, want) {
		_, text, _ = strings.Cut(text, "## Efficiency")
		t.Errorf("the clock is not stated in:\n%.900s", text)
	}
	if !strings.HasPrefix(text, strings.TrimSpace(before)) {
		t.Error("the text before the clock changed")
	}
}

// TestNodeIDs: the report says how many GPU operations of graphs have an operator by the IDs of
// their nodes, together with the launches that matched a capture.
func TestNodeIDs(t *testing.T) {
	s := samplerun.Efficient()
	s.Efficiency.Replays = []summary.EfficiencyReplay{
		{Number: 1, Launches: 3, Nodes: 10, GPUNS: 700_000, KnownNS: 560_000, From: summary.FromNodes, NodesLost: []summary.NodesLost{{Reason: summary.NodeOutside, Nodes: 2}}},
		{Number: 2, Launches: 1, Nodes: 4, GPUNS: 140_000, KnownNS: 140_000, From: summary.FromNodes},
		{Number: 3, Launches: 1, Nodes: 4, GPUNS: 140_000, KnownNS: 140_000, From: summary.FromCapture},
		{Number: 4, Launches: 2, Nodes: 4, GPUNS: 280_000, Unmatched: summary.NodeUnknown, NodesLost: []summary.NodesLost{{Reason: summary.NodeUnknown, Nodes: 4}}},
	}
	want := "Graph replays: 4 of 7 launches matched by node ID: 28 of their 34 GPU operations belong to the operator that was open when the program made the node (5.0% of GPU time). " +
		"GPU operations without an operator: 6 (no operator was open when the node was made). " +
		"1 of 7 launches matched a capture (same kernels in the same order, same batch size). Their operators are those of the capture: 1.0% of GPU time. " +
		"Operators unknown: 2 launches (2.0% of GPU time): the making of the node is not recorded"
	if text := markdown(t, s); !strings.Contains(text, want) {
		_, got, _ := strings.Cut(text, "Graph replays")
		t.Errorf("the report has %.700q, want %q", got, want)
	}
}

// TestGraphReplays: the report says how many launches of graphs matched a capture, and why the
// others did not.
func TestGraphReplays(t *testing.T) {
	s := samplerun.Efficient()
	s.Efficiency.Replays = []summary.EfficiencyReplay{
		{Number: 1, Launches: 3, GPUNS: 700_000, KnownNS: 700_000, From: summary.FromCapture},
		{Number: 2, Launches: 2, GPUNS: 140_000, Unmatched: summary.CaptureSize},
		{Number: 3, Launches: 1, GPUNS: 280_000, Unmatched: summary.NoCapture},
	}
	want := "Graph replays: 3 of 6 launches matched a capture (same kernels in the same order, same batch size). Their operators are those of the capture: 5.0% of GPU time. " +
		"Operators unknown: 1 launch (2.0% of GPU time): no capture among the inputs has the same kernels; 2 launches (1.0% of GPU time): captures have the same kernels"
	if text := markdown(t, s); !strings.Contains(text, want) {
		_, got, _ := strings.Cut(text, "Graph replays")
		t.Errorf("the report has %.400q, want %q", got, want)
	}
}
