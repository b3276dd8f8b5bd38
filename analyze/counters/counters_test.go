package counters_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"assay/analyze"
	"assay/analyze/classify"
	"assay/analyze/counters"
	"assay/internal/diag"
	"assay/nsys/ncu"
	"assay/summary"
)

// A fake is a launch in a test: the kernel, its count and its figures.
type fake struct {
	kernel  string
	device  int64
	count   int64
	grid    int64
	figures map[ncu.Quantity]float64
	rules   []ncu.Rule
}

func captureOf(list ...fake) *ncu.Capture {
	b := ncu.NewBuilder(0)
	for _, f := range list {
		n, _ := b.Launch(ncu.Launch{Kernel: f.kernel, Device: f.device, Count: f.count, Grid: ncu.Dim{f.grid, 1, 1}, Block: ncu.Dim{32, 1, 1}}, diag.Pos{})
		for q := range ncu.Quantity(64) {
			if v, ok := f.figures[q]; ok {
				b.Add(n, ncu.Key{Name: fmt.Sprint(q), Quantity: q}, v, "", diag.Pos{})
			}
		}
		for _, r := range f.rules {
			b.AddRule(n, r, diag.Pos{})
		}
	}
	return b.Capture(int64(len(list)), true)
}

func countersOf(t *testing.T, opt analyze.Options, list ...fake) *summary.Summary {
	t.Helper()
	if opt.Rules == nil {
		opt.Rules = classify.Default()
	}
	s := analyze.Counters(captureOf(list...), summary.Input{Path: "in"}, opt)
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := summary.Read(strings.NewReader(string(text)), "s"); err != nil {
		t.Fatalf("the summary cannot be read back: %v", err)
	}
	return s
}

type figuresOf = map[ncu.Quantity]float64

// TestCounters adds up three launches of one kernel by hand: shares are
// weighted by time, so the long launch counts three times the short one.
func TestCounters(t *testing.T) {
	s := countersOf(t, analyze.Options{},
		fake{kernel: "gemm", grid: 8, figures: figuresOf{ncu.Duration: 100, ncu.ComputeShare: 80, ncu.MemoryShare: 10, ncu.DRAMRate: 2e9}},
		fake{kernel: "gemm", grid: 9, figures: figuresOf{ncu.Duration: 300, ncu.ComputeShare: 40, ncu.DRAMRate: 4e9}},
		fake{kernel: "gemm", grid: 9, figures: figuresOf{ncu.ComputeShare: 99, ncu.Registers: 32}},
		fake{kernel: "copy", count: 5, figures: figuresOf{ncu.Duration: 1000.4}},
		fake{kernel: "copy", device: 1, figures: figuresOf{ncu.Duration: 7}})
	if len(s.Counters) != 3 {
		t.Fatalf("%d rows: %+v", len(s.Counters), s.Counters)
	}
	largest, gemm := s.Counters[0], s.Counters[1]
	if largest.Kernel != "copy" || largest.Device != 0 || largest.TotalNS != 5000 || largest.Launches != 5 || largest.Timed != 5 || *largest.MinNS != 1000 || largest.ComputePct != nil {
		t.Errorf("row 0: %+v", largest)
	}
	if gemm.Kernel != "gemm" || gemm.Category != "gemm" || gemm.Launches != 3 || gemm.Timed != 2 || gemm.Shapes != 2 ||
		gemm.TotalNS != 400 || *gemm.MinNS != 100 || *gemm.MaxNS != 300 {
		t.Errorf("row 1: %+v", gemm)
	}
	if got, want := *gemm.ComputePct, (80.0*100+40*300)/400; got != want {
		t.Errorf("compute is %v, want %v", got, want)
	}
	if *gemm.MemoryPct != 10 || *gemm.Registers != 32 || gemm.L2HitPct != nil {
		t.Errorf("memory %v, registers %v, L2 hits %v", *gemm.MemoryPct, *gemm.Registers, gemm.L2HitPct)
	}
	// 2 bytes a ns for 100 ns and 4 for 300.
	if *gemm.DRAMBytes != 1400 || gemm.BytesNS != 400 {
		t.Errorf("%d bytes in %d ns", *gemm.DRAMBytes, gemm.BytesNS)
	}
}

// TestTail: the last wave's empty places are those of a whole number of waves
// less those that blocks take, over all of them.
func TestTail(t *testing.T) {
	for _, tc := range []struct{ waves, lost float64 }{
		{1, 0}, {2, 0}, {1.5, 0.25}, {6.4, 0.6 / 7}, {0.25, 0.75}, {0, 1}, {0.996, 0}, {1.004, 0}, {9.99, 0.01 / 10}, {1.89, 0.055},
	} {
		row := countersOf(t, analyze.Options{}, fake{kernel: "k", figures: figuresOf{ncu.Duration: 1e9, ncu.Waves: tc.waves}}).Counters[0]
		if got := float64(row.TailNS) / float64(row.WavesNS); row.WavesNS != 1e9 || math.Abs(got-tc.lost) > 1e-6 {
			t.Errorf("%v waves lose %v of %d ns, want %v", tc.waves, got, row.WavesNS, tc.lost)
		}
	}
}

func TestCounterWork(t *testing.T) {
	figures := figuresOf{ncu.Duration: 1000, ncu.AddF32: 100, ncu.MulF32: 0, ncu.FmaF32: 450, ncu.DRAMBytes: 500,
		ncu.PeakF32: 256, ncu.SMFrequency: 1e9, ncu.PeakDRAM: 10, ncu.DRAMFrequency: 2e9,
		ncu.AddF64: 0, ncu.MulF64: 0, ncu.FmaF64: 0}
	row := countersOf(t, analyze.Options{}, fake{kernel: "k", count: 3, figures: figures}, fake{kernel: "k", figures: figuresOf{ncu.Duration: 1e6}}).Counters[0]
	if len(row.Work) != 1 {
		t.Fatalf("work %+v", row.Work)
	}
	w := row.Work[0]
	if w.Precision != "fp32" || w.FLOPs != 3000 || w.NS != 3000 || *w.DRAMBytes != 1500 || *w.PeakFLOPs != 256e9 || *w.PeakDRAMRate != 20e9 {
		t.Errorf("work %+v: %d bytes, peaks %d, %d", w, *w.DRAMBytes, *w.PeakFLOPs, *w.PeakDRAMRate)
	}
}

// TestAdvice: rules that differ only in numbers are one, with the text of the
// longest launch; L1 and L2 are no numbers.
func TestAdvice(t *testing.T) {
	rule := func(text string, speedup float64, kind string) ncu.Rule {
		return ncu.Rule{Name: "R", Type: "OPT", Text: text, Speedup: speedup, SpeedupKind: kind}
	}
	row := countersOf(t, analyze.Options{},
		fake{kernel: "k", figures: figuresOf{ncu.Duration: 10}, rules: []ncu.Rule{rule("L1 waits 1.5 cycles", 10, "local"), rule("L2 waits 9 cycles", 5, "global")}},
		fake{kernel: "k", figures: figuresOf{ncu.Duration: 30}, rules: []ncu.Rule{rule("L1 waits 3 cycles", 30, "local"), rule(strings.Repeat("long ", 1000), 0, "")}},
		fake{kernel: "k", figures: figuresOf{ncu.Duration: 20}, rules: []ncu.Rule{rule("L1 waits 2 cycles", 20, "local")}},
	).Counters[0]
	var got []string
	for _, a := range row.Rules {
		got = append(got, fmt.Sprintf("%.20s %d", a.Text, a.Launches))
		if len(a.Text) > counters.MaxAdviceText+3 {
			t.Errorf("a text of %d bytes", len(a.Text))
		}
	}
	if want := []string{"L2 waits 9 cycles 1", "L1 waits 3 cycles 3", "long long long long  1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if *row.Rules[1].SpeedupPct != 30 || row.Rules[2].SpeedupPct != nil {
		t.Errorf("speedups %+v", row.Rules)
	}
}

// TestCounterLimits: damaged figures and too many names cost no sum, and what
// comes out can be written.
func TestCounterLimits(t *testing.T) {
	s := countersOf(t, analyze.Options{}, fake{kernel: "k", count: 1000, figures: figuresOf{
		ncu.Duration: 1e15, ncu.ComputeShare: 1e300, ncu.Waves: 1e300, ncu.Registers: -1, ncu.DRAMRate: 1e308, ncu.MemoryShare: 20}})
	row := s.Counters[0]
	if row.ComputePct != nil || row.Waves != nil || row.Registers != nil || *row.MemoryPct != 20 || row.TotalNS <= 0 || row.DRAMBytes != nil {
		t.Errorf("row %+v", row)
	}
	if len(s.Issues) != 1 || s.Issues[0].Code != "value-implausible" || s.Issues[0].Count != 4 {
		t.Errorf("issues %+v", s.Issues)
	}
	var many []fake
	for i := range 50 {
		many = append(many, fake{kernel: fmt.Sprintf("k%02d", i), figures: figuresOf{ncu.Duration: 100}})
	}
	s = countersOf(t, analyze.Options{MaxRows: 10}, many...)
	total := int64(0)
	for _, row := range s.Counters {
		total += row.TotalNS
	}
	if len(s.Counters) != 11 || total != 5000 || s.Counters[0].Kernel != summary.PooledKernels || s.Counters[0].Launches != 40 {
		t.Errorf("%d rows of %d ns, the first is %+v", len(s.Counters), total, s.Counters[0])
	}
	if len(s.Issues) != 1 || s.Issues[0].Code != "too-many-rows" || s.Issues[0].Count != 40 {
		t.Errorf("issues %+v", s.Issues)
	}
}

// TestCountersMeans: a mean lies between the extremes, whatever the order of
// the launches, and so does what a launch that stands for many gives.
func TestCountersMeans(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		var list []fake
		low, high := math.Inf(1), 0.0
		for range 1 + rnd.IntN(20) {
			v := math.Round(rnd.Float64()*1e4) / 100
			low, high = min(low, v), max(high, v)
			list = append(list, fake{kernel: "k", count: 1 + rnd.Int64N(4), figures: figuresOf{ncu.Duration: float64(rnd.Int64N(1e9)), ncu.ComputeShare: v}})
		}
		got := *countersOf(t, analyze.Options{}, list...).Counters[0].ComputePct
		rnd.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		again := *countersOf(t, analyze.Options{}, list...).Counters[0].ComputePct
		if got < low-1e-4 || got > high+1e-4 || math.Abs(got-again) > 1.5e-4 {
			t.Fatalf("mean %v, then %v, of %v to %v", got, again, low, high)
		}
		var apart []fake
		for _, f := range list {
			n := f.count
			f.count = 1
			for range n {
				apart = append(apart, f)
			}
		}
		if one := *countersOf(t, analyze.Options{}, apart...).Counters[0].ComputePct; math.Abs(one-got) > 1.5e-4 {
			t.Fatalf("mean %v of averages, %v one by one", got, one)
		}
	}
}
