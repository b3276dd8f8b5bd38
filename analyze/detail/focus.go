package detail

import (
	"cmp"
	"iter"
	"slices"
	"sort"

	"assay/internal/interval"
	"assay/internal/stat"
	"assay/summary"
)

// A place is a span that readers are likely to zoom into, and the reason.
type place struct {
	interval.Span
	why    string
	around bool // show the operations before and after it too
}

// The limits of focus windows.
const (
	contextWork = 200 // number of operations to show before and after a place
	leastWork   = 64  // smallest number of operations of a window that shows only a part of a place
	stepShare   = 0.4 // maximum share of one step in the operations for focus windows
	placesOf    = 5   // number of gaps, phases and operations, each
)

// places returns the places of a device, the most important first.
func (d *device) places() (out []place) {
	s := d.Summary
	stretch := func(start, ns int64) interval.Span {
		return interval.Span{Start: start, End: summary.Plus(start, ns)}
	}
	if median, slowest := d.steps(); median != nil {
		out = append(out, place{stretch(median.StartNS, median.WallNS), summary.FocusMedianStep, false},
			place{stretch(slowest.StartNS, slowest.WallNS), summary.FocusSlowestStep, false})
	}
	for _, g := range s.Devices[d.number].LargestGaps {
		out = append(out, place{stretch(g.StartNS, g.NS), summary.FocusGap, true})
	}
	for _, w := range s.Syncs {
		if w.Device == d.d.Ordinal && w.MaxNS > 0 {
			out = append(out, place{stretch(w.MaxStartNS, w.MaxNS), summary.FocusWait, true})
		}
	}
	var phases []place
	for _, p := range s.Phases {
		if p.Device == d.d.Ordinal && p.MaxNS > 0 {
			phases = append(phases, place{stretch(p.MaxStartNS, p.MaxNS), summary.FocusPhase, true})
		}
	}
	slices.SortStableFunc(phases, func(a, b place) int { return cmp.Compare(b.Len(), a.Len()) })
	return append(out, phases[:min(placesOf, len(phases))]...)
}

// steps returns the step of median length and the longest step, or nil. Of an even number of
// steps, the median is the shorter of the middle two.
func (d *device) steps() (median, slowest *summary.Step) {
	var all []*summary.Step
	for i := range d.Summary.Steps {
		if st := &d.Summary.Steps[i]; st.Device == d.d.Ordinal {
			all = append(all, st)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(all, func(a, b *summary.Step) int { return cmp.Compare(a.WallNS, b.WallNS) })
	median, _ = stat.Middle(all)
	return median, all[len(all)-1]
}

// focus keeps all operations of the places of a device, as far as the budget allows, and returns
// the windows without omissions, by start.
func (k *selection) focus(d *device) (out []summary.DetailFocus) {
	most := int(float64(k.forFocus) * stepShare)
	for _, p := range d.places() {
		left := k.forFocus
		if !p.around {
			left = min(left, most)
		}
		w := k.window(p, d.d.Window, left)
		if w.Empty() || slices.ContainsFunc(out, func(f summary.DetailFocus) bool {
			return f.AtNS <= d.at(w.Start) && d.at(w.End) <= f.AtNS+f.NS
		}) {
			continue
		}
		before := k.left
		k.within(w)
		k.forFocus -= before - k.left
		out = append(out, summary.DetailFocus{AtNS: d.at(w.Start), NS: w.Len(), Why: p.why})
	}
	slices.SortStableFunc(out, func(a, b summary.DetailFocus) int {
		return cmp.Or(cmp.Compare(a.AtNS, b.AtNS), cmp.Compare(a.NS, b.NS))
	})
	return out
}

// window returns a window around a place with at most left operations that are not kept yet. If
// the place itself has more, the window is a part of it, or empty if that part would be small.
func (k *selection) window(p place, all interval.Span, left int) interval.Span {
	w := p.Span.And(all)
	if w.Empty() {
		return w
	}
	if p.around {
		if i := k.from(w.Start) - contextWork; i >= 0 {
			w.Start = min(w.Start, k.work[i].Start)
		} else {
			w.Start = all.Start
		}
		if i := k.to(w.End) + contextWork; i < len(k.work) {
			w.End = max(w.End, k.work[i].Start)
		} else {
			w.End = all.End
		}
	}
	n := 0
	for i := range k.in(w) {
		if k.kept[i] {
			continue
		}
		if n++; n <= left {
			continue
		}
		if n <= leastWork {
			return interval.Span{}
		}
		w.End = k.work[i].Start
		break
	}
	return w
}

// within keeps all operations of a window.
func (k *selection) within(w interval.Span) {
	for i := range k.in(w) {
		k.keep(i)
	}
}

// in returns the indices of the operations that overlap a window or start in it.
func (k *selection) in(w interval.Span) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := min(k.from(w.Start), k.to(w.Start)); i < len(k.work) && k.work[i].Start < w.End; i++ {
			if (k.work[i].End() > w.Start || k.work[i].Start >= w.Start) && !yield(i) {
				return
			}
		}
	}
}

// from returns the index of the first operation that ends after a time.
func (k *selection) from(t int64) int {
	return sort.Search(len(k.ended), func(i int) bool { return k.ended[i] > t })
}

// to returns the index of the first operation that starts at a time or later.
func (k *selection) to(t int64) int {
	return sort.Search(len(k.work), func(i int) bool { return k.work[i].Start >= t })
}
