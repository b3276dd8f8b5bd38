package fusion

import (
	"strings"

	"assay/analyze/efficiency"
	"assay/analyze/gpu"
	"assay/summary"
	"assay/trace"
)

// leastBytes is the size from which a copy to the host and one back count as of the same data: copies of a few numbers
// often have the same size.
const leastBytes = 4 << 10

// hostCopies adds copies to the host that are followed by a copy of as many bytes to the GPU, before any other copy
// between them.
func (f *finder) hostCopies(d *gpu.Device) {
	bytesOf := gpu.CopyBytes(f.Timeline.Trace)
	down, downNS := int64(0), int64(0)
	for _, w := range d.Work {
		a := f.Timeline.Activity(w)
		if a.Kind != trace.Memcpy || !f.Timeline.Starts(w) {
			continue
		}
		name := f.Timeline.Trace.Name(a.Name)
		n, known := bytesOf(a)
		switch {
		case strings.HasPrefix(name, "Memcpy DtoH"):
			if down, downNS = 0, w.Dur; known && n >= leastBytes {
				down = n
			}
		case strings.HasPrefix(name, "Memcpy HtoD"):
			if known && n == down && down > 0 {
				both := summary.Plus(n, n)
				pair := []element{{Launcher: efficiency.Launcher{Name: "copy to the host"}}, {Launcher: efficiency.Launcher{Name: "copy to the GPU"}}}
				f.add(summary.SavingHost, pair, downNS+w.Dur, &both, downNS+w.Dur, summary.GainAtMost)
			}
			down = 0
		}
	}
}
