package partial

import (
	"fmt"
	"path/filepath"

	"assay/analyze/samples"
	"assay/ingest"
	"assay/internal/diag"
	"assay/summary"
)

// joinSamples names functions in the idle time of traces by the samples of samplers of the same rank. Only few inputs have
// both: see [ingest.Sampled].
func joinSamples(all []Part) {
	if len(all) > ingest.MostSampled {
		for _, p := range all {
			if s := p.Summary; len(p.samples) > 0 && !p.isCopy() {
				s.Issues = append(s.Issues, summary.Issue{Code: "samples-not-joined", Severity: diag.Info.String(), First: s.Inputs[0].Path, Count: 1,
					Help: fmt.Sprintf("Samples name functions in the idle time of traces only where at most %d inputs are read. Give this file with the trace of its process alone.", ingest.MostSampled)})
				s.Sort()
			}
		}
		return
	}
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
