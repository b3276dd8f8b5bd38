package whatif

import (
	"fmt"
	"strings"

	"assay/analyze/critical"
	"assay/analyze/efficiency"
	"assay/analyze/efficiency/hardware"
	"assay/analyze/gpu"
	"assay/trace"
)

const (
	// ofPeak is the part of the peak of PCIe that large copies from pinned memory reach: headers take the rest.
	ofPeak = 0.85
	// shortest is what a small copy takes, in ns, whatever memory it is from.
	shortest = 5000
)

// pinning returns how long copies from and to pageable memory would take with pinned memory, by their bytes and
// the link of the GPU to the host.
func pinning(inputs []Input) (out critical.Pinning) {
	var is, would, bytes, unsized, fastest float64 // ns, and bytes/ns
	for _, in := range inputs {
		sizeOf, peaks := gpu.CopyBytes(in.Trace), map[int64]float64{}
		for a := range in.Trace.Activities.All() {
			name := in.Trace.Name(a.Name)
			if a.Kind != trace.Memcpy || a.Dur <= 0 || !strings.Contains(strings.ToLower(name), "pageable") {
				continue
			}
			device := in.Trace.Tracks[a.Track].Device
			rate, known := peaks[device]
			if !known {
				p := hardware.Catalog{}.Peaks(efficiency.PropertiesOf(in.Trace, device))
				rate = ofPeak * p.Figures[p.LaneOf("Memcpy HtoD")]
				peaks[device] = rate
			}
			is += float64(a.Dur)
			n, sized := sizeOf(a)
			if !sized || rate == 0 {
				unsized += float64(a.Dur)
				continue
			}
			fastest = max(fastest, rate)
			bytes, would = bytes+float64(n), would+min(float64(a.Dur), max(shortest, float64(n)/rate))
		}
	}
	switch {
	case is == 0:
	case 100*unsized > is:
		out.Unknown = "how fast copies are with pinned memory is not known: " +
			"the capture has no sizes of the copies, or the link of the GPU is unknown"
	default:
		out.Factor = would / is
		out.Rests = fmt.Sprintf("with pinned memory copies are taken to reach %.0f GB/s, %.0f%% of the peak of the link; "+
			"those of pageable memory reach %.1f", fastest, 100*ofPeak, bytes/is)
	}
	return out
}
