package efficiency

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"assay/summary"
	"assay/summary/view/efficiency"
)

// A Comparison has the sums of both sides over all GPUs, and the operators that both sides have.
type Comparison struct {
	Base summary.EfficiencySums `json:"base"`
	New  summary.EfficiencySums `json:"new"`
	// MFU and HFU are ranges if FLOPs are unknown for a part of GPU time.
	MFU Utilization `json:"mfu"`
	HFU Utilization `json:"hfu"`
	Ops []Op        `json:"ops"` // the largest effect first
}

// A Utilization is MFU or HFU of both sides, null if unknown.
type Utilization struct {
	Base *efficiency.Range `json:"base"`
	New  *efficiency.Range `json:"new"`
}

// An Op is an operator with one set of inputs, added up over all calls and GPUs of a side.
type Op struct {
	Op    string          `json:"op"`
	Dims  json.RawMessage `json:"dims"`
	Types json.RawMessage `json:"types"`
	Base  Side            `json:"base"`
	New   Side            `json:"new"`
	// EffectNS is the change of the mean call in ns, times the calls of the new side.
	EffectNS int64 `json:"effect_ns"`
}

// A Side is an operator on one side.
type Side struct {
	Count      int64  `json:"count"`
	NS         int64  `json:"gpu_ns"`
	RooflineNS *int64 `json:"roofline_ns"`
}

// Of compares two summaries. It returns nil if a side has no known FLOPs and bytes, or if the GPUs
// or their peaks differ.
func Of(base, new *summary.Summary) *Comparison {
	if !known(base) || !known(new) || !samePeaks(base.Efficiency.Devices, new.Efficiency.Devices) {
		return nil
	}
	c := &Comparison{Base: base.Efficiency.Total(), New: new.Efficiency.Total(), Ops: []Op{}}
	c.MFU = Utilization{rangeOf(efficiency.MFU(base, efficiency.Devices(base))),
		rangeOf(efficiency.MFU(new, efficiency.Devices(new)))}
	c.HFU = Utilization{rangeOf(efficiency.HFU(base, efficiency.Devices(base))),
		rangeOf(efficiency.HFU(new, efficiency.Devices(new)))}
	type key struct{ op, dims, types string }
	before := map[key]efficiency.Operator{}
	for _, o := range efficiency.ByInputs(base) {
		before[key{o.Op, o.Dims, o.Types}] = o
	}
	for _, o := range efficiency.ByInputs(new) {
		was, ok := before[key{o.Op, o.Dims, o.Types}]
		if !ok || was.Count <= 0 || o.Count <= 0 {
			continue
		}
		effect := float64(o.GPUNS) - float64(was.GPUNS)/float64(was.Count)*float64(o.Count)
		c.Ops = append(c.Ops, Op{o.Op, raw(o.Dims), raw(o.Types), sideOf(&was), sideOf(&o), int64(effect)})
	}
	slices.SortStableFunc(c.Ops, func(a, b Op) int { return cmp.Compare(size(b.EffectNS), size(a.EffectNS)) })
	return c
}

func rangeOf(r efficiency.Range, known bool) *efficiency.Range {
	if !known {
		return nil
	}
	return &r
}

func sideOf(o *efficiency.Operator) Side { return Side{o.Count, o.GPUNS, o.RooflineNS} }

func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

func size(ns int64) int64 { return max(ns, -max(ns, -1<<62)) }

// OtherPeaks reports whether different GPUs or peaks are all that prevents the comparison.
func OtherPeaks(base, new *summary.Summary) bool {
	return known(base) && known(new) && !samePeaks(base.Efficiency.Devices, new.Efficiency.Devices)
}

// known reports whether FLOPs or bytes of a side are known.
func known(s *summary.Summary) bool {
	total := s.Efficiency.Total()
	return total.FLOPsKnownNS > 0 || total.BytesKnownNS > 0
}

// samePeaks reports whether all GPUs of both sides have one name and equal peaks.
func samePeaks(base, new []summary.EfficiencyDevice) bool {
	all := slices.Concat(base, new)
	if len(base) == 0 || len(new) == 0 {
		return false
	}
	first := &all[0]
	return !slices.ContainsFunc(all, func(d summary.EfficiencyDevice) bool {
		return d.Name != first.Name || !maps.Equal(d.PeakTFLOPS, first.PeakTFLOPS) || !equal(d.HBMGBPS, first.HBMGBPS)
	})
}

func equal(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }
