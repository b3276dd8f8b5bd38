package metric

import (
	"errors"
	"fmt"

	"assay/internal/label"
	"assay/summary"
	"assay/summary/view/efficiency"
)

// decodeMBU returns the memory bandwidth utilization of the selected decode steps, weighted by their time: of
// recorded shapes, or by the configuration of the model. It is an error if one of them has none.
func (v selection) decodeMBU() (Value, error) {
	if len(v.Efficiency.Devices) == 0 {
		return Value{}, errNoEfficiency
	}
	steps, sum, wall, lower := int64(0), 0.0, int64(0), false
	for i := range v.Efficiency.Decode {
		d := &v.Efficiency.Decode[i]
		if !v.sel.hasDevice(d.Rank, d.Device) || v.sel.Value("steps") != "" && !v.sel.hasStep(d.Number) {
			continue
		}
		if d.MBU == nil {
			return Value{}, fmt.Errorf("the MBU of decode step %q is unknown: %s", label.Clip(label.Clean(d.Name), 60), efficiency.NoMBU(d))
		}
		lower = lower || d.FloorFrom == summary.FloorOfModel && d.Model != nil && d.Model.CacheBytes == nil
		steps, sum, wall = steps+1, sum+*d.MBU*float64(d.WallNS), wall+d.WallNS
	}
	if steps == 0 || wall == 0 {
		return Value{}, errors.New("no decode step: assay knows them by the annotations of vLLM, SGLang and ATOM; --batch N takes every step as one")
	}
	out := Value{V: sum / float64(wall), Num: clamp(sum), Den: wall}
	if lower {
		out.Bounded, out.Most, out.Note = true, 1, "no annotation states the lengths in the KV cache, so only the weights count"
	}
	return out, nil
}
