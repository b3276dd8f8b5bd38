package analyze

import (
	"assay/summary"
	"assay/trace"
)

// A rowKey names one row of the kernel and copy tables.
type rowKey struct {
	device, stream int64
	name           trace.Sym
	kind           trace.Kind
}

// kernels sums the durations of kernels by device, stream and name. The sums
// are work: kernels that run at the same time count fully each.
func kernels(tl *timeline, rank int) []summary.Kernel {
	var rows []summary.Kernel
	index := make(map[rowKey]int)
	for a := range tl.t.Activities.All() {
		if a.Kind != trace.Kernel {
			continue
		}
		track := &tl.t.Tracks[a.Track]
		key := rowKey{track.Device, track.Stream, a.Name, a.Kind}
		at, ok := index[key]
		if !ok {
			at = len(rows)
			index[key] = at
			m := tl.classes[a.Name]
			rows = append(rows, summary.Kernel{
				Name: tl.t.Name(a.Name), Class: string(m.Class), Category: m.Category, Rule: m.Rule,
				Rank: rank, Device: track.Device, Stream: track.Stream, MinNS: a.Dur,
			})
		}
		r := &rows[at]
		r.Count++
		r.TotalNS = summary.Plus(r.TotalNS, a.Dur)
		r.MinNS = min(r.MinNS, a.Dur)
		r.MaxNS = max(r.MaxNS, a.Dur)
	}
	return rows
}

// copies sums the durations and bytes of copies and memsets by device, stream
// and name. Where a copy does not tell its bytes, those that its call asked for
// count.
func copies(tl *timeline, rank int) []summary.Copy {
	var rows []summary.Copy
	index := make(map[rowKey]int)
	asked := make(map[trace.ID]int64)
	for c := range tl.t.CopySizes.All() {
		if c.Correlation != 0 { // else it says of no copy that it is its own
			asked[c.Correlation] = c.Bytes
		}
	}
	for a := range tl.t.Activities.All() {
		if a.Kind == trace.Kernel {
			continue
		}
		track := &tl.t.Tracks[a.Track]
		key := rowKey{track.Device, track.Stream, a.Name, a.Kind}
		at, ok := index[key]
		if !ok {
			at = len(rows)
			index[key] = at
			class := summary.ClassCopy
			if a.Kind == trace.Memset {
				class = summary.ClassMemset
			}
			rows = append(rows, summary.Copy{
				Name: tl.t.Name(a.Name), Class: class.String(),
				Rank: rank, Device: track.Device, Stream: track.Stream, MinNS: a.Dur,
			})
		}
		r := &rows[at]
		r.Count++
		r.TotalNS = summary.Plus(r.TotalNS, a.Dur)
		r.MinNS = min(r.MinNS, a.Dur)
		r.MaxNS = max(r.MaxNS, a.Dur)
		n, known := tl.t.Detail(a.Detail).Bytes, true
		if n < 0 {
			n, known = asked[a.Correlation]
		}
		if known {
			if r.Bytes == nil {
				r.Bytes = new(int64)
			}
			*r.Bytes = summary.Plus(*r.Bytes, n)
		}
	}
	return rows
}
