package calls

import (
	"assay/analyze/gpu"
	"assay/analyze/limits"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// A copyKey identifies a row of the table of copies by call.
type copyKey struct {
	device int64
	name   trace.Sym
	kind   trace.Kind
	call   trace.Sym
	large  bool
	pool   bool // the row of the copies over the budget
}

// Copies sums copies and memsets by the call that made them. The time of a call with several
// copies counts in each of their rows.
func (c *Calls) Copies(budget *limits.Budget) (out []summary.CopyCall) {
	tl, sizes := c.tl, gpu.CopyBytes(c.t)
	taken, index := budget.Table(), make(map[copyKey]int)
	var recent struct { // cache: the row of the last copy
		key copyKey
		at  int
	}
	type call struct{ row, link int32 }
	counted := make(map[call]bool) // calls with several copies that have been counted
	windows := make(map[int64]interval.Span)
	for _, d := range tl.Devices {
		windows[d.Ordinal] = d.Window
	}
	number := -1
	for w := range c.t.Activities.All() {
		number++
		device := c.t.Tracks[w.Track].Device
		if w.Kind == trace.Kernel || device > tl.Last || !c.t.Window.Starts(w.Start) {
			continue
		}
		bytes, known := sizes(w)
		link := c.links.Of[number]
		key := copyKey{device: device, name: w.Name, kind: w.Kind, large: isLarge(bytes, known, w.Dur)}
		if link >= 0 && c.links.HasCall(link) {
			key.call = c.links.Call(link).Name
		}
		at, ok := recent.at, recent.key == key && len(out) > 0
		if !ok {
			at, ok = index[key]
		}
		if !ok && !taken.Take(len(c.t.Name(key.name))+len(c.t.Name(key.call))) {
			key = copyKey{device: device, kind: w.Kind, pool: true}
			at, ok = index[key]
		}
		if !ok {
			at = len(out)
			index[key] = at
			out = append(out, c.copyRow(key))
		}
		recent.key, recent.at = key, at
		r := &out[at]
		addCopy(r, w, bytes, known)
		if key.call == 0 {
			continue
		}
		if k := (call{int32(at), link}); c.links.List[link].Work > 1 {
			if counted[k] {
				continue
			}
			counted[k] = true
		}
		r.HostNS = summary.Plus(r.HostNS, c.links.Time(link).And(windows[device]).Len())
		r.LostNS = summary.Plus(r.LostNS, c.copies[link])
	}
	return out
}

// longCopy is a time in ns in which any link of a GPU copies more than [summary.LargeCopyBytes]: less would be 65 MB/s.
const longCopy = 1_000_000

// isLarge reports whether a copy is large, by its size or, where that is unknown, by its time.
func isLarge(bytes int64, known bool, dur int64) bool {
	if !known {
		return dur >= longCopy
	}
	return bytes > summary.LargeCopyBytes
}

func (c *Calls) copyRow(key copyKey) summary.CopyCall {
	r := summary.CopyCall{Name: c.t.Name(key.name), Call: c.t.Name(key.call), Class: summary.ClassCopy.String(),
		Large: key.large, Device: key.device}
	if key.kind == trace.Memset {
		r.Class = summary.ClassMemset.String()
	}
	if key.pool {
		r.Name = limits.OtherCopies
	}
	return r
}

func addCopy(r *summary.CopyCall, w *trace.Activity, bytes int64, known bool) {
	if r.Count == 0 || w.Dur > r.MaxNS || w.Dur == r.MaxNS && w.Start < r.MaxStartNS {
		r.MaxNS, r.MaxStartNS = w.Dur, w.Start
	}
	r.Count++
	r.TotalNS = summary.Plus(r.TotalNS, w.Dur)
	if known {
		if r.Bytes == nil {
			r.Bytes = new(int64)
		}
		*r.Bytes = summary.Plus(*r.Bytes, bytes)
	}
}
