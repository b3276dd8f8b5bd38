package whatif

import (
	"fmt"
	"strings"

	"assay/analyze/critical/forecast"
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

// copying returns how fast the copies of ranks are: which could not be twice as fast on their links, and how long those
// from and to pageable memory would take with pinned memory. Both follow from their bytes and the peaks of the links.
func copying(inputs []Input) (out forecast.Copying) {
	var is, would, bytes, unsized, fastest float64 // ns, and bytes/ns
	all, atPeak := map[string]float64{}, map[string]float64{}
	for _, in := range inputs {
		sizeOf, of := gpu.CopyBytes(in.Trace), map[int64]*hardware.Peaks{}
		for a := range in.Trace.Activities.All() {
			if a.Kind == trace.Kernel || a.Dur <= 0 {
				continue
			}
			name, ns := in.Trace.Name(a.Name), float64(a.Dur)
			device := in.Trace.Tracks[a.Track].Device
			if of[device] == nil {
				p := hardware.Catalog{}.Peaks(efficiency.PropertiesOf(in.Trace, device))
				of[device] = &p
			}
			n, sized := sizeOf(a)
			rate := float64(n) / ns
			lane := efficiency.LaneOf(of[device], name)
			if lane == hardware.HBM { // the same memory is read and written
				rate *= 2
			}
			all[name], all[""] = all[name]+ns, all[""]+ns
			peak := of[device].Figures[lane]
			if a.Kind != trace.Memcpy {
				continue
			} else if sized && peak > 0 && 2*rate > peak {
				atPeak[name], atPeak[""] = atPeak[name]+ns, atPeak[""]+ns
			}
			if !strings.Contains(strings.ToLower(name), "pageable") {
				continue
			}
			is += ns
			if !sized || peak == 0 {
				unsized += ns
				continue
			}
			fastest = max(fastest, ofPeak*peak)
			bytes, would = bytes+float64(n), would+min(ns, max(shortest, float64(n)/(ofPeak*peak)))
		}
	}
	for name, ns := range atPeak {
		if 2*ns > all[name] {
			if out.AtPeak == nil {
				out.AtPeak = map[string]bool{}
			}
			out.AtPeak[strings.Clone(name)] = true
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
