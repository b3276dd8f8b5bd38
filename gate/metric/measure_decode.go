package metric

import (
	"errors"
	"fmt"

	"assay/internal/label"
)

// decode returns the bandwidth utilization of the selected decode steps, weighted by their time. It
// is an error if one of them has none.
func (v selection) decode() (Value, error) {
	if len(v.Efficiency.Devices) == 0 {
		return Value{}, errNoEfficiency
	}
	steps, sum, wall := int64(0), 0.0, int64(0)
	for i := range v.Efficiency.Decode {
		d := &v.Efficiency.Decode[i]
		if !v.sel.hasDevice(d.Rank, d.Device) || v.sel.Value("steps") != "" && !v.sel.hasStep(d.Number) {
			continue
		}
		if d.Share == nil {
			return Value{}, fmt.Errorf("the bandwidth of decode step %q is unknown: %s", label.Clip(label.Clean(d.Name), 60),
				d.Unknown)
		}
		steps, sum, wall = steps+1, sum+*d.Share*float64(d.WallNS), wall+d.WallNS
	}
	if steps == 0 || wall == 0 {
		return Value{}, errors.New("no decode step: assay knows them by the annotations of vLLM, SGLang and ATOM")
	}
	return Value{V: sum / float64(wall), Num: clamp(sum), Den: wall}, nil
}
