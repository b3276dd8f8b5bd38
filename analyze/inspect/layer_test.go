package inspect

import (
	"bytes"
	"slices"
	"testing"

	"assay/analyze"
	"assay/internal/test"
	"assay/internal/test/layergen"
	"assay/summary"
	"assay/trace"
)

func layered(t *testing.T, c layergen.Config) *Capture {
	t.Helper()
	tr, err := trace.Read(bytes.NewReader(layergen.Generate(c).JSON), "t.json", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	return New(tr, tr, Input{}, analyze.DefaultOptions())
}

// TestSlowLayer: the MLP of layer 5 takes three times its 71 µs, in 3 replays; the rest of the layer is as in the others.
func TestSlowLayer(t *testing.T) {
	c := layered(t, layergen.Config{Seed: test.Seed(t), Programs: []layergen.Program{layergen.Llama(12)}, Steps: 3, Graphs: true, Slow: []int{5}, SlowPart: "mlp", SlowTimes: 300})
	list, last := c.Layers(5)
	if len(list) != 1 || last != 11 {
		t.Fatalf("got %d layers, the last is %d", len(list), last)
	}
	l := list[0]
	if l.NS-l.OfNS != 142_000 || l.Runs != 3 || l.Others != 11 || l.MinNS != l.NS || l.MaxNS != l.NS {
		t.Errorf("got %+v", l)
	}
	if p := l.Parts[0]; p != (LayerPart{"mlp", 213_000, 71_000}) {
		t.Errorf("the part that differs is %+v", p)
	}
	for _, k := range l.Kernels {
		if k.Only != "" || k.Of != "" || k.OfNS == nil || (k.NS != *k.OfNS) != (k.Part == "mlp") {
			t.Errorf("kernel %+v", k)
		}
	}
	if list, last := c.Layers(12); len(list) != 0 || last != 11 {
		t.Errorf("layer 12: %d layers, the last is %d", len(list), last)
	}
}

// TestOtherKernel: every third layer has another kernel for its first product, and one more that adds up its parts.
func TestOtherKernel(t *testing.T) {
	c := layered(t, layergen.Config{Seed: test.Seed(t), Programs: []layergen.Program{layergen.Llama(12)}, Steps: 1, SplitEvery: 3})
	list, _ := c.Layers(8)
	if len(list) != 1 {
		t.Fatalf("got %d layers", len(list))
	}
	other, only := 0, 0
	for _, k := range list[0].Kernels {
		if k.Of != "" {
			other++
		}
		if k.Only == "this" && k.NS == 3000 {
			only++
		}
	}
	if other != 1 || only != 1 || list[0].NS-list[0].OfNS != 4000 {
		t.Errorf("%d other kernels, %d more: %+v", other, only, list[0])
	}
	if list, last := layered(t, layergen.Config{Programs: []layergen.Program{layergen.Loop(300, 2)}, Steps: 2}).Layers(0); len(list) != 0 || last != -1 {
		t.Errorf("a loop of two kernels has layers: %+v", list)
	}
}

// TestPartsAddUp: a layer of 100 µs and one of 60 µs. In the first nothing runs from 20 to 55 µs, and communication of 30 µs from
// 60 µs on overlaps by 10 µs with the product of 55 to 70 µs; the other one has the same product, and no communication.
func TestPartsAddUp(t *testing.T) {
	kernel := func(name, part string, at, ns int64) summary.LayerKernel {
		return summary.LayerKernel{AtNS: at, NS: ns, Part: part, Name: name}
	}
	this := []summary.LayerKernel{kernel("norm", "norm", 0, 20), kernel("gemm", "mlp", 55, 15), kernel("reduce", "communication", 60, 30), kernel("late", "attention", 90, 25)}
	of := []summary.LayerKernel{kernel("norm", "norm", 0, 20), kernel("gemm", "mlp", 20, 15), kernel("late", "attention", 36, 24)}
	want := []LayerPart{{"", 35, 1}, {"communication", 30, 0}, {"overlapped", -25, 0}, {"attention", 25, 24}, {"norm", 20, 20}, {"mlp", 15, 15}}
	got := partsOf(this, of, 100, 60)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	var sum, ofSum int64
	for _, p := range got {
		sum, ofSum = sum+p.NS, ofSum+p.OfNS
	}
	if sum != 100 || ofSum != 60 {
		t.Errorf("rows add up to %d and %d", sum, ofSum)
	}
	kernels := paired(this, of)
	for i, want := range [][2]int64{{0, 0}, {35, 0}, {0, 0}, {0, 1}} {
		if k := kernels[i]; k.Gap != want[0] || k.Was != want[1] {
			t.Errorf("gap before %s is %d, was %d, want %d", k.Name, k.Gap, k.Was, want)
		}
	}
}
