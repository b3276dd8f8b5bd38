package ncu

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"assay/internal/diag"
)

// launch builds a capture of one launch with the given values.
func launch(figures map[Quantity]float64, parts ...Key) (*Capture, *Launch) {
	b := NewBuilder(0)
	n, _ := b.Launch(Launch{Kernel: "k"}, diag.Pos{})
	for q := range quantities {
		if v, ok := figures[q]; ok {
			b.Add(n, Key{Name: "m", Quantity: q}, v, "", diag.Pos{})
		}
	}
	for i, k := range parts {
		b.Add(n, k, float64(i+1)*1000, "", diag.Pos{})
	}
	c := b.Capture(1, true)
	return c, &c.Launches[0]
}

// TestFLOPs computes by hand: an addition and a multiplication count as one
// operation, a multiply-add as two, and instructions of half precision work on
// two numbers.
func TestFLOPs(t *testing.T) {
	for _, tc := range []struct {
		name    string
		figures map[Quantity]float64
		p       Precision
		want    float64
		ok      bool
	}{
		{"fp32", map[Quantity]float64{AddF32: 10, MulF32: 20, FmaF32: 100}, F32, 230, true},
		{"fp64", map[Quantity]float64{AddF64: 1, MulF64: 2, FmaF64: 3}, F64, 9, true},
		{"fp16", map[Quantity]float64{AddF16: 1, MulF16: 1, FmaF16: 1}, F16, 8, true},
		{"a counter is missing", map[Quantity]float64{AddF32: 10, FmaF32: 100}, F32, 0, false},
		{"rates", map[Quantity]float64{AddF32Rate: 1, MulF32Rate: 0, FmaF32Rate: 2, SMFrequency: 1e9, Duration: 1000}, F32, 5000, true},
		{"rates without a clock", map[Quantity]float64{AddF32Rate: 1, MulF32Rate: 0, FmaF32Rate: 2, Duration: 1000}, F32, 0, false},
		{"nothing", nil, F64, 0, false},
	} {
		c, l := launch(tc.figures)
		if got, ok := c.FLOPs(l, tc.p); got != tc.want || ok != tc.ok {
			t.Errorf("%s: %v, %v, want %v, %v", tc.name, got, ok, tc.want, tc.ok)
		}
	}
	c, l := launch(map[Quantity]float64{SMFrequency: 1e9}, Key{Quantity: TensorOps, Part: "a"}, Key{Quantity: TensorOps, Part: "b"},
		Key{Quantity: PeakTensor, Part: "a"}, Key{Quantity: PeakTensor, Part: "b"})
	if got, ok := c.FLOPs(l, Tensor); got != 2000 || !ok {
		t.Errorf("the larger counter of tensor cores is %v, %v, want 2000", got, ok)
	}
	if got, ok := c.Peak(l, Tensor); got != 4000e9 || !ok {
		t.Errorf("its peak is %v, %v, want that of the same type, 4e12", got, ok)
	}
}

func TestBytesAndPeaks(t *testing.T) {
	c, l := launch(map[Quantity]float64{DRAMRead: 300, DRAMWrite: 100})
	if n, ok := c.Bytes(l); n != 400 || !ok {
		t.Errorf("read and written: %v, %v", n, ok)
	}
	c, l = launch(map[Quantity]float64{DRAMRead: 300})
	if n, ok := c.Bytes(l); ok {
		t.Errorf("half of a sum is taken for %v", n)
	}
	c, l = launch(map[Quantity]float64{DRAMRate: 2e9, Duration: 500, DRAMShare: 25})
	if n, ok := c.Bytes(l); n != 1000 || !ok {
		t.Errorf("by rate: %v, %v", n, ok)
	}
	if n, ok := c.PeakRate(l); n != 8e9 || !ok {
		t.Errorf("a rate of 2 GB/s that is 25%% has the peak %v, %v", n, ok)
	}
	c, l = launch(map[Quantity]float64{DRAMRate: 2e9, DRAMShare: 0.74})
	if n, ok := c.PeakRate(l); ok {
		t.Errorf("a share of two digits gives a peak of %v", n)
	}
	c, l = launch(map[Quantity]float64{PeakDRAM: 64, DRAMFrequency: 1e9, PeakF32: 256, SMFrequency: 2e9})
	if n, ok := c.PeakRate(l); n != 64e9 || !ok {
		t.Errorf("peak of DRAM: %v, %v", n, ok)
	}
	if n, ok := c.Peak(l, F32); n != 512e9 || !ok {
		t.Errorf("peak of fp32: %v, %v", n, ok)
	}
}

func TestLimiters(t *testing.T) {
	for _, tc := range []struct {
		figures map[Quantity]float64
		want    []string
	}{
		{nil, nil},
		{map[Quantity]float64{LimitBlocks: 16, LimitRegisters: 8, LimitShared: 16, LimitWarps: 4}, []string{"warps"}},
		{map[Quantity]float64{LimitBlocks: 32, LimitRegisters: 1, LimitShared: 1, LimitWarps: 5, LimitBarriers: 9}, []string{"registers", "shared memory"}},
		{map[Quantity]float64{LimitRegisters: 0, LimitWarps: 5}, []string{"warps"}},
	} {
		c, l := launch(tc.figures)
		if got := c.Limiters(l); !slices.Equal(got, tc.want) {
			t.Errorf("%v is limited by %v, want %v", tc.figures, got, tc.want)
		}
	}
}

// TestBudget: metrics that no result depends on are dropped first, then
// launches.
func TestBudget(t *testing.T) {
	b := NewBuilder(64 << 10)
	launches := 0
	for {
		n, ok := b.Launch(Launch{Kernel: "k"}, diag.Pos{Line: launches + 1})
		if !ok {
			break
		}
		launches++
		b.Add(n, Key{Name: "Duration", Quantity: Duration}, 1, "", diag.Pos{})
		b.Add(n, Key{Name: "other"}, 1, "", diag.Pos{})
		b.AddRule(n, Rule{Name: "r", Text: "t"}, diag.Pos{})
	}
	c := b.Capture(1, true)
	if c.Complete || !c.Limited() || launches < 100 || launches > 250 {
		t.Fatalf("%d launches, complete: %v", launches, c.Complete)
	}
	first, last := &c.Launches[0], &c.Launches[launches-1]
	if len(first.Metrics) != 2 || len(first.Rules) != 1 || len(last.Metrics) != 1 || len(last.Rules) != 0 {
		t.Errorf("the first launch has %d metrics and %d rules, the last %d and %d", len(first.Metrics), len(first.Rules), len(last.Metrics), len(last.Rules))
	}
	if n, ok := c.Value(last, Duration); n != 1 || !ok {
		t.Error("the last launch has lost its duration")
	}
	var codes []string
	for _, is := range c.Issues {
		codes = append(codes, is.Code)
	}
	if !slices.Equal(codes, []string{"counters-left-out", "memory-limit"}) {
		t.Errorf("issues %v", codes)
	}
}

func TestTexts(t *testing.T) {
	b := NewBuilder(0)
	n, _ := b.Launch(Launch{Kernel: strings.Repeat("é", MaxName)}, diag.Pos{})
	for range 2 * MaxRules {
		b.AddRule(n, Rule{Text: strings.Repeat("é", MaxText)}, diag.Pos{})
	}
	c := b.Capture(1, true)
	l := &c.Launches[0]
	if len(l.Kernel) > MaxName || !utf8.ValidString(l.Kernel) || len(l.Rules) != MaxRules || len(l.Rules[0].Text) > MaxText {
		t.Errorf("%d bytes of a name, %d rules, %d bytes of a text", len(l.Kernel), len(l.Rules), len(l.Rules[0].Text))
	}
	if l.Count != 1 {
		t.Errorf("a launch stands for %d", l.Count)
	}
}

func TestDim(t *testing.T) {
	for d, want := range map[Dim]int64{{}: 0, {2, 3, 4}: 24, {1, 0, 1}: 0, {-1, -1, 1}: 0, {1 << 40, 1 << 40, 1}: 0} {
		if got := d.Size(); got != want {
			t.Errorf("%v has %d elements, want %d", d, got, want)
		}
	}
	if F32.String() != "fp32" || Precisions.String() != "precision(4)" {
		t.Errorf("precisions are named %s and %s", F32, Precisions)
	}
}
