package inspect

import (
	"bytes"
	"testing"

	"assay/analyze"
	"assay/internal/test"
	"assay/internal/test/layergen"
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
