package efficiency

import (
	"assay/analyze/efficiency/hardware"
	"assay/summary"
)

// whole returns 1 for a step with all its GPU work, else 0.
func whole(s *summary.Step) int64 {
	if s.LaunchesCut > 0 {
		return 0
	}
	return 1
}

// wholeSteps returns the number of steps of the GPU with all their work.
func (r rates) wholeSteps(all []summary.Step) (n int64) {
	for i := range all {
		if s := &all[i]; s.Device == r.d.Ordinal && s.Source != summary.SourceLog {
			n += whole(s)
		}
	}
	return n
}

// given replaces model FLOPs and MFU by values from the FLOPs per step that the user stated. These
// need no shapes. Without a whole step or a peak, MFU is unknown.
func (r rates) given(out *summary.EfficiencySums, steps int64, executed hardware.Tally) {
	m := r.model
	if m.PerStep == 0 {
		return
	}
	t := m.Tally(steps, executed)
	out.ModelFLOPs, out.MFU, out.MFUFrom = 0, nil, summary.MFUOfUser
	for _, n := range t {
		out.ModelFLOPs = out.ModelFLOPs.Plus(n)
	}
	if share, ok := r.peaks.Utilization(t, out.WallNS); ok {
		out.MFU = &share
	}
}
