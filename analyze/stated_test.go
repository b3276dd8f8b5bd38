package analyze_test

import (
	"bytes"
	"math"
	"testing"

	"assay/analyze"
	"assay/internal/test/vendorgen"
	"assay/summary"
	"assay/trace/xplane"
)

// statedTPU is a capture of a TPU v6 lite (918 TFLOP/s in bf16 and 1836 in int8, 1638 GB/s) of 1 ms. The times in µs, the
// FLOPs (also of the model) and the bytes of its operations are given.
func statedTPU(ops ...statedOp) []vendorgen.Plane {
	line := vendorgen.Line{ID: 3, Name: "XLA Ops"}
	at := int64(1_000_000_000)
	for _, o := range ops {
		e := vendorgen.Event{Name: "%" + o.name + " = bf16[8] fusion(" + o.operand + " %p)", Shown: o.name, Start: at, Dur: o.us * 1_000_000, Stats: []vendorgen.Stat{{Name: "hlo_category", Value: o.category}}}
		for _, s := range []struct {
			name string
			n    int64
		}{{"flops", o.flops}, {"model_flops", o.model}, {"bytes_accessed", o.bytes}} {
			if s.n >= 0 {
				e.Stats = append(e.Stats, vendorgen.Stat{Name: s.name, Value: s.n})
			}
		}
		line.Events = append(line.Events, e)
		if at += e.Dur; o.inside {
			at = e.Start
		}
	}
	return []vendorgen.Plane{{Name: "/device:TPU:0", Own: []vendorgen.Stat{{Name: "device_type_string", Value: "TPU v6 lite"}}, Lines: []vendorgen.Line{line}}}
}

type statedOp struct {
	name, category, operand string
	us, flops, model, bytes int64
	inside                  bool // the next operation begins with it
}

// TestStatedWork: what XLA states enters MFU, HFU and rooflines, by hand.
//
//	conv    500 µs  459e9·0.2 FLOPs of 918e12·1e-3 = 918e9 in the window of 1 ms: HFU 10%; model FLOPs are half: MFU 5%
//	int8    100 µs  183.6e9 FLOPs are 10% of 1836e12·1e-3
//	add     100 µs  81.9e6 bytes take 50 µs at 1638 GB/s
//	custom  200 µs  Pallas: 0 FLOPs are stated and not known
//	copy    100 µs  states only bytes beyond the peak of the memory: no roofline
func TestStatedWork(t *testing.T) {
	conv := statedOp{name: "fusion.1", category: "convolution fusion", operand: "bf16[8]", us: 500, flops: 91_800_000_000, model: 45_900_000_000, bytes: 1_638_000}
	low := statedOp{name: "fusion.2", category: "convolution fusion", operand: "s8[8]", us: 100, flops: 183_600_000_000, model: 183_600_000_000, bytes: 1_638_000}
	add := statedOp{name: "add.3", category: "non-fusion elementwise", operand: "f32[8]", us: 100, flops: 1000, model: 1000, bytes: 81_900_000}
	custom := statedOp{name: "custom-call.4", category: "custom-call", us: 200, bytes: 1000}
	rest := statedOp{name: "reshape.5", category: "reshape", us: 100, flops: -1, model: -1, bytes: -1}
	for name, c := range map[string]struct {
		ops               []statedOp
		mfu, hfu          float64 // -1: not known
		flopsUS, bytesUS  int64
		roofline, recover int64 // ns
	}{
		"all":                   {[]statedOp{conv, low, add, custom, rest}, 0.15, 0.20, 700, 900, 100_000 + 100_000 + 50_000, 400_000 + 50_000},
		"a loop":                {[]statedOp{{name: "while.9", category: "while", us: 1000, flops: 9e15, model: 9e15, bytes: 9e15, inside: true}, conv, low, add, custom, rest}, 0.15, 0.20, 700, 900, 250_000, 450_000},
		"only some":             {[]statedOp{custom, rest, rest, rest, rest, rest, rest, rest, rest}, -1, -1, 0, 200, 0, 0},
		"bytes no device moves": {[]statedOp{{name: "add.3", category: "non-fusion elementwise", operand: "f32[8]", us: 1000, flops: -1, model: -1, bytes: math.MaxInt64}}, -1, -1, 0, 0, 0, 0},
		"none":                  {[]statedOp{rest, rest}, -1, -1, 0, 0, 0, 0},
	} {
		s := statedSummary(t, statedTPU(c.ops...))
		total := s.Efficiency.Total()
		near := func(got *float64, want float64) bool {
			return (got == nil) == (want < 0) && (got == nil || math.Abs(*got-want) < 1e-6)
		}
		if !near(total.MFU, c.mfu) || !near(total.HFU, c.hfu) || total.FLOPsKnownNS != c.flopsUS*1000 || total.BytesKnownNS != c.bytesUS*1000 || total.RooflineNS != c.roofline || total.RecoverableNS != c.recover {
			t.Errorf("%s: MFU %v, HFU %v, known %d and %d ns, roofline %d, recoverable %d; want %+v", name, show(total.MFU), show(total.HFU), total.FLOPsKnownNS, total.BytesKnownNS, total.RooflineNS, total.RecoverableNS, c)
		}
		for _, r := range s.Efficiency.Rows {
			if r.From != summary.FromCompiler || r.Op == "custom-call" && (r.FLOPs != nil || r.Unknown != "not stated") {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
}

func show(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

// TestStatedOverPeak: an operation that is faster than the matrix units has no MFU, and the bytes of a breakdown by memory
// count instead of all.
func TestStatedOverPeak(t *testing.T) {
	fast := statedOp{name: "fusion.1", category: "convolution fusion", operand: "bf16[8]", us: 1000, flops: 2 * 918_000_000_000, model: 1, bytes: 10}
	if total := statedSummary(t, statedTPU(fast)).Efficiency.Total(); total.HFU != nil || total.RooflineNS != 0 {
		t.Errorf("HFU %v, roofline %d", show(total.HFU), total.RooflineNS)
	}
}

// statedSummary measures a capture.
func statedSummary(t *testing.T, planes []vendorgen.Plane) *summary.Summary {
	t.Helper()
	tr, _, err := xplane.Read(bytes.NewReader(vendorgen.Space(planes)), "x.xplane.pb", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	s := analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())
	checkEfficiency(t, s)
	return s
}
