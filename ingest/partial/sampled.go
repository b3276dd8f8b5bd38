package partial

import (
	"path/filepath"

	"assay/analyze/samples"
)

// joinSamples names functions in the idle time of traces by the samples of samplers of the same rank. Only few inputs have
// both: see [ingest.Sampled].
func joinSamples(all []Part) {
	for i, p := range all {
		for _, from := range all {
			if p.launching != nil && !p.isCopy() && len(from.samples) > 0 && !from.isCopy() && from.Summary.Inputs[0].Rank == p.Summary.Inputs[0].Rank &&
				samples.Join(p.Summary, p.launching, filepath.Base(from.Summary.Inputs[0].Path), from.samples) {
				break
			}
		}
		all[i].launching = nil
	}
}
