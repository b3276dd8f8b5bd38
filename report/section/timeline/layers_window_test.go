package timeline

import (
	"testing"

	"assay/judge"
	"assay/judge/rule"
	"assay/report/section"
	"assay/summary"
)

// screenLayers returns the number of lines about layers of a window of a GPU: 10 s, of which kernels run in 5, and layers for some time.
func screenLayers(layers int64, issues ...summary.Issue) int {
	const second = 1_000_000_000
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Events: 10, Complete: true}}, Issues: issues}
	d := summary.Device{StartNS: 0, WindowNS: 10 * second}
	d.Activity[summary.ClassCompute], d.Activity[0] = 5*second, 5*second
	s.Devices = []summary.Device{d}
	if layers > 0 {
		l := summary.Layer{Kind: "attention-layer", Pass: "forward", Count: 10, StartNS: 0, EndNS: layers, MedianNS: layers / 10, Confidence: 1}
		l.Parts.Attention, l.Parts.MLP = layers/2, layers/2
		s.Layers = []summary.Layer{l}
	}
	ctx := &section.Context{Summary: s, Result: judge.Judge(s, rule.DefaultThresholds())}
	return len(ScreenLayers(ctx).Blocks)
}

// TestWindowWithSetup: layers of 3 s are most of 5 s of kernels, though not of a window with 5 s of setup; layers of 2 s are not.
func TestWindowWithSetup(t *testing.T) {
	if n := screenLayers(3_000_000_000); n != 1 {
		t.Errorf("3 of 5 s: %d lines", n)
	}
	if n := screenLayers(2_000_000_000); n != 0 {
		t.Errorf("2 of 5 s: %d lines", n)
	}
}

// TestWithoutLayers: the screen says why there are none where kernels of two passes alternate, and else nothing.
func TestWithoutLayers(t *testing.T) {
	if n := screenLayers(0, summary.Issue{Code: "layers-interleaved"}); n != 1 {
		t.Errorf("interleaved: %d lines", n)
	}
	if n := screenLayers(0); n != 0 {
		t.Errorf("no layers: %d lines", n)
	}
}
