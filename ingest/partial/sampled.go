package partial

import (
	"path/filepath"

	"assay/analyze/samples"
)

// joinSamples names functions in the idle time of traces by the samples of samplers, which are of the same rank.
func joinSamples(all []Part) {
	ofRank := map[int][]*Part{}
	for i := range all {
		if p := &all[i]; len(p.samples) > 0 && !p.isCopy() {
			ofRank[p.Summary.Inputs[0].Rank] = append(ofRank[p.Summary.Inputs[0].Rank], p)
		}
	}
	for i := range all {
		p := &all[i]
		if p.launching == nil || p.isCopy() {
			continue
		}
		for _, from := range ofRank[p.Summary.Inputs[0].Rank] {
			if samples.Join(p.Summary, p.launching, filepath.Base(from.Summary.Inputs[0].Path), from.samples) {
				break
			}
		}
	}
	for i := range all {
		all[i].launching, all[i].samples = nil, nil
	}
}
