package fusion

import (
	"strings"

	"assay/analyze/gpu"
	"assay/summary"
	"assay/trace"
)

// leastBytes is the size from which a copy to the host and one back count as of the same data: copies of a few numbers
// often have the same size.
const leastBytes = 4 << 10

// HostCopies returns a row of the copies to the host that are followed by a copy of as many bytes to the GPU, without any other
// copy or kernel between them: the GPU waits for its own data. Data that is copied back after other work was offloaded, and so
// probably was what goes to pinned memory. There is no row if there are none.
func HostCopies(tl *gpu.Timeline, d *gpu.Device, rank int) []summary.Saving {
	bytesOf := gpu.CopyBytes(tl.Trace)
	row := summary.Saving{Kind: summary.SavingHost, Names: []string{"copy to the host", "copy to the GPU"}, Rank: rank, Device: d.Ordinal,
		Bytes: new(int64), GainFrom: summary.GainAtMost}
	bytes, downNS, busy := int64(0), int64(0), int64(0) // busy is the end of the kernels so far
	for _, w := range d.Work {
		a := tl.Activity(w)
		if a.Kind == trace.Kernel {
			bytes, busy = 0, max(busy, w.End())
		}
		if a.Kind != trace.Memcpy || !tl.Starts(w) {
			continue
		}
		name := tl.Trace.Name(a.Name)
		n, known := bytesOf(a)
		switch {
		case strings.HasPrefix(name, "Memcpy DtoH"):
			if bytes, downNS = 0, w.Dur; known && n >= leastBytes && busy <= w.Start && !strings.Contains(name, "Pinned") {
				bytes = n
			}
		case strings.HasPrefix(name, "Memcpy HtoD"):
			if known && n == bytes && bytes > 0 {
				row.Count, *row.Bytes = row.Count+1, summary.Plus(*row.Bytes, summary.Plus(n, n))
				row.TotalNS = summary.Plus(row.TotalNS, summary.Plus(downNS, w.Dur))
			}
			bytes = 0
		}
	}
	if row.Count == 0 {
		return nil
	}
	row.GainNS = row.TotalNS
	return []summary.Saving{row}
}
