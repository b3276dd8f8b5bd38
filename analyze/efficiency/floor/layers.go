package floor

import "assay/summary"

const (
	// covered is the share of a GPU's busy time that steps must have for the counts of its kernels to be those of whole steps.
	covered = 0.98
	// most is how often a kernel may run in each layer, to tell the number of layers.
	most = 4
)

// otherLayers reports whether the GPU of a step certainly runs another number of layers: no kernel runs once, or
// a few times, in each layer of each of its steps.
func otherLayers(s *summary.Summary, d *summary.EfficiencyDecode, layers int64) bool {
	var busy, inSteps, steps int64
	for i := range s.Devices {
		if g := &s.Devices[i]; g.Input == d.Input && g.Rank == d.Rank && g.Device == d.Device {
			busy += g.Activity.Busy()
		}
	}
	for i := range s.Steps {
		st := &s.Steps[i]
		if st.Input != d.Input || st.Rank != d.Rank || st.Device != d.Device || st.Source == summary.SourceLog {
			continue
		}
		if st.LaunchesCut > 0 {
			return false
		}
		steps, inSteps = steps+1, inSteps+st.Activity.Busy()
	}
	if steps == 0 || float64(inSteps) < covered*float64(busy) {
		return false
	}
	for i := range s.Kernels {
		k := &s.Kernels[i]
		if k.Input != d.Input || k.Rank != d.Rank || k.Device != d.Device {
			continue
		}
		for times := int64(1); times <= most; times++ {
			want := float64(steps * layers * times)
			if n := float64(k.Count); n >= covered*want && n*covered <= want {
				return false
			}
		}
	}
	return true
}

// passes returns how often the GPU of a step runs through the layers of the model in it, as far as layers were found: in this step,
// or, if it has no rows, in those that have.
func passes(s *summary.Summary, d *summary.EfficiencyDecode, layers int64) (n int64) {
	counts := map[string]int64{} // by step
	for i := range s.Layers {
		if l := &s.Layers[i]; l.Input == d.Input && l.Rank == d.Rank && l.Device == d.Device && l.Step != "" {
			counts[l.Step] += l.Count
		}
	}
	if here, ok := counts[d.Name]; ok {
		return here / max(1, layers)
	}
	for _, count := range counts {
		n = max(n, count/max(1, layers))
	}
	return n
}
