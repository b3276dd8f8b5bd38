package floor

import (
	"slices"
	"strings"

	"assay/analyze/efficiency/transformer"
	"assay/analyze/ranks"
	"assay/summary"
)

// parallel returns how GPUs divide the work of a step, and where that is from, "" if it is not known: the
// user, the settings in a log among the inputs, the process groups of the capture, or that nothing was
// communicated.
func (set *Settings) parallel(s *summary.Summary, d *summary.EfficiencyDecode) (p transformer.Parallel, from string) {
	switch {
	case set.Parallel != transformer.Parallel{}:
		p, from = set.Parallel, summary.FromUser
	default:
		if p = ofSettings(s); p.Tensor > 0 {
			from = summary.FromLog
		} else if p = ofGroups(s, d.Input); p.Tensor > 0 {
			from = summary.FromGroups
		} else if alone(s, d) {
			from = summary.FromAlone
		}
	}
	return transformer.Parallel{Tensor: max(1, p.Tensor), Expert: max(1, p.Expert), Pipeline: max(1, p.Pipeline)}, from
}

// ofSettings returns the parallelism that all logs agree on.
func ofSettings(s *summary.Summary) (p transformer.Parallel) {
	for name, to := range map[string]*int64{
		"engine.tensor_parallel": &p.Tensor, "engine.expert_parallel": &p.Expert, "engine.pipeline_parallel": &p.Pipeline,
	} {
		for i := range s.Settings {
			r := &s.Settings[i]
			if r.Name != name {
				continue
			}
			v, ok := r.Number()
			if !ok || r.Varies || v < 1 || *to != 0 && *to != int64(v) {
				return transformer.Parallel{}
			}
			*to = int64(v)
		}
	}
	return p
}

// ofGroups returns the parallelism that the descriptions of process groups state, without Tensor if none is
// for tensor parallelism.
func ofGroups(s *summary.Summary, input int) (p transformer.Parallel) {
	if input < 0 || input >= len(s.Inputs) {
		return p
	}
	at := map[string]*int64{summary.ParallelTensor: &p.Tensor, summary.ParallelExpert: &p.Expert, summary.ParallelPipeline: &p.Pipeline}
	for _, g := range s.Inputs[input].ProcessGroups {
		if to := at[ranks.ParallelOf(g.Description)]; to != nil {
			*to = max(*to, int64(g.Size))
		}
	}
	return p
}

// alone reports whether the GPU of a step communicated nothing, in a capture of one rank.
func alone(s *summary.Summary, d *summary.EfficiencyDecode) bool {
	if d.Input < 0 || d.Input >= len(s.Inputs) || s.Inputs[d.Input].WorldSize > 1 {
		return false
	}
	at := slices.IndexFunc(s.Devices, func(g summary.Device) bool {
		return g.Input == d.Input && g.Rank == d.Rank && g.Device == d.Device
	})
	return at >= 0 && s.Devices[at].Activity.With(summary.ClassComm) == 0
}

// cacheType returns the bytes of an element of the cache that the log of an engine states.
func cacheType(s *summary.Summary) (bytes float64, known bool) {
	for i := range s.Settings {
		r := &s.Settings[i]
		if r.Name != "engine.cache_type" || r.Varies {
			continue
		}
		switch value := strings.ToLower(r.Value); {
		case strings.HasPrefix(value, "fp8"):
			return 1, true
		case strings.Contains(value, "bfloat16"), strings.Contains(value, "float16"):
			return 2, true
		}
	}
	return 0, false
}
